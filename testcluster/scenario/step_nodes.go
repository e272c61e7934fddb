package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/cluster"
	"github.com/murmurate/murmurate/policy"
	"github.com/murmurate/murmurate/testcluster"
)

// startNodes starts n1 to nN, and the clients c1 and on, and waits until they
// are a cluster.
type startNodes struct {
	owners, clients int
	label           string
}

func parseNodes(w *words) step {
	text := w.argument("how many")
	s := &startNodes{label: w.option("label", ""), clients: w.number("clients", 0, 0)}
	if !numberForm.MatchString(text) {
		w.refuse("the number of nodes must be 1 to 999, got %q", text)
	}
	fmt.Sscan(text, &s.owners)
	return s
}

func (s *startNodes) run(r *run) (answer, error) {
	for i := range s.owners {
		o := testcluster.NodeOptions{Label: s.label}
		if err := r.start(fmt.Sprint("n", i+1), o); err != nil {
			return nil, err
		}
	}
	for i := range s.clients {
		o := testcluster.NodeOptions{Label: s.label, Role: cluster.RoleClient}
		if err := r.start(fmt.Sprint("c", i+1), o); err != nil {
			return nil, err
		}
	}
	return nil, r.await(r.o.Within, "the nodes are a cluster, ready and healthy", r.healthy)
}

// startNode starts one node.
type startNode struct {
	name    string
	options testcluster.NodeOptions
}

func parseStart(w *words) step {
	s := &startNode{name: w.node("the node")}
	role := w.option("role", string(cluster.RoleOwner))
	if s.options.Role = cluster.Role(role); s.options.Role != cluster.RoleOwner && s.options.Role != cluster.RoleClient {
		w.refuse("role must be owner or client, got %q", role)
	}
	s.options.Label = w.option("label", "")
	if text := w.option("join", ""); text != "" {
		s.options.Join = w.nodeList(text)
	}
	return s
}

func (s *startNode) run(r *run) (answer, error) { return nil, r.start(s.name, s.options) }

// start starts a node that is new, or whose last run has ended. It joins the
// others of its cluster unless the options name some.
func (r *run) start(name string, o testcluster.NodeOptions) error {
	r.mu.Lock()
	if r.nodes == nil {
		if err := r.found(); err != nil {
			r.mu.Unlock()
			return err
		}
	}
	m := r.members[name]
	switch {
	case m == nil:
		m = &member{name: name, state: stopped}
		r.members[name] = m
	case m.state == running || m.state == paused:
		r.mu.Unlock()
		return fmt.Errorf("%s runs already", name)
	}
	o.Label = cmp.Or(o.Label, murmurate.DefaultLabel)
	// Its last run keeps its place in the cluster that it was in, for good.
	ghost := m.state == killed && m.options.Label != o.Label
	m.options = o
	r.begins(m, ghost)
	r.mu.Unlock()
	r.began(m, r.nodes.Start(name, o))
	return nil
}

// found makes the cluster, empty.
func (r *run) found() error {
	if len(r.policies) == 0 {
		r.policies = []policy.Policy{policy.Default()}
	}
	if _, err := policy.NewSet(r.policies...); err != nil {
		return err
	}
	r.cluster.Policies = r.policies
	r.cluster.Observer = func(node string) murmurate.Observer {
		r.mu.Lock()
		defer r.mu.Unlock()
		return &r.members[node].heard
	}
	r.nodes = testcluster.New(r.t, r.cluster)
	r.health.began = time.Now()
	return nil
}

// begins notes that m is about to start. The caller holds mu.
func (r *run) begins(m *member, ghost bool) {
	m.unheard = ghost
	r.health.changing++
	r.health.disturbed(true)
}

// began notes that m has started, as node.
func (r *run) began(m *member, node *testcluster.Node) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.names, m.name) {
		r.names = append(r.names, m.name)
	}
	m.node, m.state = node, running
	r.health.changing--
	r.health.disturbed(true)
}

func (r *run) healthy() bool {
	r.look()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.health.healthy
}

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
