package presets

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

var (
	octocat = object{"method": "GET", "path": "/user", "ip": "203.0.113.9", "user": "octocat", "credential": "user"}
	query   = octocat.with("method", "POST").with("path", "/graphql")
)

// rest asks for a call to an endpoint of its own, so that the minute is not
// what denies.
func (p *player) rest(i int, caller object) answer {
	return p.check(caller.with("endpoint", fmt.Sprint("endpoint-", i%100)))
}

// By address 60 requests an hour pass, and 5,000 or 15,000 for who is
// authenticated.
func TestGitHubHour(t *testing.T) {
	anonymous := object{"method": "GET", "path": "/zen", "ip": "203.0.113.9"}
	for _, row := range []struct {
		who    string
		caller object
		hour   int
	}{
		{"by address", anonymous, 60},
		{"a user", octocat, 5000},
		{"an app", octocat.with("credential", "app"), 15_000},
	} {
		t.Run(row.who, func(t *testing.T) {
			play(t, "github.yaml", 1, func(t *testing.T, p *player) {
				time.Sleep(17 * time.Minute) // the hour begins with the first request
				for i := range row.hour {
					if a := p.rest(i, row.caller); !a.Allowed {
						t.Fatalf("request %d: %+v", i+1, a)
					}
				}
				again := func() answer { return p.rest(0, row.caller) }
				p.denied("one more", again(), "github-hour", http.StatusTooManyRequests)
				p.admitted("from another address, another user", p.check(row.caller.with("ip", "198.51.100.7").with("user", "hubot")))
				p.passesAfter(time.Hour, "the next hour", again)
			})
		})
	}
}

// 180 writes are 900 points, in any minute, whatever the clock shows.
func TestGitHubWritesOfAMinute(t *testing.T) {
	play(t, "github.yaml", 3, func(t *testing.T, p *player) {
		time.Sleep(untilNext(time.Minute) + 40*time.Second)
		write := octocat.with("method", "PATCH").with("path", "/repos/o/r/issues/1")
		for i := range 180 {
			p.admitted("a write", p.check(write))
			if i%6 == 5 {
				time.Sleep(time.Second)
			}
		}
		p.denied("the 181st within half a minute", p.check(write), "github-minute", http.StatusTooManyRequests)
		p.denied("a read has no point left either", p.check(octocat), "github-minute", http.StatusTooManyRequests)
		p.admitted("at another endpoint", p.rest(1, write))
		p.admitted("GraphQL has points of its own", p.check(query))
		p.passesAfter(30*time.Second, "a minute after the first six", func() answer { return p.check(write) })
		if got := p.admits(10, write); got != 5 {
			t.Errorf("%d more pass, want the rest of the six", got)
		}
	})
}

// A query is one point and a mutation five, of 2,000 a minute; what it costs of
// the hour is another number.
func TestGitHubGraphQL(t *testing.T) {
	play(t, "github.yaml", 3, func(t *testing.T, p *player) {
		mutation := query.with("points", 5)
		if got := p.admits(399, mutation) + p.admits(5, query); got != 404 {
			t.Errorf("%d pass, want 399 mutations and five queries", got)
		}
		p.denied("the 2001st point", p.check(query), "github-graphql-minute", http.StatusTooManyRequests)
		p.admitted("REST has points of its own", p.check(octocat))
		time.Sleep(time.Minute)
		costly := query.with("query_points", 5000-404)
		p.admitted("the rest of the hour", p.check(costly))
		p.denied("one more", p.check(query), "github-graphql-hour", http.StatusTooManyRequests)
	})
}

// A GET, a HEAD and an OPTIONS are a point each.
func TestGitHubReadsOfAMinute(t *testing.T) {
	play(t, "github.yaml", 3, func(t *testing.T, p *player) {
		for _, method := range []string{"GET", "HEAD", "OPTIONS"} {
			if got := p.admits(300, octocat.with("method", method)); got != 300 {
				t.Errorf("%d of 300 pass by %s", got, method)
			}
		}
		p.denied("the 901st", p.check(octocat), "github-minute", http.StatusTooManyRequests)
	})
}
