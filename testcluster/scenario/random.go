package scenario

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// randomTime is how much virtual time a random scenario lasts, less what its
// steps take themselves.
const randomTime = 60 * time.Second

// Random returns the text of a scenario that follows from seed: a minute of
// checks through some nodes, while nodes come, go, crash and stop, and the
// network fails and heals. It expects nothing of its own; the invariants do.
func Random(seed uint64) string {
	g := &generator{
		random: rand.New(rand.NewPCG(seed, 0)), //nolint:gosec // to be repeated, not to be secret
		left:   randomTime,
	}
	g.say("# random scenario %d", seed)
	g.say("seed %d", seed)
	g.policies()
	g.beginning()
	for g.left > 0 {
		g.act()
	}
	g.mend()
	g.say("await agree within=10s")
	g.say("await load")
	return strings.Join(g.lines, "\n") + "\n"
}

// generator writes a scenario, and keeps account of what it has done, so that
// every step makes sense.
type generator struct {
	random *rand.Rand
	lines  []string
	left   time.Duration
	names  []string // of the policies
	// The nodes by what was done to them. Clients only come, and are killed.
	running, paused, killed []string
	owners, clients         int // started so far
	// What was done to the network.
	cut, late, lossy, twice bool
	slow                    string
}

func (g *generator) say(format string, args ...any) {
	g.lines = append(g.lines, fmt.Sprintf(format, args...))
}

// between draws a number from low to high.
func (g *generator) between(low, high int) int { return low + g.random.IntN(high-low+1) }

func (g *generator) one(of []string) string { return of[g.random.IntN(len(of))] }

// chance is true in percent of a hundred cases.
func (g *generator) chance(percent int) bool { return g.random.IntN(100) < percent }

// pass lets up to most seconds go by, at least 0.1.
func (g *generator) pass(most int) {
	d := time.Duration(g.between(1, most*10)) * 100 * time.Millisecond
	g.say("advance %v", d)
	g.left -= d
}

// policies declares one policy of each algorithm, and one with two limits.
func (g *generator) policies() {
	n := func(low, high int) int { return g.between(low, high) }
	for _, p := range []string{
		fmt.Sprintf("bucket token_bucket %d/s burst=%d", n(1, 20), n(1, 60)),
		fmt.Sprintf("queue leaky_bucket %d/s burst=%d", n(1, 20), n(0, 20)),
		fmt.Sprintf("window fixed_window %d/%ds", n(1, 60), n(1, 10)),
		fmt.Sprintf("first fixed_window %d/%ds align=first", n(1, 60), n(1, 10)),
		fmt.Sprintf("sliding sliding_window %d/%ds", n(1, 60), n(1, 10)),
		fmt.Sprintf("log sliding_log %d/%ds", n(1, 60), n(1, 10)),
	} {
		name, _, _ := strings.Cut(p, " ")
		g.names = append(g.names, name)
		g.say("policy %s on_unreachable=%s", p, g.one([]string{"local", "local", "allow", "deny"}))
	}
	g.names = append(g.names, "pair")
	g.say("policy pair token_bucket %d/s name=narrow", n(1, 5))
	g.say("policy pair fixed_window %d/%ds name=wide", n(20, 100), n(5, 20))
}

// beginning starts the nodes and the loads.
func (g *generator) beginning() {
	g.owners = g.between(3, 5)
	if g.chance(25) {
		g.clients = g.between(1, 3)
	}
	g.say("nodes %d clients=%d", g.owners, g.clients)
	for i := range g.owners {
		g.running = append(g.running, fmt.Sprint("n", i+1))
	}
	for i := range g.clients {
		g.running = append(g.running, fmt.Sprint("c", i+1))
	}
	for i, name := range g.names {
		g.say("load u%d policy=%s rate=%d/s for=%v keys=%d via=all", i, name, g.between(3, 20), randomTime, g.between(1, 4))
	}
}
