package cluster

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// mesh is a cluster of routers and owners over links with faults, on a
// bubble's virtual time.
type mesh struct {
	t     *testing.T
	nodes map[string]*meshNode
	trip  func() time.Duration // one way
	loses func() bool          // a message
}

// meshNode is a node of a mesh. It counts what its owner has charged for
// others and for itself.
type meshNode struct {
	*fixture
	table   *limiter.Table
	dead    atomic.Bool
	charged atomic.Int64 // takes and confirmations from other nodes
}

var errLost = errors.New("lost")

func newMesh(t *testing.T, ids ...string) *mesh {
	t.Helper()
	m := &mesh{
		t:     t,
		nodes: map[string]*meshNode{},
		trip:  func() time.Duration { return time.Duration(200+rand.IntN(1800)) * time.Microsecond },
		loses: func() bool { return false },
	}
	for _, self := range ids {
		n := &meshNode{fixture: &fixture{t: t, observed: map[Forwarded]int{}}, table: limiter.NewTable(limiter.TableOptions{})}
		peers := map[string]Peer{}
		for _, id := range ids {
			if id != self {
				peers[id] = &link{m, id}
			}
		}
		n.view = testView(t, peers, ids...)
		n.view.Self = self
		view := func() *View { return n.view }
		n.owner = NewOwner(n.table, NewClock(), view, nil)
		n.router = NewRouter(RouterOptions{View: view, Owner: n.owner, Deadline: 50 * time.Millisecond})
		m.nodes[self] = n
	}
	return m
}

// remaining is what the owner of the call's subject has left for it.
func (m *mesh) remaining(call *limiter.Call) int64 {
	m.t.Helper()
	for _, n := range m.nodes {
		if n.view.owns(call.Subject) {
			look := *call
			look.Op = limiter.Peek
			results := make([]limiter.Result, len(call.Charges))
			if _, err := n.owner.Do(&look, results); err != nil {
				m.t.Fatal(err)
			}
			return results[0].Remaining
		}
	}
	m.t.Fatal("nobody owns the subject")
	return 0
}

// link is a Peer over a mesh.
type link struct {
	mesh *mesh
	to   string
}

func (l *link) Reachable() bool { return !l.mesh.nodes[l.to].dead.Load() }
func (l *link) Close()          {}

// Do sends a copy of the call, which the other node decides unless it is late
// by then, as the transport does.
func (l *link) Do(ctx context.Context, deadline time.Time, call *limiter.Call, results []limiter.Result) error {
	sent := *call
	answer := make([]limiter.Result, len(results))
	done := make(chan error, 1)
	go func() {
		to := l.mesh.nodes[l.to]
		time.Sleep(l.mesh.trip())
		if l.mesh.loses() || to.dead.Load() || !time.Now().Before(deadline) {
			return
		}
		_, err := to.owner.Do(&sent, answer)
		if err == nil && answer[0].Allowed && (sent.Op == limiter.Take || sent.Op == limiter.Confirm) {
			to.charged.Add(1)
		}
		time.Sleep(l.mesh.trip())
		if !l.mesh.loses() {
			done <- err
		}
	}()
	late := time.NewTimer(time.Until(deadline))
	defer late.Stop()
	select {
	case err := <-done:
		if err == nil {
			copy(results, answer)
		}
		return err
	case <-late.C:
		return errLost
	case <-ctx.Done():
		return ctx.Err()
	}
}
