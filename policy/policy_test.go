package policy

import (
	"strings"
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// perMinute is a limit for tests that are not about limits.
func perMinute(name string, count int64) limiter.Limit {
	return limiter.Limit{Name: name, Algorithm: limiter.FixedWindow, Count: count, Period: time.Minute}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Unreachable{"local": Local, "allow": Allow, "deny": Deny} {
		got, ok := ParseUnreachable(name)
		if !ok || got != want || got.String() != name {
			t.Errorf("ParseUnreachable(%q) = %v, %v", name, got, ok)
		}
	}
	for _, name := range []string{"", "Local", "open"} {
		if got, ok := ParseUnreachable(name); ok || got != Local {
			t.Errorf("ParseUnreachable(%q) = %v, %v; want no mode", name, got, ok)
		}
	}
	if got := Unreachable(9).String(); got != "unreachable(9)" {
		t.Errorf("a mode that is none is called %q", got)
	}
}

func TestValidName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"a": true, "API": true, "per-user.v2_x": true, "a" + strings.Repeat("b", 63): true,
		"": false, "1st": false, "-a": false, "a b": false, "a/b": false, "ü": false, "a\n": false,
		"a" + strings.Repeat("b", 64): false,
	} {
		if got := ValidName(name); got != want {
			t.Errorf("ValidName(%q) = %v", name, got)
		}
	}
}

func TestPolicyValidate(t *testing.T) {
	t.Parallel()
	tooMany := make([]limiter.Limit, limiter.MaxCharges+1)
	for i := range tooMany {
		tooMany[i] = perMinute("l"+strings.Repeat("x", i), 1)
	}
	for _, c := range []struct {
		name   string
		policy Policy
		want   []string
	}{
		{"one limit without a name", Policy{Name: "p", Limits: []limiter.Limit{perMinute("", 1)}}, nil},
		{"names that differ in case", Policy{Name: "p", Limits: []limiter.Limit{perMinute("a", 1), perMinute("A", 1)}}, nil},
		{"as many limits as fit", Policy{Name: "p", Limits: tooMany[1:]}, nil},
		{"a cool-down", Policy{Name: "p", Cooldown: Cooldown{For: limiter.MaxCooldown, Extend: true}, Limits: []limiter.Limit{perMinute("", 1)}}, nil},
		{"a cool-down that is negative", Policy{Name: "p", Cooldown: Cooldown{For: -1}, Limits: []limiter.Limit{perMinute("", 1)}}, []string{
			"cooldown.for: must be 0s, which is none, to 8784h0m0s (366 days), got -1ns"}},
		{"a cool-down that is a ban", Policy{Name: "p", Cooldown: Cooldown{For: limiter.MaxCooldown + 1}, Limits: []limiter.Limit{perMinute("", 1)}}, []string{
			"cooldown.for: must be 0s, which is none, to 8784h0m0s (366 days), got 8784h0m0.000000001s"}},
		{"no cool-down to extend", Policy{Name: "p", Cooldown: Cooldown{Extend: true}, Limits: []limiter.Limit{perMinute("", 1)}}, []string{
			"cooldown.for: is required beside extend: how long the key stays denied, such as 5m"}},
		{"too many limits", Policy{Name: "p", Limits: tooMany}, []string{"limits: a policy has at most 32 limits, got 33"}},
		{"a cost that fits", Policy{Name: "p", Cost: Cost{Default: 5}, Limits: []limiter.Limit{perMinute("a", 5), perMinute("b", 6)}}, nil},
		{"a cost beside slots", Policy{Name: "p", Cost: Cost{Default: 5}, Limits: []limiter.Limit{
			{Name: "slots", Algorithm: limiter.Concurrency, Count: 2, Period: time.Minute}, perMinute("b", 6)}}, nil},
		{"a cost beside a limit that denies all", Policy{Name: "p", Cost: Cost{Default: 5}, Limits: []limiter.Limit{perMinute("", 0)}}, nil},
		{"a cost that never passes", Policy{Name: "p", Cost: Cost{Default: 10}, Limits: []limiter.Limit{
			perMinute("x", 5), perMinute("y", 10),
			{Name: "z", Algorithm: limiter.TokenBucket, Count: 20, Period: time.Second, Burst: 9},
			{Name: "queue", Algorithm: limiter.LeakyBucket, Count: 20, Period: time.Second},
			{Name: "faulty", Algorithm: limiter.LeakyBucket, Count: 20},
		}}, []string{
			"limits[4].period: must be 1ms to 366 days",
			`cost.default: 10 is more than limit "x" can ever hold (5)`,
			`cost.default: 10 is more than limit "z" can ever hold (9)`,
			`cost.default: 10 is more than limit "queue" can ever hold (1)`,
		}},
		{"a cost that never passes a limit without a name", Policy{Name: "p", Cost: Cost{Default: 2}, Limits: []limiter.Limit{perMinute("", 1)}}, []string{
			`cost.default: 2 is more than limit "p" can ever hold (1)`,
		}},
		{"nothing", Policy{}, []string{
			`name: must be a letter followed by at most 63 letters, digits, '_', '.' or '-', got ""`,
			"limits: a policy needs at least one limit",
		}},
		{"everything wrong", Policy{Name: "a b", Cost: Cost{Default: -1}, OnUnreachable: 3, Limits: []limiter.Limit{
			perMinute("x", 1), perMinute("x", -1), perMinute("", 1),
			{Name: "y", Period: time.Hour},
		}}, []string{
			`name: must be a letter followed by at most 63 letters, digits, '_', '.' or '-', got "a b"`,
			"on_unreachable: must be one of local, allow, deny",
			`limits[1].name: "x" is already the name of another limit of this policy`,
			"limits[1].count: must be 0 to 1000000000000000",
			`limits[2].name: is required where a policy has several limits`,
			"limits[3].algorithm: must be one of token_bucket, leaky_bucket, fixed_window, sliding_window, sliding_log, concurrency, quota",
			"cost.default: must not be negative",
		}},
	} {
		got := strings.Join(faultLines(t, c.policy.Validate()), "\n")
		if want := strings.Join(c.want, "\n"); got != want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, want)
		}
	}
}
