package httpapi_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/httpapi"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// alone is a lone node with the given policies.
func alone(t testing.TB, policies ...policy.Policy) *murmurate.Node {
	t.Helper()
	set, err := policy.NewSet(policies...)
	if err != nil {
		t.Fatal(err)
	}
	// A deadline that a busy machine keeps: after it a share would admit more.
	node, err := murmurate.Start(t.Context(), murmurate.Options{Alone: true, Policies: set, Deadline: murmurate.MaxDeadline})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = node.Close(t.Context()) })
	return node
}

// bucket is a policy of one token bucket that refills at count an hour: no
// test is slow enough to get a unit back.
func bucket(name string, count int64) policy.Policy {
	return policy.Policy{Name: name, Limits: []limiter.Limit{
		{Algorithm: limiter.TokenBucket, Count: count, Period: time.Hour},
	}}
}

var (
	ok    = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) })
	byKey = httpapi.ByHeader("X-Api-Key")
)

// send has h answer a GET with the given header fields, by name and value.
func send(h http.Handler, header ...string) *httptest.ResponseRecorder {
	return sendMethod(h, http.MethodGet, header...)
}

func sendMethod(h http.Handler, method string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "/", nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// denial is the problem of a denied request.
type denial struct {
	Type, Title, Detail, Policy string
	Status                      int
	Violated                    []string `json:"violated-policies"`
}

func denialOf(t *testing.T, w *httptest.ResponseRecorder) (d denial) {
	t.Helper()
	if err := json.Unmarshal(w.Body.Bytes(), &d); err != nil {
		t.Fatalf("status %d, body %q: %v", w.Code, w.Body, err)
	}
	return d
}

// wantFields checks that each field is there once, with its value, or not at
// all if that is empty.
func wantFields(t *testing.T, w *httptest.ResponseRecorder, fields map[string]string) {
	t.Helper()
	for name, value := range fields {
		want := []string{value}
		if value == "" {
			want = nil
		}
		if got := w.Header().Values(name); !slices.Equal(got, want) {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestMiddleware(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const reset = "1800" // one of two an hour
		h := httpapi.Middleware(alone(t, bucket("api", 2)), byKey)(ok)
		admitted := map[string]string{
			"RateLimit-Policy": `"api";q=2;w=3600`, "RateLimit": `"api";r=1;t=1800`,
			"RateLimit-Limit": "2", "RateLimit-Remaining": "1", "RateLimit-Reset": reset,
			"Retry-After": "", "Cache-Control": "",
		}
		denied := map[string]string{
			"RateLimit-Policy": `"api";q=2;w=3600`, "RateLimit": `"api";r=0;t=1800`,
			"RateLimit-Limit": "2", "RateLimit-Remaining": "0", "RateLimit-Reset": reset,
			"Retry-After": reset, "Cache-Control": "no-store", "Content-Type": "application/problem+json",
		}
		first := send(h, "X-Api-Key", "a")
		if first.Code != http.StatusOK || first.Body.String() != "ok" {
			t.Errorf("first: got %d %q", first.Code, first.Body)
		}
		wantFields(t, first, admitted)
		send(h, "X-Api-Key", "a")

		third := send(h, "X-Api-Key", "a")
		if third.Code != http.StatusTooManyRequests {
			t.Errorf("third: got %d %q", third.Code, third.Body)
		}
		wantFields(t, third, denied)
		got := denialOf(t, third)
		want := denial{
			Type: "https://iana.org/assignments/http-problem-types#quota-exceeded", Title: "Quota Exceeded", Status: 429,
			Detail: "limit exceeded: api; try again in 1800 s", Violated: []string{"api"},
		}
		if got.Type != want.Type || got.Title != want.Title || got.Status != want.Status || got.Detail != want.Detail || !slices.Equal(got.Violated, want.Violated) {
			t.Errorf("got %+v, want %+v", got, want)
		}

		head := sendMethod(h, http.MethodHead, "X-Api-Key", "a")
		if head.Code != http.StatusTooManyRequests || head.Body.Len() != 0 {
			t.Errorf("HEAD: got %d %q", head.Code, head.Body)
		}
		wantFields(t, head, denied)
		wantFields(t, send(h, "X-Api-Key", "b"), admitted) // another key
	})
}

func TestMiddlewareOptions(t *testing.T) {
	t.Parallel()
	teapot := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d, _ := httpapi.DecisionFrom(r.Context())
		w.Header().Set("Policy", d.Policy)
		w.WriteHeader(http.StatusTeapot)
	})
	two := []policy.Policy{bucket("big", 10), bucket("small", 1)}
	tests := []struct {
		why    string
		opts   []httpapi.Option
		header []string
		status []int // of requests in a row
		fields map[string]string
	}{
		{"every policy", nil, nil, []int{200, 429},
			map[string]string{"RateLimit-Policy": `"big";q=10;w=3600, "small";q=1;w=3600`, "RateLimit": `"big";r=9;t=360, "small";r=0;t=3600`, "RateLimit-Limit": "1"}},
		{"exactly one", []httpapi.Option{httpapi.WithPolicy("big")}, nil, []int{200, 200, 200},
			map[string]string{"RateLimit-Policy": `"big";q=10;w=3600`, "RateLimit": `"big";r=7;t=360`}},
		{"a cost", []httpapi.Option{httpapi.WithPolicy("big"), httpapi.WithCost(func(*http.Request) int64 { return 4 })}, nil, []int{200, 200, 429},
			map[string]string{"RateLimit": `"big";r=2;t=360`, "Retry-After": "720"}},
		{"a cost that is never there", []httpapi.Option{httpapi.WithPolicy("big"), httpapi.WithCost(func(*http.Request) int64 { return 11 })}, nil, []int{429},
			map[string]string{"RateLimit": `"big";r=10;t=0`, "Retry-After": ""}},
		{"free", []httpapi.Option{httpapi.WithCost(func(*http.Request) int64 { return 0 })}, nil, []int{200, 200, 200},
			map[string]string{"RateLimit": "", "RateLimit-Policy": ""}},
		{"skipped", []httpapi.Option{httpapi.WithSkip(func(r *http.Request) bool { return r.Header.Get("Skip") != "" })}, []string{"Skip", "1"}, []int{200, 200, 200},
			map[string]string{"RateLimit": ""}},
		{"not skipped", []httpapi.Option{httpapi.WithSkip(func(r *http.Request) bool { return r.Header.Get("Skip") != "" })}, nil, []int{200, 429}, nil},
		{"another answer", []httpapi.Option{httpapi.WithDenied(teapot)}, nil, []int{200, 418},
			map[string]string{"Policy": "small", "Retry-After": "3600", "Cache-Control": "no-store", "RateLimit-Remaining": "0", "Content-Type": ""}},
		{"one dialect", []httpapi.Option{httpapi.WithDialects(httpapi.Legacy)}, nil, []int{200},
			map[string]string{"RateLimit": "", "RateLimit-Limit": "1"}},
		{"three dialects", []httpapi.Option{httpapi.WithDialects(httpapi.IETF12, httpapi.Legacy, httpapi.X)}, nil, []int{200, 429},
			map[string]string{"RateLimit": `"big";r=9;t=360;a=9;w=360, "small";r=0;t=3600;a=0;w=3600`, "RateLimit-Reset": "3600", "X-RateLimit-Reset": "946688400"}},
		{"a date", []httpapi.Option{httpapi.WithDialects(httpapi.None), httpapi.WithRetryAfterDate()}, nil, []int{200, 429},
			map[string]string{"RateLimit": "", "Retry-After": "Sat, 01 Jan 2000 01:00:00 GMT"}},
		{"no dialect", []httpapi.Option{httpapi.WithDialects()}, nil, []int{200, 429},
			map[string]string{"RateLimit": "", "RateLimit-Limit": "", "Retry-After": "3600"}},
		{"nothing but nil", []httpapi.Option{nil, httpapi.WithCost(nil), httpapi.WithSkip(nil), httpapi.WithDenied(nil), httpapi.WithLogger(nil)}, nil, []int{200, 429}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := httpapi.Middleware(alone(t, two...), byKey, tt.opts...)(ok)
				var last *httptest.ResponseRecorder
				for i, want := range tt.status {
					last = send(h, tt.header...)
					if last.Code != want {
						t.Errorf("request %d: got %d %s, want %d", i+1, last.Code, last.Body, want)
					}
				}
				wantFields(t, last, tt.fields)
			})
		})
	}
}

// What one policy denies is charged by none, whichever of them comes first.
func TestPoliciesChargeAllOrNone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, order := range [][]policy.Policy{
			{bucket("site", 10), bucket("user", 5)},
			{bucket("user", 5), bucket("site", 10)},
		} {
			node := alone(t, order...)
			h := httpapi.Middleware(node, byKey)(ok)
			var denied *httptest.ResponseRecorder
			for range 20 {
				denied = send(h, "X-Api-Key", "a")
			}
			if got := denialOf(t, denied).Violated; !slices.Equal(got, []string{"user"}) {
				t.Errorf("denied by %q", got)
			}
			wantFields(t, denied, map[string]string{"Retry-After": "720"})
			d, err := node.Check(t.Context(), policy.Request{Policy: "site", Key: "header:x-api-key=a", Peek: true})
			if err != nil || d.Remaining != 5 {
				t.Errorf("site has %d left, want 5 (%v)", d.Remaining, err)
			}
		}
	})
}

// Every policy that denies is named, and the longest wait is theirs.
func TestSeveralPoliciesDeny(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := httpapi.Middleware(alone(t, bucket("a", 2), bucket("b", 1), bucket("c", 9)), byKey,
			httpapi.WithCost(func(r *http.Request) int64 {
				if r.Header.Get("Much") != "" {
					return 2
				}
				return 1
			}))(ok)
		if w := send(h); w.Code != http.StatusOK {
			t.Fatalf("got %d", w.Code)
		}
		w := send(h, "Much", "1")
		if got := denialOf(t, w).Violated; !slices.Equal(got, []string{"a", "b"}) {
			t.Errorf("denied by %q", got)
		}
		wantFields(t, w, map[string]string{"Retry-After": "", "RateLimit": `"a";r=1;t=1800, "b";r=0;t=3600, "c";r=8;t=400`}) // b never holds 2
		w = send(h)
		if got := denialOf(t, w).Violated; !slices.Equal(got, []string{"b"}) {
			t.Errorf("denied by %q", got)
		}
		wantFields(t, w, map[string]string{"Retry-After": "3600"})
	})
}

// Clients are told nothing of a policy in shadow, which denies nobody.
func TestShadow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		shadow := bucket("shadow", 1)
		shadow.Shadow = true
		h := httpapi.Middleware(alone(t, shadow, bucket("real", 2)), byKey)(ok)
		for i, want := range []int{200, 200, 429} {
			w := send(h)
			if w.Code != want {
				t.Fatalf("request %d: got %d, want %d", i+1, w.Code, want)
			}
			if w.Code == http.StatusTooManyRequests {
				wantFields(t, w, map[string]string{"Retry-After": "1800", "RateLimit": `"real";r=0;t=1800`, "RateLimit-Policy": `"real";q=2;w=3600`})
				if got := denialOf(t, w).Violated; !slices.Equal(got, []string{"real"}) {
					t.Errorf("denied by %q", got)
				}
			}
		}
	})
}

func TestDecisionInContext(t *testing.T) {
	t.Parallel()
	var got policy.Decision
	var found bool
	app := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got, found = httpapi.DecisionFrom(r.Context()) })
	send(httpapi.Middleware(alone(t, bucket("a", 9), bucket("b", 5)), byKey)(app))
	if !found || !got.Allowed || got.Policy != "b" || got.Remaining != 4 || len(got.Limits) != 2 || got.Limits[0].Name != "a" {
		t.Errorf("got %+v, %v", got, found)
	}
	send(app)
	if found {
		t.Errorf("without middleware: got %+v", got)
	}
}

// Requests without a key share one counter, which no value reaches.
func TestRequestsWithoutKey(t *testing.T) {
	t.Parallel()
	h := httpapi.Middleware(alone(t, bucket("api", 1)), byKey)(ok)
	for i, tt := range []struct {
		header []string
		want   int
	}{
		{nil, 200}, {nil, 429}, {[]string{"X-Api-Key", ""}, 429},
		{[]string{"X-Api-Key", "header:x-api-key"}, 200}, {[]string{"X-Api-Key", "x-api-key"}, 200},
	} {
		if w := send(h, tt.header...); w.Code != tt.want {
			t.Errorf("request %d with %q: got %d, want %d", i+1, strings.Join(tt.header, ": "), w.Code, tt.want)
		}
	}
}

// A function's key is found by what the function returned.
func TestResetOfCustomKey(t *testing.T) {
	t.Parallel()
	node := alone(t, bucket("api", 1))
	h := httpapi.Middleware(node, httpapi.ByFunc(func(r *http.Request) string { return "user:" + r.Header.Get("User") }))(ok)
	send(h, "User", "42")
	if w := send(h, "User", "42"); w.Code != http.StatusTooManyRequests {
		t.Fatalf("got %d", w.Code)
	}
	if _, err := node.Reset(t.Context(), "api", "user:42"); err != nil {
		t.Fatal(err)
	}
	if w := send(h, "User", "42"); w.Code != http.StatusOK {
		t.Errorf("after the reset: got %d", w.Code)
	}
}
