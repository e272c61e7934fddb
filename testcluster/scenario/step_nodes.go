package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
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
	owners, err := strconv.Atoi(text)
	if err != nil || !numberForm.MatchString(text) {
		w.refuse("the number of nodes must be 1 to 999, got %q", text)
	}
	return &startNodes{owners: owners, label: w.option("label", ""), clients: w.number("clients", 0, 0)}
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
	return nil, r.await(agreeWithin, agreePoll, "the nodes are a cluster, ready and healthy", r.healthy)
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
