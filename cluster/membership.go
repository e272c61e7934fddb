package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/memberlist"

	"github.com/murmurate/murmurate/ring"
)

// Membership knows who is in the cluster and keeps this node in it. It is
// safe for concurrent use.
type Membership struct {
	o         MembershipOptions
	log       *slog.Logger
	addresses addresses
	table     *gossipTable
	seeds     *seeds
	refused   throttle
	gossip    *memberlist.Memberlist
	failed    chan error
	// ownersKnown is closed, once, by noteOwners.
	ownersKnown chan struct{}
	ownersOnce  sync.Once

	// cancel ends the goroutines that running counts.
	cancel  context.CancelFunc
	running sync.WaitGroup
	// ending guards ended, after which nothing may be started and memberlist
	// may not leave: it panics.
	ending turn
	ended  bool
	// announcing has room for one signal: this node's meta has changed.
	announcing chan struct{}
	// news has room for one signal: others have told of a new placement.
	news chan struct{}
	// saving has room for one signal: the placement has changed.
	saving chan struct{}
	// announceMu keeps one update of the meta from overtaking another.
	announceMu turn
	leaveOnce  sync.Once
	leaveErr   error

	view atomic.Pointer[View]
	// rings are those that do not depend on the placement.
	rings struct{ empty, lone *ring.Ring }

	// mu guards what follows. memberlist is never called while it is held.
	mu        sync.Mutex
	self      Member
	placement placement
	ring      *ring.Ring
	sessions  sessions
	progress  progress
	rivalry   rivalry
	absences  absences
	// searches are those under way, by gossip address.
	searches map[string]search
	// built is what the current View was made of.
	built viewParts
}

// viewParts are what a View is made of: it is made anew when they change.
type viewParts struct {
	ring     *ring.Ring
	sessions int
	clients  int
}

// StartMembership listens for gossip, and joins the cluster in the
// background. A node without anybody to join is a cluster of one at once;
// a node whose seeds are out of reach becomes one after a moment, and joins
// later by itself.
//
// The error says which setting is at fault; a port that cannot be bound
// wraps a *net.OpError. What goes wrong later is reported by
// [Membership.Failed]. ctx bounds the start only: the caller ends the
// membership with Leave or Close.
func StartMembership(ctx context.Context, o MembershipOptions) (*Membership, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	a, err := checkAddresses(&o)
	if err != nil {
		return nil, err
	}
	if o.Incarnation == 0 {
		o.Incarnation = uint64(time.Now().UnixNano())
	}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	transport := o.Transport
	if transport == nil {
		if transport, a, err = listenGossip(running, &o, a); err != nil {
			cancel()
			return nil, err
		}
	}
	m, err := newMembership(&o, a, cancel)
	if err == nil {
		err = m.startGossip(transport)
	}
	if err != nil {
		cancel()
		return nil, err
	}
	m.remember(o.Placement)
	m.begin()
	m.start(func() { m.run(running) })
	m.start(func() { m.saver(running) })
	m.start(func() { m.announcer(running) })
	m.start(func() { m.rejoin(running) })
	m.start(func() { m.passOn(running) })
	return m, nil
}

// start runs f beside the others, and reports false if the membership has
// ended.
func (m *Membership) start(f func()) bool {
	m.ending.Lock()
	defer m.ending.Unlock()
	if !m.ended {
		m.running.Go(f)
	}
	return !m.ended
}

func newMembership(o *MembershipOptions, a addresses, cancel context.CancelFunc) (*Membership, error) {
	empty, err := ring.Build(nil)
	if err != nil {
		return nil, err
	}
	lone, err := ring.Build([]string{o.ID})
	if err != nil {
		return nil, err
	}
	m := &Membership{
		o:           *o,
		log:         o.Logger,
		addresses:   a,
		cancel:      cancel,
		table:       newGossipTable(bootName(o.ID)),
		seeds:       newSeeds(o, a.advertise),
		failed:      make(chan error, 1),
		ownersKnown: make(chan struct{}),
		ending:      newTurn(),
		announceMu:  newTurn(),
		announcing:  make(chan struct{}, 1),
		news:        make(chan struct{}, 1),
		saving:      make(chan struct{}, 1),
		self: Member{
			ID: o.ID, Incarnation: o.Incarnation, Address: o.PeerAddress,
			Role: o.Role, State: StateJoining, Version: o.Version,
		},
		ring:     empty,
		sessions: sessions{connect: o.Connect, byID: make(map[string]*session)},
		progress: progress{started: time.Now()},
		rivalry:  rivalry{dead: make(map[string]bool)},
		searches: make(map[string]search),
	}
	m.rings.empty, m.rings.lone = empty, lone
	m.mu.Lock()
	defer m.mu.Unlock()
	m.buildView(nil)
	return m, nil
}

// startGossip hands transport to memberlist, or shuts it down on an error.
func (m *Membership) startGossip(transport memberlist.Transport) error {
	config := gossipConfig(&m.o, m.table.self, m.addresses, transport)
	d := delegate{m}
	config.Delegate, config.Alive, config.Merge = d, d, d
	config.Events = m.table
	gossip, err := memberlist.Create(config)
	if err != nil {
		return fmt.Errorf("start gossip on %s: %w", m.addresses.bind, errors.Join(err, transport.Shutdown()))
	}
	m.gossip = gossip
	return nil
}

// View returns the current picture of the cluster, never nil.
func (m *Membership) View() *View { return m.view.Load() }

// Digest is that of the current View: nodes with equal digests agree on who
// owns what.
func (m *Membership) Digest() uint64 { return m.View().Digest }

// GossipAddress is where others reach this node's gossip.
func (m *Membership) GossipAddress() netip.AddrPort { return m.addresses.advertise }

// Failed receives at most one error: the reason why this node cannot stay in
// the cluster ([ErrDuplicate]). It serves nobody's keys any more and is to
// be closed.
func (m *Membership) Failed() <-chan error { return m.failed }

// State is the placement as this node knows it, for [Membership.Merge] on
// another.
func (m *Membership) State() []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	return encodePlacement(m.o.Shared, m.placement.entries(time.Now()))
}

// Merge takes over what another node's State knows better. When it returns,
// the View shows it. The error is an ErrPlacement, or says why no ring can be
// built of what came; nothing has changed then.
func (m *Membership) Merge(state []byte) error {
	entries, err := decodePlacement(m.o.Shared, state)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.ring
	err = m.apply(entries)
	if m.ring != before {
		signal(m.news)
	}
	return err
}

// meta is what this node gossips of itself now.
func (m *Membership) meta() []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	self := meta{protocols: [2]uint8{protocolMin, protocolMax}, shared: m.o.Shared, Member: m.self}
	return self.encode()
}
