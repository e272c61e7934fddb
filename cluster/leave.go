package cluster

import (
	"context"
	"sync"
	"time"
)

// The parts of leaving, each bounded.
const (
	leaveStep      = time.Second
	gossipFarewell = time.Second
)

// Drain gives this node's partitions to the others. The node is not ready any
// more, owns nothing, and still reaches the others. Drain returns when those
// that can be reached know, or with ctx's error. It is idempotent.
func (m *Membership) Drain(ctx context.Context) error {
	if !m.retire(StateLeaving) {
		return nil
	}
	m.tell(ctx)
	return ctx.Err()
}

// Leave drains, says farewell and ends the membership. It returns when the others that can be reached know; when
// ctx ends, it stops waiting for them and ends the membership all the same.
// The error is then ctx's. Leave is idempotent.
func (m *Membership) Leave(ctx context.Context) error {
	m.leaveOnce.Do(func() {
		_ = m.Drain(ctx) // ctx's error is looked at below
		if m.retire(StateLeft) {
			m.tell(ctx)
		}
		m.farewell(ctx)
		m.leaveErr = ctx.Err()
		m.Close()
	})
	return m.leaveErr
}

// retire moves this node on to a state in which it owns nothing, and reports
// whether it had a place to give up.
func (m *Membership) retire(to State) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.progress.ready = false
	if m.progress.failed || m.self.State >= to {
		return false
	}
	m.self.State = to // from which a node that is still joining does not take its place any more
	if m.progress.activated.IsZero() {
		signal(m.announcing)
		return false
	}
	if m.self.Role == RoleClient {
		return true
	}
	if err := m.apply([]placed{{id: m.self.ID, entry: entry{m.self.Incarnation, to}}}); err != nil {
		m.log.Error("cannot give up this node's place", "error", err)
	}
	return true
}

// tell brings this node's state to the others: the owners directly, everybody
// by gossip.
func (m *Membership) tell(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, leaveStep)
	defer cancel()
	told := make(chan struct{})
	started := m.start(func() {
		defer close(told)
		var telling sync.WaitGroup
		telling.Go(func() { m.spread(ctx) })
		telling.Go(func() { m.announce(leaveStep) })
		telling.Wait()
	})
	if !started {
		return
	}
	select {
	case <-told:
	case <-ctx.Done():
	}
}

// farewell has gossip say that this node has left, while there is time.
func (m *Membership) farewell(ctx context.Context) {
	patience := gossipFarewell
	if deadline, ok := ctx.Deadline(); ok {
		patience = min(patience, time.Until(deadline))
	}
	m.ending.Lock()
	defer m.ending.Unlock()
	if m.ended || patience <= 0 || ctx.Err() != nil {
		return
	}
	if err := m.gossip.Leave(patience); err != nil {
		m.log.Debug("the farewell takes long", "error", err)
	}
}

// Close ends the membership without a word, as a crash would: the others
// keep this node's place for it. It is idempotent, and safe after Leave.
func (m *Membership) Close() {
	m.cancel()
	m.ending.Lock()
	m.ended = true
	m.ending.Unlock()
	if err := m.gossip.Shutdown(); err != nil {
		m.log.Warn("cannot shut gossip down", "error", err)
	}
	m.running.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rivalry.endProbe()
	m.sessions.closeAll()
}
