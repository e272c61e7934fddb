package scenario

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/murmurate/murmurate/policy"
	"github.com/murmurate/murmurate/testcluster"
)

// RunOptions say how a Scenario is run. The zero value is usable.
type RunOptions struct {
	// Update makes what the scenario says the expectation, instead of
	// comparing. [Scenario.String] then has it. Bounds are compared all the
	// same.
	Update bool
}

// Run plays s on virtual time, in a bubble of its own. It reports on t every
// expectation that is not met, and the first breach of an invariant, which
// ends the run.
func (s *Scenario) Run(t *testing.T, o RunOptions) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &run{
			t:        t,
			o:        o,
			scenario: s,
			cluster:  testcluster.Options{Deadline: defaultDeadline, EvictAfter: defaultEvictAfter},
			keys:     make(map[string]string),
			members:  make(map[string]*member),
		}
		r.health.run = r
		r.invariants = r.newInvariants()
		r.play()
	})
}

// run is one playing of a scenario.
type run struct {
	t        *testing.T
	o        RunOptions
	scenario *Scenario
	at       *line // that is being played

	cluster  testcluster.Options
	policies []policy.Policy
	keys     map[string]string // bound to owners, by their name in the file
	nodes    *testcluster.Cluster

	loads   sync.WaitGroup
	tally   *tally // of the loads since the last await load
	ending  chan struct{}
	watcher sync.WaitGroup

	// mu guards what follows.
	mu         sync.Mutex
	members    map[string]*member
	names      []string // of members, in the order of their first start
	health     health
	invariants []invariant
	breach     error
}

// lookEvery spaces the looks at the cluster while time passes.
const lookEvery = 100 * time.Millisecond

// play runs the steps in order, and looks at the cluster beside them.
func (r *run) play() {
	r.ending = make(chan struct{})
	r.tally = newTally()
	r.watcher.Go(r.watch)
	defer func() {
		close(r.ending)
		r.watcher.Wait()
		r.loads.Wait()
		if r.t.Failed() && r.at != nil {
			r.t.Logf("%s:%d: %s", r.scenario.Name, r.at.number, strings.TrimSpace(r.at.text))
		}
	}()
	for _, l := range r.scenario.lines {
		if l.step == nil {
			continue
		}
		r.at = l
		said, err := l.step.run(r)
		r.look()
		if breach := r.broken(); breach != nil {
			r.t.Errorf("%s:%d: %s\n%v", r.scenario.Name, l.number, l.command, breach)
			return
		}
		if err != nil {
			r.t.Errorf("%s:%d: %s: %v", r.scenario.Name, l.number, l.command, err)
			return
		}
		r.compare(l, said)
	}
	r.at = nil
}

// compare holds what a step said against what the file expects.
func (r *run) compare(l *line, said answer) {
	if !l.expects {
		return
	}
	broken := l.expect.broken(said)
	if r.o.Update && len(broken) > 0 {
		l.update(l.expect.updated(said))
		broken = l.expect.broken(said)
	}
	if len(broken) == 0 {
		return
	}
	r.t.Errorf("%s:%d: %s\nsaid:     %s\nexpected: %s", r.scenario.Name, l.number, l.command, said, strings.Join(broken, " "))
}

// watch looks at the cluster until the run ends.
func (r *run) watch() {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			r.look()
		case <-r.ending:
			return
		}
	}
}

// look takes in how the cluster is, and holds it against the invariants.
func (r *run) look() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.breach == nil && len(r.names) > 0 {
		r.fail(r.health.look(time.Now()))
		for _, i := range r.invariants {
			r.fail(i.looked())
		}
	}
}

// fail keeps the first breach. The caller holds mu.
func (r *run) fail(err error) {
	if r.breach == nil && err != nil {
		r.breach = fmt.Errorf("after %v: %w", time.Since(r.health.began).Round(time.Microsecond), err)
	}
}

func (r *run) broken() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.breach
}

// pass lets virtual time run, or less of it if an invariant breaks.
func (r *run) pass(d time.Duration) {
	for end := time.Now().Add(d); r.broken() == nil; {
		left := time.Until(end)
		if left <= 0 {
			return
		}
		time.Sleep(min(left, lookEvery))
	}
}

// await lets time run until done, at which it looks every so often, and
// reports an error if it is not within d.
func (r *run) await(d, every time.Duration, what string, done func() bool) error {
	for start := time.Now(); !done(); time.Sleep(every) {
		if breach := r.broken(); breach != nil {
			return breach
		}
		if time.Since(start) > d {
			return fmt.Errorf("not within %v: %s", d, what)
		}
	}
	return nil
}

// key is what stands for a key of the file.
func (r *run) key(name string) string {
	if bound, ok := r.keys[name]; ok {
		return bound
	}
	return name
}

// policy returns the policy with the given name, or the first if that is empty.
func (r *run) policy(name string) (*policy.Policy, error) {
	for i := range r.policies {
		if p := &r.policies[i]; name == "" || p.Name == name {
			return p, nil
		}
	}
	names := make([]string, len(r.policies))
	for i, p := range r.policies {
		names[i] = p.Name
	}
	return nil, fmt.Errorf("there is no policy %q: one of %s", name, strings.Join(names, ", "))
}

// running are the members that can be asked, in the order of their first
// start. The caller holds mu.
func (r *run) running() []*member {
	var list []*member
	for _, name := range r.names {
		if m := r.members[name]; m.state == running {
			list = append(list, m)
		}
	}
	return list
}

func names(members []*member) []string {
	var list []string
	for _, m := range members {
		list = append(list, m.name)
	}
	return list
}

// asked is what calls by the named policy through v go by, and to.
func (r *run) asked(policyName string, v via) (*policy.Policy, []*member, error) {
	p, err := r.policy(policyName)
	if err != nil {
		return nil, nil, err
	}
	nodes, err := r.candidates(v)
	return p, nodes, err
}

// candidates are the members that v names and that can be asked.
func (r *run) candidates(v via) ([]*member, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.running()
	switch {
	case len(v.names) > 0:
		list = slices.DeleteFunc(list, func(m *member) bool { return !slices.Contains(v.names, m.name) })
	case !v.all:
		list = list[:min(1, len(list))]
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("nobody can be asked: of %q none runs; running are %q", v.names, names(r.running()))
	}
	return list, nil
}
