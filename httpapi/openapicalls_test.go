package httpapi

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// apiCall is a call and its answer, both of which the document describes.
type apiCall struct {
	api          http.Handler
	method, path string // as sent
	body         string
	header       []string // name, value
	status       int
	refused      bool // the request is none that the document allows
}

// refuse is c as one that the document does not allow.
func (c apiCall) refuse() apiCall {
	c.refused = true
	return c
}

func get(api http.Handler, path string, status int, header ...string) apiCall {
	return apiCall{api: api, method: "GET", path: path, status: status, header: header}
}

func remove(api http.Handler, path string, status int, header ...string) apiCall {
	return apiCall{api: api, method: "DELETE", path: path, status: status, header: header}
}

// adminToken permits administration of an API that is guarded.
const adminToken = "a token that is long enough"

var withToken = []string{"Authorization", "Bearer " + adminToken}

// The document is true: of every call of the table it allows the request,
// status, header fields and body, and no more than them; and every operation
// and status that it names is in the table.
func TestOpenAPIIsWhatIsServed(t *testing.T) {
	t.Parallel()
	document := described(t, true)
	seen := make(map[string]bool)
	for _, c := range apiCalls(t) {
		r := httptest.NewRequest(c.method, c.path, strings.NewReader(c.body))
		for i := 0; i+1 < len(c.header); i += 2 {
			r.Header.Set(c.header[i], c.header[i+1])
		}
		answer := httptest.NewRecorder()
		c.api.ServeHTTP(answer, r)
		name := strings.TrimSpace(c.method + " " + c.path[:min(len(c.path), 60)] + " " + c.body[:min(len(c.body), 60)])
		if answer.Code != c.status {
			t.Errorf("%s: status %d, want %d: %s", name, answer.Code, c.status, answer.Body)
		}
		input := operationOf(t, document, &c)
		switch err := openapi3filter.ValidateRequest(t.Context(), input); {
		case err != nil && !c.refused:
			t.Errorf("%s: the request is not as described: %v", name, err)
		case err == nil && c.refused:
			t.Errorf("%s: the document allows the request", name)
		}
		status := judgeAnswer(t, name, input, answer)
		seen[input.Route.Method+" "+input.Route.Path+" "+status] = true
	}
	for path, item := range document.Paths.Map() {
		for method, operation := range item.Operations() {
			for status := range operation.Responses.Map() {
				if name := method + " " + path + " " + status; !seen[name] {
					t.Errorf("%s is described and no call has it", name)
				}
			}
		}
	}
}

// judgeAnswer compares an answer with the document, and returns which of the
// operation's statuses it has.
func judgeAnswer(t *testing.T, name string, input *openapi3filter.RequestValidationInput, answer *httptest.ResponseRecorder) (status string) {
	t.Helper()
	body := answer.Body.String()
	err := openapi3filter.ValidateResponse(t.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: answer.Code, Header: answer.Header(),
		Body:    io.NopCloser(strings.NewReader(body)),
		Options: &openapi3filter.Options{IncludeResponseStatus: true},
	})
	if err != nil {
		t.Errorf("%s: the answer is not as described: %v\n%s", name, err, body)
		return ""
	}
	responses := input.Route.Operation.Responses
	response := responses.Status(answer.Code).Value
	if len(response.Content) == 0 && body != "" {
		t.Errorf("%s: the body is not described: %s", name, body)
	}
	told := []string{"Content-Type", "Content-Length"} // HTTP's own
	for field := range response.Headers {
		told = append(told, http.CanonicalHeaderKey(field))
	}
	for field := range answer.Header() {
		if !slices.Contains(told, field) {
			t.Errorf("%s: the field %s is not described", name, field)
		}
	}
	if status = strconv.Itoa(answer.Code); responses.Value(status) == nil {
		status = status[:1] + "XX"
	}
	return status
}

// operationOf finds what the document says of a call.
func operationOf(t *testing.T, document *openapi3.T, c *apiCall) *openapi3filter.RequestValidationInput {
	t.Helper()
	r := httptest.NewRequest(c.method, c.path, strings.NewReader(c.body))
	r.Header.Set("Content-Type", "application/json") // which callers may leave out
	path, method, params := r.URL.Path, c.method, make(map[string]string)
	if rest, ok := strings.CutPrefix(path, "/gateway/"); ok {
		path, params["path"] = "/gateway/{path}", rest
	}
	for _, prefix := range []string{"/v1/keys/", "/v1/overrides/"} {
		if rest, ok := strings.CutPrefix(path, prefix); ok {
			path = prefix + "{policy}/{key}"
			params["policy"], params["key"], _ = strings.Cut(rest, "/")
		}
	}
	if rest, ok := strings.CutPrefix(path, "/v1/members/"); ok {
		path, params["id"] = "/v1/members/{id}", rest
	}
	item := document.Paths.Value(path)
	if item == nil {
		t.Fatalf("%s is not described", path)
	}
	if item.Extensions[anyMethodField] != nil {
		method = http.MethodGet
	}
	operation := item.GetOperation(method)
	if operation == nil {
		t.Fatalf("%s %s is not described", method, path)
	}
	return &openapi3filter.RequestValidationInput{
		Request: r, PathParams: params,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc}, // who may ask is for the answer to say
		Route:   &routers.Route{Spec: document, Path: path, PathItem: item, Method: method, Operation: operation},
	}
}

// apiCalls has every endpoint with each of its statuses.
func apiCalls(t *testing.T) []apiCall {
	t.Helper()
	open := servedBy(t, true)
	guarded := servedBy(t, false, adminToken)
	shut := servedBy(t, false)
	failing := undecidedAPI(t, limiter.SourceFailClosed)
	degraded := undecidedAPI(t, limiter.SourceShare)
	large := strings.Repeat(" ", maxBody)
	const attributes = `{"attributes":{"ip":"203.0.113.9","method":"GET","host":"h","path":"/v1/x","query":{"a":"b"},` +
		`"headers":{"X-Api-Key":"k","X-Plan":"pro"},"cookies":{"c":"d"},"plan":"pro"}}`
	post := func(api http.Handler, path, body string, status int) apiCall {
		return apiCall{api: api, method: "POST", path: path, body: body, status: status}
	}
	refused := func(path, body string, status int) apiCall { return post(open, path, body, status).refuse() }
	named := func(name string) string { return `{"policy":"` + name + `","key":"user:42"}` }
	calls := []apiCall{
		get(open, "/", 200),
		get(open, "/openapi.json", 200),
		get(open, "/livez", 200),
		get(open, "/readyz", 200),
		get(open, "/readyz?verbose", 200),
		get(failing, "/readyz", 503),
		get(failing, "/readyz?verbose", 503),
		get(open, "/metrics", 200),
		get(open, "/v1/policies", 200),
		get(open, "/v1/policies?policy=api", 400),
		get(open, "/v1/cluster", 200),
		get(open, "/v1/cluster?policy=api&key=a", 200),
		get(open, "/v1/cluster?policy=api", 400),
		get(open, "/v1/cluster?policy=none&key=a", 404),
		remove(open, "/v1/members/n2", 200),
		remove(open, "/v1/members/n2?force=1", 200),
		remove(guarded, "/v1/members/n2", 200, withToken...),
		remove(open, "/v1/members/n2?force=2", 400).refuse(),
		remove(guarded, "/v1/members/n2", 401),
		remove(shut, "/v1/members/n2", 403),
		remove(open, "/v1/members/none", 404),
		remove(open, "/v1/members/n1", 409),

		post(open, "/v1/check", named("day"), 200),
		post(open, "/v1/check", named("shadow"), 200),
		post(open, "/v1/check", named("shadow"), 200),
		post(open, "/v1/check", named("queue"), 200),
		post(open, "/v1/check", named("queue"), 200), // with a delay
		post(open, "/v1/check", `{"policy":"day","key":"a","cost":3,"peek":true}`, 200),
		post(open, "/v1/check", `{"policy":"day","key":"a","cost":0}`, 200),
		post(open, "/v1/check", attributes, 200),
		post(open, "/v1/check", `{"attributes":{"path":"/nowhere"}}`, 200),
		post(open, "/v1/check?explain=1", attributes, 200),
		post(open, "/v1/check?explain=1", `{"attributes":{"path":"/v1/status"},"key":"a"}`, 200),
		post(open, "/v1/check", `{"key":"a","limit":{"name":"own","algorithm":"token_bucket","rate":"10/1m","burst":20}}`, 200),
		post(open, "/v1/check", `{"key":"a","limit":{"algorithm":"fixed_window","count":5,"period":"month","align":"calendar","timezone":"America/Sao_Paulo","anchor":5}}`, 200),
		post(degraded, "/v1/check", named("api"), 200),
		post(open, "/v1/check", `{"key":"b","limit":{"algorithm":"sliding_log","rate":"2/h"},"cost":5}`, 429), // never
		post(open, "/v1/check", `{"policy":"once","key":"blocked"}`, 429),
		post(open, "/v1/check", `{"policy":"day"}`, 400),
		post(open, "/v1/check", `{"policy":"none","key":"a"}`, 404),
		post(open, "/v1/check", named("day")+large, 413),
		post(guarded, "/v1/check?explain=1", attributes, 401),
		post(shut, "/v1/check?explain=1", attributes, 403),
		post(failing, "/v1/check", named("api"), 503),
		refused("/v1/check", ``, 400),
		refused("/v1/check", `{"policy":`, 400),
		refused("/v1/check", `[]`, 400),
		refused("/v1/check", `{"key":"a"}`, 400),
		refused("/v1/check", `{"policy":"day","key":""}`, 400),
		refused("/v1/check", `{"policy":"day","key":"a","cost":-1}`, 400),
		refused("/v1/check", `{"policy":"day","key":"a","cost":"1"}`, 400),
		refused("/v1/check", `{"policy":"day","key":"a","polcy":"day"}`, 400),
		refused("/v1/check", `{"policy":"day","key":5}`, 400),
		refused("/v1/check", `{"attributes":{"ip":"nobody"}}`, 400),
		refused("/v1/check", `{"attributes":{"headers":{"a":5}}}`, 400),
		refused("/v1/check", `{"attributes":{"plan":[5]}}`, 400),
		refused("/v1/check", `{"key":"a","limit":{"algorithm":"bucket","rate":"5/s"}}`, 400),
		refused("/v1/check", `{"key":"a","limit":{"algorithm":"token_bucket"}}`, 400),
		refused("/v1/check", `{"key":"a","limit":{"algorithm":"token_bucket","rate":"5/s","brust":5}}`, 400),

		post(open, "/v1/check/batch", `{"checks":[`+named("day")+`,{"policy":"none","key":"a"}]}`, 200),
		refused("/v1/check/batch", `{"checks":[`+named("day")+`,{"key":5}]}`, 200), // though that one is no check
		post(open, "/v1/check/batch?explain=1", `{"checks":[`+named("day")+`]}`, 400),
		refused("/v1/check/batch", `{"checks":[]}`, 400),
		refused("/v1/check/batch", `{}`, 400),
		refused("/v1/check/batch", `{"checks":[`+strings.Repeat(`{"policy":"day","key":"a"},`, maxBatch)+named("day")+`]}`, 400),
		post(open, "/v1/check/batch", `{"checks":[`+named("day")+`]}`+large, 413),

		get(open, "/v1/keys/day/user:42", 200),
		get(open, "/v1/keys/day/a%2Fb", 200),
		get(open, "/v1/keys/api/a", 200),
		get(open, "/v1/keys/api/a?tier=pro", 200),
		get(open, "/v1/keys/api/a?tier=por", 400),
		get(open, "/v1/keys/once/blocked", 200),
		get(open, "/v1/keys/day/a/b", 400),
		get(open, "/v1/keys/none/a", 404),
		get(failing, "/v1/keys/api/a", 503),
		remove(open, "/v1/keys/day/user:42", 200),
		remove(guarded, "/v1/keys/day/user:42", 200, withToken...),
		remove(open, "/v1/keys/day/a/b", 400),
		remove(guarded, "/v1/keys/day/user:42", 401),
		remove(guarded, "/v1/keys/day/user:42", 401, "Authorization", "Bearer of bad news"),
		remove(shut, "/v1/keys/day/user:42", 403),
		remove(open, "/v1/keys/none/a", 404),
		remove(failing, "/v1/keys/api/a", 503),

		get(open, "/gateway", 200, "X-Forwarded-Uri", "/v1/x", "X-Forwarded-Method", "POST", "X-Forwarded-Host", "h"),
		{api: open, method: "POST", path: "/gateway", body: "whatever", status: 200},
		{api: open, method: "BREW", path: "/gateway", status: 200},
		get(degraded, "/gateway", 200),
		get(open, "/gateway?deny_status=403", 200),
		get(open, "/gateway?deny_status=404", 400).refuse(),
		get(open, "/gateway?deny_status=403", 403, "X-Forwarded-Uri", "/429"),
		get(failing, "/gateway", 503),
		{api: open, method: "PUT", path: "/gateway/v1/x?a=b", status: 200},
		get(failing, "/gateway/v1/x", 503),
	}
	for _, status := range deniedWith {
		code := strconv.Itoa(status)
		calls = append(calls,
			post(open, "/v1/check", `{"attributes":{"path":"/`+code+`"}}`, status),
			get(open, "/gateway/"+code, status),
			get(open, "/gateway", status, "X-Forwarded-Uri", "/"+code),
		)
	}
	return slices.Concat(calls, overrideCalls(t, open, guarded, shut, failing), leaseCalls(t, open, failing), settleCalls(t, open, failing))
}

// deniedWith are statuses of which there is a policy that denies with it all
// requests for the path that is named so.
var deniedWith = []int{400, 401, 403, 404, 413, 429, 451, 500, 503}

// servedBy is the API of a real node that is alone.
func servedBy(t *testing.T, openAdmin bool, tokens ...string) http.Handler {
	t.Helper()
	limit := func(name string, a limiter.Algorithm, count int64, period time.Duration) limiter.Limit {
		return limiter.Limit{Name: name, Algorithm: a, Count: count, Period: period}
	}
	policies := []policy.Policy{
		{
			Name: "api", Match: policy.Match{
				Path: "/v1/**", Header: []policy.Field{{Name: "X-Api-Key"}}, Host: "h",
				Attribute: []policy.Field{{Name: "plan", Value: "pro"}}, Query: []policy.Field{{Name: "a"}}, Method: []string{"GET"},
			},
			Key: []string{"header:X-Api-Key | ip"},
			Limits: []limiter.Limit{
				limit("burst", limiter.TokenBucket, 20, time.Second).WithBurst(40),
				limit("minute", limiter.SlidingWindow, 600, time.Minute),
			},
			Tiers: policy.Tiers{By: "header:X-Plan", Sets: []policy.TierSet{
				{Name: "pro", Limits: []limiter.Limit{limit("minute", limiter.SlidingWindow, 6000, time.Minute)}},
			}},
			Overrides: []policy.Override{{Key: "partner", Unlimited: true}},
			Exempt: []policy.Exemption{{
				CIDR: "10.0.0.0/8", Match: policy.Match{
					Path: "/v1/status", Host: "h", Method: []string{"GET"}, Header: []policy.Field{{Name: "A"}},
					Query: []policy.Field{{Name: "b", Value: "c"}}, Attribute: []policy.Field{{Name: "d"}},
				},
			}},
			Cost: policy.Cost{Default: 2, ByMethod: []policy.MethodCost{{Method: "POST", Cost: 5}}, Attr: "units"},
		},
		{Name: "keyed", Match: policy.Match{Path: "/v1/x"}, Key: []string{"header:X-Api-Key | ip"},
			Limits: []limiter.Limit{limit("", limiter.SlidingLog, 100, time.Hour)}},
		{Name: "status", Match: policy.Match{Path: "/v1/status"}, Key: []string{"ip"}, Exempt: []policy.Exemption{{Match: policy.Match{Path: "/v1/status"}}},
			Limits: []limiter.Limit{limit("", limiter.SlidingLog, 100, time.Hour)}},
		{Name: "day", Match: nowhere, Limits: []limiter.Limit{{
			Algorithm: limiter.FixedWindow, Count: 1000, Period: 24 * time.Hour, Align: limiter.AlignCalendar, Calendar: limiter.Day,
		}}},
		{Name: "once", Match: nowhere, Limits: []limiter.Limit{limit("", limiter.SlidingLog, 1, time.Hour)}, Overrides: []policy.Override{{Key: "blocked", Blocked: true}}},
		{Name: "shadow", Match: nowhere, Limits: []limiter.Limit{limit("", limiter.SlidingLog, 1, time.Hour)}, Shadow: true},
		{Name: "queue", Match: nowhere, Limits: []limiter.Limit{limit("", limiter.LeakyBucket, 1, time.Hour).WithBurst(5)}},
	}
	for _, status := range deniedWith {
		code := strconv.Itoa(status)
		policies = append(policies, policy.Policy{
			Name: "denies-" + code, Match: policy.Match{Path: "/" + code}, Key: []string{"global"}, DenyStatus: status,
			Limits: []limiter.Limit{limit("", limiter.SlidingWindow, 0, time.Hour)},
		})
	}
	set, err := policy.NewSet(append(policies, slotPolicies()...)...)
	if err != nil {
		t.Fatal(err)
	}
	node, err := murmurate.Start(t.Context(), murmurate.Options{Alone: true, Policies: set})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := node.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
	keys := 3
	return New(Options{
		Node: node, Explain: node.Explain, Overrides: &fakeOverrides{set: set}, Tokens: tokens, OpenAdmin: openAdmin,
		Fields: Fields{Dialects: []Dialect{IETF, Legacy, X}, RetryAfterDate: len(tokens) > 0},
		Cluster: func(name, key string) (ClusterStatus, error) {
			if name != "" && !slices.Contains(set.Names(), name) {
				return ClusterStatus{}, &policy.InputError{Field: "policy", Detail: "there is none", Unknown: true}
			}
			return ClusterStatus{Self: "n1", Digest: "d", Members: []MemberStatus{
				{ID: "n1", Address: "127.0.0.1:7382", State: "active", Reachable: true, Version: "1", Owned: 0.5, Keys: &keys},
				{ID: "n2", Address: "127.0.0.1:7392", State: "joining", Owned: 0.5},
			}, Owner: key}, nil
		},
		Evict: func(id string, _ bool) error {
			switch id {
			case "n1":
				return fmt.Errorf("%w: it lives", ErrNotEvicted)
			case "none":
				return ErrNoMember
			}
			return nil
		},
		Ready:   func() Readiness { return Readiness{Ready: true, Conditions: []Condition{{Name: "joined", OK: true}}} },
		Metrics: promhttp.HandlerFor(prometheus.NewRegistry(), promhttp.HandlerOpts{}),
	}).Handler()
}

// nowhere keeps a policy out of the checks that do not name it.
var nowhere = policy.Match{Attribute: []policy.Field{{Name: "nobody-says-this"}}}

// undecidedAPI is that of a node whose counters are out of reach.
func undecidedAPI(t *testing.T, source limiter.Source) http.Handler {
	t.Helper()
	p := api()
	p.Key, p.OnUnreachable = []string{"global"}, policy.Deny
	node := newFake(t, p)
	for range p.Limits {
		node.results = append(node.results, limiter.Result{Allowed: source != limiter.SourceFailClosed, Source: source, Limit: 5, Remaining: 1, RetryAfter: time.Second})
	}
	node.err = errors.New("nobody is there")
	node.leaseErr = node.err
	overrides := &fakeOverrides{set: node.set}
	if _, err := overrides.SetOverride("api", "known", policy.Override{Blocked: true}, 0); err != nil {
		t.Fatal(err)
	}
	overrides.err = node.err
	return New(Options{
		Node: node, Overrides: overrides, OpenAdmin: true, Fields: bothDialects,
		Ready: func() Readiness { return Readiness{Conditions: []Condition{{Name: "joined", Detail: "alone"}}} },
	}).Handler()
}
