package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// MaxOverrides is how many overrides can be in force. What two sides of a cut
// have set can be more together.
const MaxOverrides = 10_000

// Errors of an override that is not set.
var (
	// ErrOverridesFull means that as many are in force as there can be.
	ErrOverridesFull = fmt.Errorf("%d overrides that were set at run time are in force, and there can be no more: remove some, let them expire, or move lasting ones to the configuration", MaxOverrides)
	// ErrOverridesClosed means that they are closed.
	ErrOverridesClosed = errors.New("the overrides are closed")
	errOverrideLong    = fmt.Errorf("an override takes at most %d bytes", MaxOverrideBytes)
)

// Override is one that is in force.
type Override struct {
	// Subject is whom it is for.
	Subject limiter.Subject
	// Value is what was set; only read.
	Value []byte
	// Node is where it was set.
	Node string
	// Expires is when it ends; zero: at no time.
	Expires time.Time
	// Counter tells what was set for one subject on one node apart.
	Counter uint64
}

// Over reports whether o was said after other, by the order of all that is
// said.
func (o *Override) Over(other *Override) bool {
	return overrideVersion{o.Counter, o.Node}.over(overrideVersion{other.Counter, other.Node})
}

// Left is how long o stays in force, at least 1 ns; 0: for good.
func (o *Override) Left() time.Duration {
	if o.Expires.IsZero() {
		return 0
	}
	return max(time.Until(o.Expires), 1)
}

// OverrideStore keeps overrides on disk.
type OverrideStore interface {
	// Put has made records durable when it returns nil: all of them, or none. A
	// nil value takes a record away.
	Put(records map[string][]byte) error
}

// OverridesOptions configure [Overrides].
type OverridesOptions struct {
	// Node is this node's id. Required.
	Node string
	// Store keeps the overrides over a restart. Nil: the other nodes do.
	Store OverrideStore
	// Saved is what Store has been given before.
	Saved map[string][]byte
	// Changed is called with those for whom something else is in force now, or
	// nothing, and before the change is acknowledged to anybody. Calls may
	// overtake each other: Get says what holds. Nil: nobody needs to know.
	Changed func(subjects []limiter.Subject)
	// Logger hears of what cannot be read or written. Nil: nobody does.
	Logger *slog.Logger
}

// Overrides are the overrides that were set at run time: a map from subjects
// to values that every node holds whole, and that becomes equal everywhere by
// telling the others every change. The last word wins. See DESIGN.md.
//
// It is safe for concurrent use.
type Overrides struct {
	o       OverridesOptions
	head    atomic.Uint64 // number of the newest change
	count   atomic.Int64  // in force
	closing chan struct{}
	running sync.WaitGroup

	// saving is held while something is written to the store, and taken
	// before mu: what is on disk never becomes older.
	saving sync.Mutex

	mu      sync.Mutex
	over    bool
	records map[limiter.Subject]*overrideRecord
	changes changeLog
	ended   int    // records that have
	counter uint64 // the highest that was heard of
	floor   uint64 // the highest of a record that ended and is forgotten
	// unsaved are those whose record in the store is not the newest.
	unsaved map[limiter.Subject]struct{}
	// next is when something expires or may be forgotten; zero: nothing does.
	next time.Time

	dirty  chan struct{} // has room for one signal: there is something to save
	sooner chan struct{} // has room for one signal: next has come closer
}

// NewOverrides takes up what was saved.
func NewOverrides(o OverridesOptions) *Overrides {
	if o.Changed == nil {
		o.Changed = func([]limiter.Subject) {}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	m := &Overrides{
		o:       o,
		closing: make(chan struct{}),
		records: make(map[limiter.Subject]*overrideRecord),
		unsaved: make(map[limiter.Subject]struct{}),
		dirty:   make(chan struct{}, 1),
		sooner:  make(chan struct{}, 1),
	}
	m.load()
	return m
}

// Start begins what goes on in the background: what has expired ends, and what
// others say is saved. The caller ends it with Close.
func (m *Overrides) Start() {
	m.running.Go(m.expire)
	if m.o.Store != nil {
		m.running.Go(m.save)
	}
}

// Close ends what goes on in the background. Until ctx ends, it saves what was
// heard from others last. It is not idempotent.
func (m *Overrides) Close(ctx context.Context) error {
	close(m.closing)
	m.running.Wait()
	m.mu.Lock()
	m.over = true
	m.mu.Unlock()
	for ctx.Err() == nil && m.o.Store != nil {
		if more, err := m.flush(); !more || err != nil {
			return err
		}
	}
	return nil
}

// Set puts value in force for subject on this node, and ends what is in force
// for others that it takes the place of. It is durable when Set returns. The
// other nodes follow when they are next told something. expiresIn 0: until it
// is removed.
//
// ErrOverridesFull, or the store's error: nothing has changed.
func (m *Overrides) Set(subject limiter.Subject, value []byte, expiresIn time.Duration, instead ...limiter.Subject) (Override, error) {
	if len(value) > MaxOverrideBytes {
		return Override{}, errOverrideLong
	}
	m.saving.Lock()
	defer m.saving.Unlock()
	said := []saidOverride{{subject: subject, value: slices.Clone(value), left: min(expiresIn, maxOverrideTime)}}
	said = append(said, m.endings(instead)...)
	now := time.Now()
	if err := m.say(said, now); err != nil {
		return Override{}, err
	}
	r := said[0].heard(now)
	return r.override(subject), nil
}

// Remove ends what is in force for the subjects, and reports whether anything
// was. It is durable when Remove returns. With an error nothing has changed.
func (m *Overrides) Remove(subjects ...limiter.Subject) (bool, error) {
	m.saving.Lock()
	defer m.saving.Unlock()
	said := m.endings(subjects)
	if len(said) == 0 {
		return false, nil
	}
	if err := m.say(said, time.Now()); err != nil {
		return false, err
	}
	return true, nil
}

// endings are the words that end those of the subjects that are in force.
func (m *Overrides) endings(subjects []limiter.Subject) (said []saidOverride) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range subjects {
		if r := m.records[s]; r != nil && r.inForce() {
			said = append(said, saidOverride{subject: s, ended: true})
		}
	}
	return said
}

// say makes this node's word durable, and then valid. The caller holds saving.
func (m *Overrides) say(said []saidOverride, now time.Time) error {
	if err := m.stamp(said, now); err != nil {
		return err
	}
	if m.o.Store != nil {
		records := make(map[string][]byte, len(said))
		for i := range said {
			records[storeKey(said[i].subject)] = storeValue(&said[i], now)
		}
		if err := m.o.Store.Put(records); err != nil {
			return err
		}
	}
	m.mu.Lock()
	changed := m.hear(said, now)
	for i := range said {
		if r := m.records[said[i].subject]; r.overrideVersion == said[i].overrideVersion {
			delete(m.unsaved, said[i].subject)
		}
	}
	m.mu.Unlock()
	m.tell(changed)
	return nil
}

// stamp gives said a version above all that this node has heard of. The wall
// clock keeps a node that has forgotten, or has not heard, from saying
// something that is older than what it replaces.
func (m *Overrides) stamp(said []saidOverride, now time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.over {
		return ErrOverridesClosed
	}
	for i := range said {
		r := m.records[said[i].subject]
		if !said[i].ended && (r == nil || !r.inForce()) && m.count.Load() >= MaxOverrides {
			return ErrOverridesFull
		}
	}
	m.counter = max(m.counter+1, uint64(max(0, now.UnixMilli())))
	for i := range said {
		said[i].overrideVersion = overrideVersion{m.counter, m.o.Node}
	}
	return nil
}

// tell calls Changed. The caller does not hold mu.
func (m *Overrides) tell(changed []limiter.Subject) {
	if len(changed) > 0 {
		m.o.Changed(changed)
	}
}

// Get returns what is in force for subject.
func (m *Overrides) Get(subject limiter.Subject) (Override, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.records[subject]
	if r == nil || !r.inForce() {
		return Override{}, false
	}
	return r.override(subject), true
}

// All returns what is in force, by subject.
func (m *Overrides) All() []Override {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := make([]Override, 0, m.count.Load())
	for subject, r := range m.records {
		if r.inForce() {
			all = append(all, r.override(subject))
		}
	}
	slices.SortFunc(all, func(a, b Override) int {
		return cmp.Or(cmp.Compare(a.Subject.Hi, b.Subject.Hi), cmp.Compare(a.Subject.Lo, b.Subject.Lo))
	})
	return all
}

// Len is the number of overrides in force.
func (m *Overrides) Len() int { return int(m.count.Load()) }

func (r *overrideRecord) override(subject limiter.Subject) Override {
	return Override{Subject: subject, Value: r.value, Node: r.node, Expires: r.expires, Counter: r.counter}
}
