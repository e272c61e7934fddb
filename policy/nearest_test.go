package policy

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNearest(t *testing.T) {
	t.Parallel()
	fields := []string{"name", "limits", "cost", "shadow", "on_unreachable"}
	for _, c := range []struct {
		name       string
		candidates []string
		want       string
	}{
		{"limit", fields, "limits"},
		{"shadwo", fields, "shadow"}, // a swap is one mistake
		{"on_unreacheable", fields, "on_unreachable"},
		{"Limits", fields, "limits"},
		{"SHADOW", fields, "shadow"},
		{"nme", fields, "name"},
		{"cots", fields, "cost"},
		{"xyz", fields, ""},
		{"timeout", fields, ""},
		{"", fields, ""},
		{"n", []string{"m"}, ""},
		{"ap", []string{"api"}, "api"},
		{"api", nil, ""},
		{"abcd", []string{"abxd", "abcx"}, "abxd"}, // the first of equals
		{strings.Repeat("x", 1<<20), fields, ""},
	} {
		if got := Nearest(c.name, c.candidates); got != c.want {
			t.Errorf("Nearest(%.40q) = %q, want %q", c.name, got, c.want)
		}
	}
}

// slowDistance is the definition of the distance, without a table.
func slowDistance(a, b string) int {
	if a == "" || b == "" {
		return len(a) + len(b)
	}
	ai, bj := len(a)-1, len(b)-1
	best := min(slowDistance(a[:ai], b), slowDistance(a, b[:bj])) + 1
	change := 1
	if a[ai] == b[bj] {
		change = 0
	}
	best = min(best, slowDistance(a[:ai], b[:bj])+change)
	if ai > 0 && bj > 0 && a[ai] == b[bj-1] && a[ai-1] == b[bj] {
		best = min(best, slowDistance(a[:ai-1], b[:bj-1])+1)
	}
	return best
}

func TestDistance(t *testing.T) {
	t.Parallel()
	word := rapid.StringOfN(rapid.RuneFrom([]rune("abc")), 0, 5, -1)
	rapid.Check(t, func(t *rapid.T) {
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		if got, want := distance(a, b), slowDistance(a, b); got != want {
			t.Fatalf("distance(%q, %q) = %d, want %d", a, b, got, want)
		}
	})
}
