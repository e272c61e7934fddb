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
	g.say("await load ->")
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

// act does something, and lets time go by.
func (g *generator) act() {
	acts := []func() bool{
		g.burst, g.burst, g.reset,
		g.cutSome, g.cutSome, g.heal, g.heal,
		g.pause, g.resume, g.kill, g.restart, g.restart,
		g.start, g.stop,
		g.delay, g.lose, g.duplicate, g.slowDown,
		g.calm,
	}
	if acts[g.random.IntN(len(acts))]() {
		g.pass(4)
	}
}

func (g *generator) burst() bool {
	i := g.random.IntN(len(g.names))
	parallel := ""
	if g.chance(50) {
		parallel = " parallel"
	}
	g.say("take u%d0 policy=%s times=%d cost=%d via=all%s", i, g.names[i], g.between(1, 80), g.between(1, 3), parallel)
	return true
}

func (g *generator) reset() bool {
	i := g.random.IntN(len(g.names))
	g.say("reset u%d0 policy=%s", i, g.names[i])
	return true
}

// cutSome parts the nodes into two groups, both ways or one.
func (g *generator) cutSome() bool {
	all := append(append([]string(nil), g.running...), g.paused...)
	if g.cut || len(all) < 2 {
		return false
	}
	g.random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	at := g.between(1, len(all)-1)
	g.say("cut %s%s%s", strings.Join(all[:at], ","), g.one([]string{"|", "|", ">"}), strings.Join(all[at:], ","))
	g.cut = true
	return true
}

func (g *generator) heal() bool {
	if !g.cut {
		return false
	}
	g.say("heal")
	g.cut = false
	return true
}

// spare takes a running node away, an owner if one is asked for, but leaves
// two owners.
func (g *generator) spare(owner bool) (string, bool) {
	var owners, choice []string
	for _, name := range g.running {
		if strings.HasPrefix(name, "n") {
			owners = append(owners, name)
		} else if !owner {
			choice = append(choice, name)
		}
	}
	if len(owners) > 2 {
		choice = append(choice, owners...)
	}
	if len(choice) == 0 {
		return "", false
	}
	name := g.one(choice)
	g.running = without(g.running, name)
	if name == g.slow {
		g.slow = "" // its host goes with it
	}
	return name, true
}

func without(list []string, name string) []string {
	var rest []string
	for _, other := range list {
		if other != name {
			rest = append(rest, other)
		}
	}
	return rest
}

func (g *generator) pause() bool {
	name, ok := g.spare(false)
	if ok {
		g.say("pause %s", name)
		g.paused = append(g.paused, name)
	}
	return ok
}

func (g *generator) resume() bool {
	if len(g.paused) == 0 {
		return false
	}
	name := g.one(g.paused)
	g.say("resume %s", name)
	g.paused, g.running = without(g.paused, name), append(g.running, name)
	return true
}

func (g *generator) kill() bool {
	name, ok := g.spare(false)
	if ok {
		g.say("kill %s", name)
		g.killed = append(g.killed, name)
	}
	return ok
}

func (g *generator) restart() bool {
	if len(g.killed) == 0 {
		return false
	}
	name := g.one(g.killed)
	g.say("restart %s", name)
	g.killed, g.running = without(g.killed, name), append(g.running, name)
	return true
}

func (g *generator) start() bool {
	if g.owners >= 7 {
		return false
	}
	g.owners++
	name := fmt.Sprint("n", g.owners)
	g.say("start %s", name)
	g.running = append(g.running, name)
	return true
}

func (g *generator) stop() bool {
	if (g.cut || g.lossy || len(g.paused) > 0) && g.chance(80) {
		return false // it may go unheard, and then some keys have no owner any more
	}
	name, ok := g.spare(true)
	if ok {
		g.say("stop %s", name)
	}
	return ok
}

func (g *generator) delay() bool {
	if g.late = !g.late; g.late {
		g.say("delay %dms jitter=%dms", g.between(0, 15), g.between(0, 15))
	} else {
		g.say("delay 0ms")
	}
	return true
}

func (g *generator) lose() bool {
	if g.lossy = !g.lossy; g.lossy {
		g.say("loss %d%%", g.between(1, 20))
	} else {
		g.say("loss 0%%")
	}
	return true
}

func (g *generator) duplicate() bool {
	if g.twice = !g.twice; g.twice {
		g.say("duplicate %d%%", g.between(1, 30))
	} else {
		g.say("duplicate 0%%")
	}
	return true
}

func (g *generator) slowDown() bool {
	if g.slow != "" {
		g.say("slow %s 0ms", g.slow)
		g.slow = ""
		return true
	}
	g.slow = g.one(g.running)
	g.say("slow %s %dms", g.slow, g.between(5, 300))
	return true
}

// mend undoes everything.
func (g *generator) mend() {
	g.heal()
	if g.late {
		g.delay()
	}
	if g.lossy {
		g.lose()
	}
	if g.twice {
		g.duplicate()
	}
	if g.slow != "" {
		g.slowDown()
	}
	for g.resume() {
	}
	for g.restart() {
	}
}

// calm undoes everything, waits until the members agree, and lets some time
// go by in which all is well.
func (g *generator) calm() bool {
	g.mend()
	g.say("await agree within=10s")
	g.pass(6)
	return true
}
