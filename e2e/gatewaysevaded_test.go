package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// tempting is three requests an hour for each key, or without one for each
// address, and has what clients could wish for.
const tempting = `
http: {trusted_proxies: [127.0.0.1]}
policies:
  - name: search
    match: {path: /search}
    key: [header:X-Api-Key | ip]
    limits: [{algorithm: sliding_log, rate: 3/h}]
    exempt: [{path: /free/**}]
    tiers: {by: header:X-Plan, sets: [{name: pro, limits: [{name: search, algorithm: sliding_log, rate: 1000/h}]}]}
  - name: rest
    match: {path: /free/**}
    key: [global]
    limits: [{algorithm: sliding_log, rate: 1/h}]
`

// application counts whatever it is sent, and answers with all of a body at
// once.
func application(t *testing.T, passed *atomic.Int64, body string) (addr string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	t.Cleanup(func() { _ = listener.Close(); serving.Wait() })
	answer := fmt.Sprintf("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer conn.Close()
				_ = conn.SetDeadline(time.Now().Add(patience))
				request, length := bufio.NewReader(conn), int64(0)
				for line := ""; line != "\r\n"; {
					if line, err = request.ReadString('\n'); err != nil {
						return
					}
					if value, ok := strings.CutPrefix(strings.ToLower(line), "content-length:"); ok {
						length, _ = strconv.ParseInt(strings.TrimSpace(value), 10, 64)
					}
				}
				passed.Add(1)
				_, _ = io.CopyN(io.Discard, request, length)
				_, _ = io.WriteString(conn, answer)
			})
		}
	})
	return listener.Addr().String()
}

// raw sends the head of a request as it is, and returns the status of the
// answer. 0: there was none.
func raw(t *testing.T, addr, target, host string, lines ...string) int {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	lines = append([]string{"GET " + target + " HTTP/1.1", "Host: " + host, "Connection: close"}, lines...)
	_, _ = io.WriteString(conn, strings.Join(lines, "\r\n")+"\r\n\r\n") // an early refusal may cut it off
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	return answer.StatusCode
}

// repeated is a line several times, with its number in it.
func repeated(times int, format string) []string {
	var lines []string
	for i := range times {
		lines = append(lines, fmt.Sprintf(format, i))
	}
	return lines
}

// Whatever a request is made to look like, it is not passed on uncounted.
func TestGatewaysAreNotEvaded(t *testing.T) {
	t.Parallel()
	const spent = "X-Api-Key: spent"
	long := strings.Repeat("a", 7_000)
	for _, g := range gateways {
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			var passed atomic.Int64
			addr, _ := g.before(t, tempting, application(t, &passed, ""))
			for _, key := range []string{spent, "X-Nothing: a"} { // the key and the address
				for i, want := range []int{200, 200, 200, 429} {
					if got := raw(t, addr, "/search", addr, key); got != want {
						t.Fatalf("request %d of %q: status %d, want %d", i+1, key, got, want)
					}
				}
			}
			for _, c := range []struct {
				why, target, host string
				lines             []string
				refused           bool // or else denied
			}{
				{"many lines", "/search", addr, append(repeated(93, "X-Line-%d: a"), spent), false},
				{"more lines", "/search", addr, append(repeated(94, "X-Line-%d: a"), spent), false},
				{"many lines of a key", "/search", addr, repeated(90, "X-Api-Key: %d"), true},
				{"more lines of a key", "/search", addr, repeated(98, "X-Api-Key: %d"), true},
				{"many cookies", "/search", addr, append(repeated(90, "Cookie: c=%d"), spent), true},
				{"a long line", "/search", addr, []string{spent, "X-Line: " + long}, false},
				{"long lines", "/search", addr, append(repeated(3, "Cookie: c=%d"+long), spent), true},
				{"a long URL", "/search?" + long, addr, []string{spent}, false},
				{"a longer URL", "/search?" + long + long, addr, []string{spent}, true},
				{"longer lines", "/search", addr, append(repeated(20, "X-Line-%d: "+long), spent), true},
				{"a control character", "/search", addr, []string{spent, "X-Junk: \x01"}, true},
				{"another control character", "/search", addr, []string{spent, "X-Junk: \x7f"}, true},
				{"a control character in a key", "/search", addr, []string{"X-Api-Key: \x01"}, true},
				{"a control character in another field that counts", "/search", addr, []string{spent, "Cookie: a=\x7f"}, true},
				{"another host", "/search", "other.example", []string{spent}, false},
				{"a strange host", "/search", "{}", []string{spent}, true},
				{"a host that is none", "/search", "127.7.7.1 x", []string{spent}, true},
				{"two keys", "/search", addr, []string{spent, "X-Api-Key: new"}, false},
				{"two keys, the other way round", "/search", addr, []string{"X-Api-Key: new", spent}, false},
				{"a plan", "/search", addr, []string{spent, "X-Plan: pro"}, false},
				{"a denial in disguise", "/search?deny_status=403", addr, []string{spent}, false},
				{"a denial in another disguise", "/search?deny_status=200", addr, []string{spent}, false},
				{"fields of the connection", "/search", addr, []string{spent, "Connection: X-Forwarded-Uri, X-Forwarded-Method, X-Forwarded-For, X-Forwarded-Host"}, false},
				{"parameters", "/search;a=b", addr, []string{spent}, false},
				{"encoded parameters", "/search%3Ba=b", addr, []string{spent}, false},
				{"a detour with parameters", "/free/..;/search", addr, []string{spent}, false},
			} {
				before := passed.Load()
				got := raw(t, addr, c.target, c.host, c.lines...)
				fits := got == http.StatusTooManyRequests || c.refused && (got == 400 || got == 414 || got == 431)
				if !fits || passed.Load() != before {
					t.Errorf("%s: status %d, passed on %d times", c.why, got, passed.Load()-before)
				}
			}
			for why, lines := range map[string][]string{
				"many lines": append(repeated(80, "X-Line-%d: a"), "X-Api-Key: another"),
				"a long key": {"X-Api-Key: " + long[:4_000]},
				"no text":    {"X-Api-Key: \xff\xfe"},
			} {
				for i, want := range []int{200, 200, 200, 429} {
					if got := raw(t, addr, "/search", addr, lines...); got != want {
						t.Errorf("%s, request %d: status %d, want %d", why, i+1, got, want)
					}
				}
			}
		})
	}
}

// The largest answer that there is gets to the client, and the body of the
// application with it.
func TestGatewaysPassTheLargestAnswerOn(t *testing.T) {
	t.Parallel()
	config := "http: {headers: [ietf12, legacy, x]}\npolicies:\n"
	rate := "3/h"
	for i := range 20 { // whose limits have the longest names, and are not told apart without those of their policies
		config += fmt.Sprintf("  - {name: p%02d%s, key: [global], limits: [{name: a%s, algorithm: fixed_window, rate: %s}, {name: b%[3]s, algorithm: fixed_window, rate: 999999999999999/8784h}]}\n",
			i, strings.Repeat("p", 61), strings.Repeat("n", 63), rate)
		rate = "999999999999999/8784h"
	}
	body := strings.Repeat("b", 100_000)
	for _, g := range gateways {
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			addr, limiter := g.before(t, config, application(t, new(atomic.Int64), body))
			for i, want := range []int{200, 200, 200, 429} {
				resp := through(t, addr, "GET", "/")
				if size := len(resp.Header.Get("RateLimit") + resp.Header.Get("RateLimit-Policy")); resp.StatusCode != want || size < 5_500 {
					t.Errorf("request %d: status %d, want %d, %d bytes of fields", i+1, resp.StatusCode, want, size)
				}
				if want == 200 && resp.ContentLength != int64(len(body)) {
					t.Errorf("request %d: %d bytes of a body", i+1, resp.ContentLength)
				}
			}
			// Nobody said that the gateway is to be trusted, and that shows.
			if metrics := string(limiter.get("/metrics")); !strings.Contains(metrics, "\nmurmurate_unheeded_client_addresses_total 4\n") ||
				strings.Count(limiter.said(), "not in http.trusted_proxies") != 1 {
				t.Errorf("the node said %s", limiter.said())
			}
		})
	}
}
