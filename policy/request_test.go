package policy

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/murmurate/murmurate/limiter"
)

func TestApplyRefuses(t *testing.T) {
	t.Parallel()
	s := mustSet(t,
		Policy{Name: "api", Limits: []limiter.Limit{perMinute("", 5)}},
		Policy{Name: "login", Limits: []limiter.Limit{perMinute("", 5)}},
	)
	inline, negative, badName := perMinute("", 5), perMinute("", -5), perMinute("a b", 5)
	for _, c := range []struct {
		name    string
		request Request
		want    string
		unknown bool
	}{
		{"empty key", Request{Policy: "api"}, "key: must not be empty", false},
		{"long key", Request{Policy: "api", Key: strings.Repeat("k", 1025)}, "key: must be at most 1024 bytes, got 1025", false},
		{"invalid UTF-8", Request{Policy: "api", Key: "\xff"}, "key: must be valid UTF-8", false},
		{"negative cost", Request{Policy: "api", Key: "k", Cost: -1}, "cost: must not be negative", false},
		{"no policy", Request{Key: "k"}, "policy: must name a policy, or the check must bring attributes that policies match, or a limit", false},
		{"misspelt policy", Request{Policy: "lgoin", Key: "k"}, `policy: there is no policy "lgoin" (did you mean "login"?)`, true},
		{"other case", Request{Policy: "API", Key: "k"}, `policy: there is no policy "API" (did you mean "api"?)`, true},
		{"unknown policy", Request{Policy: "payments", Key: "k"}, `policy: there is no policy "payments"`, true},
		{"huge policy", Request{Policy: strings.Repeat("p", 1<<20), Key: "k"},
			`policy: there is no policy "` + strings.Repeat("p", 80) + `..."`, true},
		{"policy and limit", Request{Policy: "api", Key: "k", Limit: &inline},
			"policy: must be empty when the check brings its own limit", false},
		{"bad inline limit", Request{Key: "k", Limit: &negative}, "limit.count: must be 0 to 1000000000000000", false},
		{"bad inline name", Request{Key: "k", Limit: &badName}, "limit.name: " + NameRule + `, got "a b"`, false},
	} {
		plan, err := resolve(s, &c.request)
		var input *InputError
		if plan != nil || !errors.As(err, &input) || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
		if !errors.Is(err, ErrInput) || errors.Is(err, ErrUnknownPolicy) != c.unknown {
			t.Errorf("%s: wrong kind of error: ErrInput %v, ErrUnknownPolicy %v",
				c.name, errors.Is(err, ErrInput), errors.Is(err, ErrUnknownPolicy))
		}
	}
}

func TestApplyInlineLimit(t *testing.T) {
	t.Parallel()
	s := mustSet(t)
	for name, want := range map[string]string{"": InlineName, "mine": "mine"} {
		limit := perMinute(name, 7)
		plan, err := resolve(s, &Request{Key: "k", Limit: &limit})
		if err != nil {
			t.Fatal(err)
		}
		if plan.Namespace() != want || plan.names[0] != want || plan.OnUnreachable() != Local {
			t.Errorf("inline limit %q: namespace %q, name %q, %v", name, plan.Namespace(), plan.names[0], plan.OnUnreachable())
		}
		if limit.Name != name {
			t.Errorf("the caller's limit was renamed to %q", limit.Name)
		}
	}
}

// Whatever is asked, the answer is a plan or an InputError.
func TestApplyNeverPanics(t *testing.T) {
	t.Parallel()
	s := mustSet(t, Policy{Name: "api", Limits: []limiter.Limit{perMinute("", 5)}})
	rapid.Check(t, func(t *rapid.T) {
		r := Request{
			Policy: rapid.OneOf(rapid.Just(""), rapid.Just("api"), rapid.String()).Draw(t, "policy"),
			Key:    string(rapid.SliceOf(rapid.Byte()).Draw(t, "key")),
			Cost:   rapid.Int64().Draw(t, "cost"),
		}
		if rapid.Bool().Draw(t, "inline") {
			r.Limit = &limiter.Limit{
				Name:      rapid.OneOf(rapid.Just(""), rapid.String()).Draw(t, "name"),
				Algorithm: limiter.Algorithm(rapid.Byte().Draw(t, "algorithm")),
				Count:     rapid.Int64().Draw(t, "count"),
				Burst:     rapid.Int64().Draw(t, "burst"),
				Align:     limiter.Align(rapid.Byte().Draw(t, "align")),
			}
		}
		plan, err := resolve(s, &r)
		var input *InputError
		if (plan == nil) != errors.As(err, &input) {
			t.Fatalf("plan %v with error %v", plan, err)
		}
	})
}
