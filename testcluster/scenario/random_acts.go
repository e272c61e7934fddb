package scenario

import (
	"fmt"
	"strings"
)

// act does something, and lets time go by.
func (g *generator) act() {
	acts := []func() bool{
		g.burst, g.burst, g.reset, g.look, g.batch,
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
	g.say("reset u%d0 policy=%s via=%s", i, g.names[i], g.one(g.running))
	return true
}

// look asks without charging, some times in a row.
func (g *generator) look() bool {
	i := g.random.IntN(len(g.names))
	for range g.between(1, 5) {
		g.say("peek u%d0 policy=%s via=%s", i, g.names[i], g.one(g.running))
	}
	g.say("same u%d0 policy=%s", i, g.names[i])
	return true
}

// batch asks for keys that nothing else does: the invariants do not follow it.
func (g *generator) batch() bool {
	i := g.random.IntN(len(g.names))
	g.say("batch b%d policy=%s keys=%d via=%s", i, g.names[i], g.between(1, 40), g.one(g.running))
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
