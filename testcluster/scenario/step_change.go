package scenario

import (
	"fmt"
	"slices"
)

// change is what a scenario does to one node that runs or has run.
type change struct {
	name string
	from []memberState // in which it can be done
	do   func(*run, *member)
}

func parseStop(w *words) step {
	return &change{w.node("the node"), []memberState{running}, (*run).stop}
}

func parseKill(w *words) step {
	return &change{w.node("the node"), []memberState{running, paused}, (*run).kill}
}

func parseRestart(w *words) step {
	return &change{w.node("the node"), []memberState{killed, stopped}, (*run).restart}
}

func parsePause(w *words) step {
	return &change{w.node("the node"), []memberState{running}, (*run).pause}
}

func parseResume(w *words) step {
	return &change{w.node("the node"), []memberState{paused}, (*run).resume}
}

var stateNames = map[memberState]string{running: "runs", paused: "is paused", killed: "was killed", stopped: "has left"}

func (c *change) run(r *run) (answer, error) {
	r.mu.Lock()
	m := r.members[c.name]
	r.mu.Unlock()
	if m == nil {
		return nil, fmt.Errorf("there is no node %s", c.name)
	}
	if !slices.Contains(c.from, m.state) { // only this goroutine changes it
		return nil, fmt.Errorf("%s %s", m.name, stateNames[m.state])
	}
	c.do(r, m)
	return nil, nil
}

// stop takes a node out gracefully: like a server, it takes no new checks,
// ends those it has, and leaves.
func (r *run) stop(m *member) {
	r.mu.Lock()
	m.state = stopped
	m.unheard = r.health.parted()
	r.health.changing++
	r.health.disturbed(true)
	r.mu.Unlock()
	m.busy.Wait()
	r.nodes.Stop(m.name)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.health.changing--
	r.health.disturbed(true)
}

func (r *run) kill(m *member) {
	r.mu.Lock()
	m.state = killed
	m.restless++
	r.health.disturbed(false)
	r.mu.Unlock()
	r.nodes.Kill(m.name)
}

func (r *run) restart(m *member) {
	r.mu.Lock()
	r.begins(m, false)
	r.mu.Unlock()
	r.began(m, r.nodes.Restart(m.name))
}

func (r *run) pause(m *member) {
	r.mu.Lock()
	m.state = paused
	m.restless++
	r.health.disturbed(false)
	r.mu.Unlock()
	r.nodes.Pause(m.name)
}

func (r *run) resume(m *member) {
	r.nodes.Resume(m.name)
	r.mu.Lock()
	defer r.mu.Unlock()
	m.state = running
	m.restless++
	r.health.disturbed(false)
}
