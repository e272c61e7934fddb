package scenario

import (
	"strings"
	"testing"
)

func TestExpectations(t *testing.T) {
	t.Parallel()
	said := answer{{"allowed", ""}, {"remaining", "9"}, {"retry", "1m30s"}, {"error", "a b"}}
	for _, c := range []struct{ expect, broken, updated string }{
		{`allowed`, ``, `allowed`},
		{`denied`, `denied`, `allowed`},
		{`denied remaining=9`, `denied`, `allowed remaining=9`},
		{`remaining=9 retry=1m30s`, ``, `remaining=9 retry=1m30s`},
		{`remaining=8`, `remaining=8`, `remaining=9`},
		{`remaining<=9 remaining>=9 remaining<=10 remaining>=8 remaining!=8`, ``, ``},
		{`remaining<=8`, `remaining<=8`, `remaining<=8`},
		{`remaining>=10`, `remaining>=10`, `remaining>=10`},
		{`retry<=90s retry>=1m`, ``, ``},
		{`retry<=1m`, `retry<=1m`, ``},
		{`remaining<=1m`, `remaining<=1m`, ``},
		{`unknown=1`, `unknown=1`, ``},
		{`error="a b"`, ``, `error="a b"`},
		{`error="b"`, `error=b`, `error="a b"`},
		{``, `(nothing is expected yet: run with -update)`, `allowed remaining=9 retry=1m30s error="a b"`},
	} {
		e, err := parseExpectation(c.expect)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(e.broken(said), " "); got != c.broken {
			t.Errorf("%q: broken %q, want %q", c.expect, got, c.broken)
		}
		if got := e.updated(said).String(); c.updated != "" && !strings.Contains(got, c.updated) {
			t.Errorf("%q: updated to %q, want %q", c.expect, got, c.updated)
		}
	}
}
