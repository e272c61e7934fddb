package policy

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

func mustSet(t *testing.T, policies ...Policy) *Set {
	t.Helper()
	s, err := NewSet(policies...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSetWithoutPoliciesHoldsTheDefault(t *testing.T) {
	t.Parallel()
	s := mustSet(t)
	if got := s.Names(); !slices.Equal(got, []string{DefaultName}) {
		t.Fatalf("names %v", got)
	}
	plan, err := resolve(s, &Request{Policy: DefaultName, Key: "k"})
	if err != nil {
		t.Fatal(err)
	}
	charge := plan.Charges(nil, 0)[0]
	if l := charge.Limit; l.Algorithm != limiter.SlidingWindow || l.Count != 100 || l.Period != time.Minute || charge.Cost != 1 {
		t.Errorf("the default is %+v at cost %d", l, charge.Cost)
	}
	if _, err := resolve(mustSet(t, Policy{Name: "api", Limits: []limiter.Limit{perMinute("", 1)}}), &Request{Policy: DefaultName, Key: "k"}); !errors.Is(err, ErrUnknownPolicy) {
		t.Errorf("the default beside other policies: %v", err)
	}
}

func TestSetKeepsNamesThatDifferInCaseApart(t *testing.T) {
	t.Parallel()
	s := mustSet(t,
		Policy{Name: "api", Limits: []limiter.Limit{perMinute("", 1)}},
		Policy{Name: "API", Limits: []limiter.Limit{perMinute("", 2)}},
	)
	for name, count := range map[string]int64{"api": 1, "API": 2} {
		plan, err := resolve(s, &Request{Policy: name, Key: "k"})
		if err != nil {
			t.Fatal(err)
		}
		if got := plan.Charges(nil, 0)[0].Limit.Count; got != count || plan.Namespace() != name {
			t.Errorf("%s: count %d in namespace %s", name, got, plan.Namespace())
		}
	}
}

func TestNewSetReportsEveryFault(t *testing.T) {
	t.Parallel()
	_, err := NewSet(
		Policy{Name: "a", Limits: []limiter.Limit{perMinute("", 1)}},
		Policy{Name: "b"},
		Policy{Name: "a", Limits: []limiter.Limit{perMinute("", -1)}},
	)
	got := strings.Join(faultLines(t, err), "\n")
	want := `policies[1].limits: a policy needs at least one limit
policies[2].limits[0].count: must be 0 to 1000000000000000
policies[2].name: "a" is already the name of another policy`
	if got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestSetIsACopy(t *testing.T) {
	t.Parallel()
	limits := []limiter.Limit{perMinute("x", 5)}
	policies := []Policy{{Name: "api", Limits: limits}}
	s := mustSet(t, policies...)
	limits[0].Count, policies[0].Shadow = 500, true
	got := s.Policies()[0]
	if got.Limits[0].Count != 5 || got.Shadow {
		t.Errorf("the set followed its caller's changes: %+v", got)
	}
	if limits[0].Name != "x" {
		t.Errorf("the set renamed its caller's limit to %q", limits[0].Name)
	}
}

// resolve is the plan of a request that one policy applies to.
func resolve(s *Set, r *Request) (*Plan, error) {
	applied, err := s.Apply(nil, r, MatchOptions{})
	if err != nil {
		return nil, err
	}
	return applied[0].Plan, nil
}

func TestPolicyOfASet(t *testing.T) {
	t.Parallel()
	s := mustSet(t, Policy{Name: "lone", Limits: []limiter.Limit{perMinute("", 1)}})
	if p, err := s.Policy("lone"); err != nil || p.Name != "lone" || p.Limits[0].Name != "lone" {
		t.Errorf("%+v (%v)", p, err)
	}
	if p, err := s.Policy("lnoe"); p != nil || !errors.Is(err, ErrUnknownPolicy) || !strings.Contains(err.Error(), `"lone"`) {
		t.Errorf("%+v (%v)", p, err)
	}
}
