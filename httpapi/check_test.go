package httpapi

import (
	"errors"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

func TestCheckAllowed(t *testing.T) {
	t.Parallel()
	node := newFake(t, api())
	h := New(Options{Node: node, Fields: bothDialects}).Handler()
	w := serve(h, "POST", "/v1/check", `{"policy":"api","key":"user:42"}`, "Content-Type", "text/plain")

	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	want := `{"allowed":true,"policy":"api","limit":20,"remaining":19,"cost":1,"retry_after_ms":0,"reset_after_ms":1000,"delay_ms":0,` +
		`"source":"owner","shadow":false,"denied_by":[],"limits":[` +
		`{"name":"api/burst","limit":20,"remaining":19,"allowed":true,"retry_after_ms":0,"reset_after_ms":1000,"next_unit_ms":600,"window_ms":1000,"unit":"requests"},` +
		`{"name":"api/minute","limit":600,"remaining":599,"allowed":true,"retry_after_ms":0,"reset_after_ms":60000,"next_unit_ms":600,"window_ms":60000,"unit":"requests"}]}` + "\n"
	if got := w.Body.String(); got != want {
		t.Errorf("body\n%s\nwant\n%s", got, want)
	}
	for name, value := range map[string]string{
		"Content-Type":        "application/json",
		"Cache-Control":       "no-store",
		"RateLimit-Policy":    `"burst";q=20;w=1, "minute";q=600;w=60`,
		"RateLimit":           `"burst";r=19;t=1, "minute";r=599;t=1`,
		"RateLimit-Limit":     "20",
		"RateLimit-Remaining": "19",
		"RateLimit-Reset":     "1",
		"Retry-After":         "",
	} {
		if got := strings.Join(w.Header().Values(name), " | "); got != value {
			t.Errorf("%s is %q, want %q", name, got, value)
		}
	}
}

func TestCheckStatus(t *testing.T) {
	t.Parallel()
	denied := limiter.Result{Limit: 20, RetryAfter: 350 * time.Millisecond, NextUnit: 350 * time.Millisecond}
	closed := limiter.Result{Limit: 20, Source: limiter.SourceFailClosed, RetryAfter: time.Second, NextUnit: time.Second}
	unreachable := errors.New("owner out of reach")
	tests := []struct {
		why    string
		change func(*policy.Policy)
		result limiter.Result
		err    error
		status int
		retry  string
	}{
		{"denied", nil, denied, nil, 429, "1"},
		{"denied for good", nil, limiter.Result{Limit: 20, Remaining: 20, RetryAfter: limiter.Never}, nil, 429, ""},
		{"denied by a share", nil, limiter.Result{Limit: 6, Source: limiter.SourceShare, RetryAfter: 3 * time.Second}, unreachable, 429, "3"},
		{"shadow", func(p *policy.Policy) { p.Shadow = true }, denied, nil, 200, ""},
		{"failed open", func(p *policy.Policy) { p.OnUnreachable = policy.Allow }, limiter.Result{Allowed: true, Limit: 20, Source: limiter.SourceFailOpen}, unreachable, 200, ""},
		{"failed closed as configured", func(p *policy.Policy) { p.OnUnreachable = policy.Deny }, closed, unreachable, 503, "1"},
		{"failed closed for lack of room", nil, closed, limiter.ErrFull, 429, "1"},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			p := api()
			p.Limits = p.Limits[:1]
			if tt.change != nil {
				tt.change(&p)
			}
			node := newFake(t, p)
			node.results, node.err = []limiter.Result{tt.result}, tt.err
			w := serve(New(Options{Node: node}).Handler(), "POST", "/v1/check", `{"policy":"api","key":"k"}`)
			if w.Code != tt.status || w.Header().Get("Retry-After") != tt.retry || w.Header().Get("Cache-Control") != "no-store" {
				t.Errorf("status %d, headers %v, want status %d, Retry-After %q", w.Code, w.Header(), tt.status, tt.retry)
			}
			d := decoded[map[string]any](t, w)
			if d["allowed"] != (tt.status == 200) || d["source"] != tt.result.Source.String() {
				t.Errorf("decision %v", d)
			}
			if w.Header().Get("RateLimit") != "" {
				t.Error("fields were sent though no dialect is on")
			}
		})
	}
}

func TestCheckRequests(t *testing.T) {
	t.Parallel()
	inline := &limiter.Limit{Algorithm: limiter.TokenBucket, Count: 100, Period: time.Minute, Burst: 20}
	named := &limiter.Limit{Name: "mine", Algorithm: limiter.FixedWindow, Count: 5, Period: 30 * 24 * time.Hour,
		Align: limiter.AlignCalendar, Calendar: limiter.Month, Anchor: 15}
	tests := []struct {
		body string
		want policy.Request
	}{
		{`{"policy":"api","key":"a"}`, policy.Request{Policy: "api", Key: "a"}},
		{" \r\n\t{ \"key\" : \"a\" , \"policy\" : \"api\" } \n", policy.Request{Policy: "api", Key: "a"}},
		{`{"policy":"api","key":"a","cost":7}`, policy.Request{Policy: "api", Key: "a", Cost: 7}},
		{`{"policy":"api","key":"a","cost":9223372036854775807}`, policy.Request{Policy: "api", Key: "a", Cost: 1<<63 - 1}},
		{`{"policy":"api","key":"a","cost":0}`, policy.Request{Policy: "api", Key: "a", Cost: 1, Peek: true}},
		{`{"cost":0,"peek":false,"policy":"api","key":"a"}`, policy.Request{Policy: "api", Key: "a", Cost: 1, Peek: true}},
		{`{"policy":"api","key":"a","cost":3,"peek":true}`, policy.Request{Policy: "api", Key: "a", Cost: 3, Peek: true}},
		{`{"policy":"api","key":"a","cost":3,"receipt":true}`, policy.Request{Policy: "api", Key: "a", Cost: 3, Receipt: true}},
		{`{"receipt":true,"policy":"api","key":"a","cost":0}`, policy.Request{Policy: "api", Key: "a", Cost: 1, Peek: true, Receipt: true}},
		{`{"policy":"api","key":"a","receipt":false,"peek":true}`, policy.Request{Policy: "api", Key: "a", Peek: true}},
		{`{"policy":"api","key":"a","cost":null,"peek":null,"limit":null}`, policy.Request{Policy: "api", Key: "a"}},
		{`{"policy":null,"key":"a","limit":{"algorithm":"token_bucket","rate":"100/1m","burst":20,"name":null}}`, policy.Request{Key: "a", Limit: inline}},
		{`{"key":"a","limit":{"burst":20,"period":"1m","count":100,"algorithm":"token_bucket"}}`, policy.Request{Key: "a", Limit: inline}},
		{`{"key":"a","limit":{"name":"mine","algorithm":"fixed_window","rate":"5/month","align":"calendar","anchor":15}}`, policy.Request{Key: "a", Limit: named}},
		{`{"policy":"api","\u006bey":"caf\u00e9 \ud83d\ude00 \\\"\/ {}[],:"}`, policy.Request{Policy: "api", Key: `café 😀 \"/ {}[],:`}},
		{`{"policy":"api","key":"\ufffd� é"}`, policy.Request{Policy: "api", Key: "\ufffd\ufffd é"}},
		{`{"policy":"api","key":"nul \u0000"}`, policy.Request{Policy: "api", Key: "nul \x00"}},
	}
	for _, tt := range tests {
		t.Run(tt.body, func(t *testing.T) {
			t.Parallel()
			node := newFake(t, api())
			w := serve(New(Options{Node: node}).Handler(), "POST", "/v1/check", tt.body)
			if w.Code != http.StatusOK {
				t.Fatalf("status %d: %s", w.Code, w.Body)
			}
			if len(node.asked) != 1 || !reflect.DeepEqual(node.asked[0], tt.want) {
				t.Errorf("asked %+v, want %+v", node.asked, tt.want)
			}
		})
	}
}

func TestCostZeroIsAnsweredAsSuch(t *testing.T) {
	t.Parallel()
	node := newFake(t, policy.Policy{Name: "q", Cost: policy.Cost{Default: 5}, Limits: []limiter.Limit{
		{Algorithm: limiter.LeakyBucket, Count: 10, Period: time.Second, Burst: 10}}})
	node.results = []limiter.Result{{Allowed: true, Limit: 10, Remaining: 6, Delay: 400 * time.Millisecond}}
	h := New(Options{Node: node}).Handler()
	for body, want := range map[string][2]float64{
		`{"policy":"q","key":"a","cost":0}`: {0, 0},
		`{"policy":"q","key":"a","cost":2}`: {2, 400},
		`{"policy":"q","key":"a"}`:          {5, 400},
	} {
		d := decoded[map[string]any](t, serve(h, "POST", "/v1/check", body))
		if got := [2]any{d["cost"], d["delay_ms"]}; got != [2]any{want[0], want[1]} {
			t.Errorf("%s: cost and delay_ms are %v, want %v", body, got, want)
		}
	}
}

// A refused request must not have reached the node: nothing can be charged.
func TestCheckRefusals(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("k", policy.MaxKeyBytes+1)
	tests := []struct {
		why, body, field, words string
		status                  int
	}{
		{"empty body", "", "", `send a JSON object such as {"policy"`, 400},
		{"only spaces", " \n", "", `the body is empty`, 400},
		{"not JSON", "policy=api&key=a", "", "the body is not JSON: invalid character 'p'", 400},
		{"cut short", `{"policy":"api"`, "", "unexpected end of JSON input", 400},
		{"trailing data", `{"policy":"api","key":"a"} {}`, "", "after top-level value", 400},
		{"trailing comma", `{"policy":"api","key":"a",}`, "", "the body is not JSON", 400},
		{"byte order mark", "\ufeff{}", "", "the body is not JSON", 400},
		{"null", `null`, "", "the body must be an object, got null", 400},
		{"an array", `[{"policy":"api","key":"a"}]`, "", "the body must be an object, got an array", 400},
		{"deeply nested", strings.Repeat("[", 100_000), "", "exceeded max depth", 400},
		{"deeply nested value", `{"key":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `}`, "key", "must be a string, got an array", 400},

		{"misspelt field", `{"polcy":"api","key":"a"}`, "polcy", `did you mean "policy"?`, 400},
		{"field in capitals", `{"policy":"api","KEY":"a"}`, "KEY", `did you mean "key"?`, 400},
		{"later field", `{"policy":"api","key":"a","ttl_ms":5}`, "ttl_ms", "there are policy, key, attributes, limit, cost, peek, receipt", 400},
		{"a receipt of a look", `{"policy":"api","key":"a","receipt":true,"peek":true}`, "receipt", "cost 0 looks now", 400},
		{"receipt as number", `{"policy":"api","key":"a","receipt":1}`, "receipt", "must be true or false", 400},
		{"field not in UTF-8", "{\"k\xff\":1}", "k\uFFFD", "is not a field", 400},
		{"long unknown field", `{"` + strings.Repeat("x", 5000) + `":1}`, strings.Repeat("x", 80) + "...", "is not a field", 400},
		{"field twice", `{"policy":"api","key":"a","key":"b"}`, "key", "is given twice", 400},
		{"field twice, escaped", `{"policy":"api","key":"a","\u006bey":"b"}`, "key", "is given twice", 400},
		{"field twice, null", `{"policy":"api","key":"a","key":null}`, "key", "is given twice", 400},

		{"no key", `{"policy":"api"}`, "key", "must not be empty", 400},
		{"null key", `{"policy":"api","key":null}`, "key", "must not be empty", 400},
		{"empty key", `{"policy":"api","key":""}`, "key", "must not be empty", 400},
		{"long key", `{"policy":"api","key":"` + long + `"}`, "key", "must be at most 1024 bytes, got 1025", 400},
		{"key is a number", `{"policy":"api","key":42}`, "key", "must be a string, got a number", 400},
		{"key not in UTF-8", "{\"policy\":\"api\",\"key\":\"a\xff\"}", "key", "must be valid UTF-8", 400},
		{"key with half a character", `{"policy":"api","key":"\ud83d"}`, "key", "surrogate", 400},
		{"key with the other half", `{"policy":"api","key":"\ude00"}`, "key", "surrogate", 400},
		{"key with two first halves", `{"policy":"api","key":"\ud83d\ud83d\ude00"}`, "key", "surrogate", 400},
		{"key with half a character, then text", `{"policy":"api","key":"\ud83dx\ude00"}`, "key", "surrogate", 400},
		{"key with an escape not in UTF-8", "{\"policy\":\"api\",\"key\":\"\\n\xff\"}", "key", "must be valid UTF-8", 400},

		{"no policy", `{"key":"a"}`, "policy", "must name a policy", 400},
		{"unknown policy", `{"policy":"apj","key":"a"}`, "policy", `did you mean "api"?`, 404},
		{"policy in another case", `{"policy":"API","key":"a"}`, "policy", "there is no policy", 404},
		{"policy is a boolean", `{"policy":true,"key":"a"}`, "policy", "must be a string, got a boolean", 400},

		{"negative cost", `{"policy":"api","key":"a","cost":-1}`, "cost", "must not be negative", 400},
		{"fractional cost", `{"policy":"api","key":"a","cost":1.5}`, "cost", "must be a whole number", 400},
		{"cost with an exponent", `{"policy":"api","key":"a","cost":1e3}`, "cost", "must be a whole number", 400},
		{"huge cost", `{"policy":"api","key":"a","cost":9223372036854775808}`, "cost", "must be at most 9223372036854775807", 400},
		{"hugely negative cost", `{"policy":"api","key":"a","cost":-9223372036854775809}`, "cost", "must not be negative", 400},
		{"cost of 1,000 digits", `{"policy":"api","key":"a","cost":` + strings.Repeat("9", 1000) + `}`, "cost", "999...", 400},
		{"cost in quotes", `{"policy":"api","key":"a","cost":"1"}`, "cost", "must be a whole number, got a string", 400},
		{"cost is a boolean", `{"policy":"api","key":"a","cost":true}`, "cost", "must be a whole number, got a boolean", 400},
		{"peek is a number", `{"policy":"api","key":"a","peek":1}`, "peek", "must be true or false, got a number", 400},

		{"limit is a string", `{"key":"a","limit":"100/1m"}`, "limit", "must be an object, got a string", 400},
		{"empty limit", `{"key":"a","limit":{}}`, "limit.algorithm", "is required", 400},
		{"misspelt algorithm", `{"key":"a","limit":{"algorithm":"token_buckt","rate":"1/s"}}`, "limit.algorithm", "token_bucket", 400},
		{"ambiguous rate", `{"key":"a","limit":{"algorithm":"token_bucket","rate":"5/m"}}`, "limit.rate", "min or month", 400},
		{"misspelt field of a limit", `{"key":"a","limit":{"algorithn":"token_bucket"}}`, "limit.algorithn", `did you mean "algorithm"?`, 400},
		{"fractional count", `{"key":"a","limit":{"algorithm":"token_bucket","count":1.5,"period":"1s"}}`, "limit.count", "must be a whole number", 400},
		{"burst twice", `{"key":"a","limit":{"burst":1,"burst":2}}`, "limit.burst", "is given twice", 400},
		{"count beyond int64", `{"key":"a","limit":{"algorithm":"token_bucket","count":99999999999999999999,"period":"1s"}}`, "limit.count", "must be 0 to 1000000000000000", 400},
		{"burst beyond int64", `{"key":"a","limit":{"algorithm":"token_bucket","rate":"1/s","burst":-99999999999999999999}}`, "limit.burst", "must be 0 to 1000000000000000", 400},
		{"anchor beyond int64", `{"key":"a","limit":{"algorithm":"fixed_window","rate":"1/month","anchor":99999999999999999999}}`, "limit.anchor", "1 to 31", 400},
		{"anchor 0", `{"key":"a","limit":{"algorithm":"fixed_window","rate":"1/month","anchor":0}}`, "limit.anchor", "1 to 31", 400},
		{"anchor no day", `{"key":"a","limit":{"algorithm":"fixed_window","rate":"1/month","anchor":4294967297}}`, "limit.anchor", "1 to 31", 400},
		{"limit beside a policy", `{"policy":"api","key":"a","limit":{"algorithm":"token_bucket","rate":"1/s"}}`, "policy", "must be empty", 400},
		{"name of a limit", `{"key":"a","limit":{"name":"a b","algorithm":"token_bucket","rate":"1/s"}}`, "limit.name", "must be a letter", 400},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			node := newFake(t, api())
			w := serve(New(Options{Node: node, Fields: bothDialects}).Handler(), "POST", "/v1/check", tt.body)
			wantProblem(t, w, tt.status, tt.field, tt.words)
			if len(node.asked) != 0 {
				t.Errorf("the node was asked %+v", node.asked)
			}
			if w.Header().Get("RateLimit") != "" || w.Header().Get("Cache-Control") != "no-store" {
				t.Errorf("headers %v", w.Header())
			}
		})
	}
}

func TestBodySize(t *testing.T) {
	t.Parallel()
	node := newFake(t, api())
	h := New(Options{Node: node}).Handler()
	fits := `{"policy":"api","key":"a"` + strings.Repeat(" ", maxBody-len(`{"policy":"api","key":"a"}`)) + `}`
	if w := serve(h, "POST", "/v1/check", fits); w.Code != http.StatusOK {
		t.Errorf("%d bytes: status %d", len(fits), w.Code)
	}
	for _, path := range []string{"/v1/check", "/v1/check/batch"} {
		wantProblem(t, serve(h, "POST", path, fits+" "), 413, "", "at most 1048576 bytes")
	}

	// Without a length in the head the size shows only in the reading.
	server := newServer(t, h)
	request, err := http.NewRequest(http.MethodPost, server.URL+"/v1/check", struct{ *strings.Reader }{strings.NewReader(fits + " ")})
	if err != nil {
		t.Fatal(err)
	}
	request.ContentLength = -1
	response, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("chunked: status %d", response.StatusCode)
	}
	if len(node.asked) != 1 {
		t.Errorf("asked %d times, want once", len(node.asked))
	}
}
