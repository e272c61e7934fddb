package httpapi

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// fakeOverrides keeps overrides by policy and key. The fingerprint of a key is
// its length.
type fakeOverrides struct {
	set *policy.Set
	err error // of every change

	mu    sync.Mutex
	known map[string]RuntimeOverride // by policy/fingerprint
}

func (f *fakeOverrides) id(policyName, key string) (string, limiter.Subject) {
	s, ok := limiter.ParseSubject(key)
	if !ok {
		s = limiter.Subject{Lo: uint64(len(key))}
	}
	return policyName + "/" + s.String(), s
}

func (f *fakeOverrides) SetOverride(policyName, key string, o policy.Override, expiresIn time.Duration) (RuntimeOverride, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return RuntimeOverride{}, f.err
	}
	id, s := f.id(policyName, key)
	set := RuntimeOverride{Policy: policyName, Subject: s, Override: o, Expires: expiresIn, Node: "n1"}
	if f.known == nil {
		f.known = make(map[string]RuntimeOverride)
	}
	f.known[id] = set
	return set, nil
}

func (f *fakeOverrides) Override(policyName, key string) (RuntimeOverride, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	id, _ := f.id(policyName, key)
	o, ok := f.known[id]
	if _, err := f.set.Policy(policyName); !ok && err != nil {
		return o, false, err
	}
	return o, ok, nil
}

func (f *fakeOverrides) RemoveOverride(policyName, key string) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	id, _ := f.id(policyName, key)
	_, ok := f.known[id]
	if f.err == nil {
		delete(f.known, id)
	}
	return ok, f.err
}

func (f *fakeOverrides) Overrides() []RuntimeOverride {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []RuntimeOverride
	for _, o := range f.known {
		all = append(all, o)
	}
	slices.SortFunc(all, func(a, b RuntimeOverride) int {
		return cmp.Or(cmp.Compare(a.Policy, b.Policy), cmp.Compare(a.Subject.Lo, b.Subject.Lo))
	})
	return all
}
