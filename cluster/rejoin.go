package cluster

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// The pace at which a node looks for members that it should know.
const (
	// aloneInterval is for a node that has seeds and knows nobody.
	aloneInterval = time.Second
	// rejoinInterval and rejoinJitter space the rounds otherwise: with
	// streamTimeout, a cut heals within 10 s of the network.
	rejoinInterval = 5 * time.Second
	rejoinJitter   = 2 * time.Second
	// mixInterval and mixJitter space the exchanges with a random member,
	// which reconnect halves that both believe to be whole.
	mixInterval = 30 * time.Second
	mixJitter   = 30 * time.Second
	// maxTargets bounds the streams of one round.
	maxTargets = 16
	// News of the placement goes on to newsTargets owners, after a pause that
	// gathers what comes at the same time. If each that hears it passes it on
	// to that many at random, all but one in e^newsTargets hear it; those
	// left out learn it from the next push/pull or call.
	newsPause   = 100 * time.Millisecond
	newsTargets = 8
)

// target is a gossip address to exchange states with.
type target struct {
	addr string
	// seed is the entry of Join that the address stands for, if any.
	seed string
}

// rejoin looks for members until ctx ends. memberlist does not do so itself:
// after a cut of more than half a minute, both sides have forgotten each other.
func (m *Membership) rejoin(ctx context.Context) {
	nextMix := time.Now().Add(mixInterval + jitter(mixJitter))
	for ctx.Err() == nil {
		began := time.Now()
		targets := append(m.seeds.addresses(ctx), m.lostTargets()...)
		if began.After(nextMix) {
			nextMix = began.Add(mixInterval + jitter(mixJitter))
			targets = append(targets, sample(m.liveTargets(), 1)...)
		}
		m.exchange(ctx, sample(targets, maxTargets))
		m.pauseRejoin(ctx, began)
	}
}

// pauseRejoin waits until the next round is due, or ctx ends.
func (m *Membership) pauseRejoin(ctx context.Context, began time.Time) {
	select {
	case <-time.After(m.rejoinPause()):
	case <-m.table.losses:
		// Who has gone may be back at another address of a seed's name. Look
		// now, but not for each of many that go together.
		select {
		case <-time.After(time.Until(began.Add(aloneInterval))):
		case <-ctx.Done():
		}
	case <-ctx.Done():
	}
}

func (m *Membership) rejoinPause() time.Duration {
	if len(m.seeds.list) > 0 && len(m.table.boots()) == 0 {
		return aloneInterval
	}
	return rejoinInterval + jitter(rejoinJitter)
}

// passOn tells other owners of a placement that was news to this one, until
// ctx ends. Gossip spreads only what live members say of themselves, and so
// not that one has left which they have not known.
func (m *Membership) passOn(ctx context.Context) {
	for {
		select {
		case <-m.news:
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(newsPause):
			m.exchange(ctx, sample(m.liveTargets(), newsTargets))
		case <-ctx.Done():
			return
		}
	}
}

// lostTargets are the members that the placement counts on and gossip has
// declared dead.
func (m *Membership) lostTargets() []target {
	var targets []target
	for _, b := range m.table.lostBoots() {
		targets = append(targets, target{addr: b.gossip})
	}
	return targets
}

// liveTargets are the owners that gossip knows.
func (m *Membership) liveTargets() []target {
	var targets []target
	for _, b := range m.table.boots() {
		if b.Role == RoleOwner {
			targets = append(targets, target{addr: b.gossip})
		}
	}
	return targets
}

// exchange swaps states with every target at once and waits for them.
func (m *Membership) exchange(ctx context.Context, targets []target) {
	var wg sync.WaitGroup
	for _, t := range targets {
		wg.Go(func() { m.exchangeWith(ctx, t) })
	}
	wg.Wait()
}

// exchangeWith swaps states with one target. That it succeeds is no proof of
// membership: only the gossip table is.
func (m *Membership) exchangeWith(ctx context.Context, t target) {
	if ctx.Err() != nil {
		return
	}
	_, err := m.gossip.Join([]string{t.addr})
	switch {
	case t.seed == "" || ctx.Err() != nil:
	case err == nil:
		m.seeds.note(t.seed, "")
	default:
		fault := explainJoin(err)
		m.seeds.note(t.seed, fault)
		if m.refused.first(t.seed + fault) {
			m.log.Warn("cannot join a seed yet", "seed", t.seed, "reason", fault)
		}
	}
}

// sample returns at most n of targets, in random order.
func sample(targets []target, n int) []target {
	rand.Shuffle(len(targets), func(i, j int) { //nolint:gosec // spreads load over members, protects nothing
		targets[i], targets[j] = targets[j], targets[i]
	})
	return targets[:min(n, len(targets))]
}

// jitter is a random duration below limit.
func jitter(limit time.Duration) time.Duration {
	return rand.N(limit) //nolint:gosec // spreads load in time, protects nothing
}
