package murmurate

import (
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/murmurate/murmurate/cluster"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// overrideBook has the overrides that were set at run time ready for the
// policies in force. It follows cluster.Overrides change by change.
type overrideBook struct {
	identity cluster.Identity
	log      *slog.Logger
	inForce  atomic.Pointer[overruled] // nil while there are none

	mu  sync.Mutex
	set *policy.Set
	// all are those that the node holds, whether their policy is there or not,
	// by the subject that they are kept by.
	all map[limiter.Subject]*overruling
	// names are those that are for one name of a key, the last word first.
	names map[overrideName][]*overruling
}

// overrideName is one of the names of a key: it is kept by one subject, and
// where it can be spelled otherwise has others.
type overrideName struct {
	policy  string
	subject limiter.Subject
}

// follow takes over what said has for the subjects now.
func (b *overrideBook) follow(said *cluster.Overrides, subjects []limiter.Subject) {
	b.mu.Lock()
	defer b.mu.Unlock()
	table := b.inForce.Load()
	for _, s := range subjects {
		if old := b.all[s]; old != nil {
			table = b.drop(table, old)
		}
		if o, ok := said.Get(s); ok {
			table = b.add(table, b.read(&o))
		}
	}
	b.inForce.Store(table)
}

// compile makes all of them ready for other policies, which are asked for while
// nobody else compiles.
func (b *overrideBook) compile(policies func() *policy.Set) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.set = policies()
	old, table := b.all, (*overruled)(nil)
	b.all = make(map[limiter.Subject]*overruling, len(old))
	b.names = make(map[overrideName][]*overruling, len(old))
	for _, r := range old {
		other := *r
		other.compile(b.set)
		table = b.add(table, &other)
	}
	b.inForce.Store(table)
}

// read makes an override ready.
func (b *overrideBook) read(said *cluster.Override) *overruling {
	r := &overruling{said: *said}
	var err error
	if r.value, r.override, err = decodeOverride(said.Value); err != nil {
		b.log.Warn("an override cannot be read, and has no effect on this node: is it of a later version?",
			"subject", said.Subject, "policy", r.value.Policy, "set_on", said.Node, "error", err)
	}
	r.compile(b.set)
	return r
}

func (r *overruling) compile(set *policy.Set) {
	r.compiled = nil
	if r.override.Unlimited || r.override.Blocked || len(r.override.Limits) > 0 {
		r.compiled, _ = set.CompileOverride(r.value.Policy, &r.override) // nil until the policy is there
	}
}

func (r *overruling) names() []overrideName {
	names := []overrideName{{r.value.Policy, r.said.Subject}}
	for _, s := range r.value.Also {
		names = append(names, overrideName{r.value.Policy, s})
	}
	return names
}

// add returns table with r in it.
func (b *overrideBook) add(table *overruled, r *overruling) *overruled {
	b.all[r.said.Subject] = r
	for _, name := range r.names() {
		b.names[name] = append(b.names[name], r)
		slices.SortFunc(b.names[name], lastFirst)
		table = table.with(b.identity, name, b.names[name][0])
	}
	return table
}

// drop returns table without r.
func (b *overrideBook) drop(table *overruled, r *overruling) *overruled {
	delete(b.all, r.said.Subject)
	for _, name := range r.names() {
		list := slices.DeleteFunc(b.names[name], func(other *overruling) bool { return other == r })
		b.names[name] = list
		if len(list) == 0 {
			delete(b.names, name)
			table = table.with(b.identity, name, nil)
			continue
		}
		table = table.with(b.identity, name, list[0])
	}
	return table
}

func lastFirst(a, b *overruling) int {
	switch {
	case a.said.Over(&b.said):
		return -1
	case b.said.Over(&a.said):
		return 1
	}
	return 0
}

// find are the overrides of a policy that are for any of the subjects, the last
// word first.
func (b *overrideBook) find(policyName string, subjects []limiter.Subject) (found []*overruling) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range subjects {
		for _, r := range b.names[overrideName{policyName, s}] {
			if !slices.Contains(found, r) {
				found = append(found, r)
			}
		}
	}
	slices.SortFunc(found, lastFirst)
	return found
}

// keptBy is the one that is kept by s, or nil.
func (b *overrideBook) keptBy(s limiter.Subject) *overruling {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all[s]
}

// list returns all of them.
func (b *overrideBook) list() []*overruling {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := make([]*overruling, 0, len(b.all))
	for _, r := range b.all {
		list = append(list, r)
	}
	return list
}
