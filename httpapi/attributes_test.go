package httpapi

import (
	"net/http"
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// keyed is a policy that makes its keys itself.
func keyed(name string, match policy.Match, key ...string) policy.Policy {
	return policy.Policy{Name: name, Match: match, Key: key, Limits: []limiter.Limit{
		{Algorithm: limiter.TokenBucket, Count: 10, Period: time.Hour}}}
}

func TestAttributesAreRead(t *testing.T) {
	t.Parallel()
	c, err := decodeCheck([]byte(`{"attributes":{"ip":"203.0.113.9","method":"GET","host":"API.example.com:80","path":"/v1/%78",
		"query":{"q":"x y","Q":"z"},"headers":{"x-API-key":"k"},"cookies":{"session":"s","Session":"other"},"plan":"pro","Plan":"free","note":null,"empty":""}}`))
	if err != nil {
		t.Fatal(err)
	}
	a := c.Attributes
	for _, tt := range []struct{ what, got, want string }{
		{"method", a.Method(), "GET"},
		{"host", a.Host(), "API.example.com:80"},
		{"path", a.Path(), "/v1/%78"},
		{"address", a.Addr().String(), "203.0.113.9"},
		{"address key", a.IPKey(), "203.0.113.9/32"},
		{"header", a.Header("X-Api-Key"), "k"},
		{"other header", a.Header("X-Other"), ""},
		{"query", a.Query("q"), "x y"},
		{"query of another case", a.Query("Q"), "z"},
		{"cookie", a.Cookie("session"), "s"},
		{"cookie of another case", a.Cookie("Session"), "other"},
		{"attribute", a.Attr("plan"), "pro"},
		{"attribute of another case", a.Attr("Plan"), "free"},
		{"attribute that is null", a.Attr("note"), ""},
		{"attribute that is empty", a.Attr("empty"), ""},
		{"a member with a meaning of its own", a.Attr("method"), ""},
	} {
		if tt.got != tt.want {
			t.Errorf("%s is %q, want %q", tt.what, tt.got, tt.want)
		}
	}
}

func TestAddressesOfAttributes(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"attributes":{}}`:                                "unknown",
		`{"attributes":{"ip":null}}`:                       "unknown",
		`{"attributes":{"ip":"::ffff:203.0.113.9"}}`:       "203.0.113.9/32",
		`{"attributes":{"ip":"2001:db8:1:2:3:4:5:6"}}`:     "2001:db8:1:2::/64",
		`{"attributes":{"ip":"2001:0DB8:1:2:0:0:0:ffff"}}`: "2001:db8:1:2::/64",
	} {
		c, err := decodeCheck([]byte(body))
		if err != nil || c.Attributes.IPKey() != want {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
	}
}

// Which policies apply, which keys they make, and what is answered.
func TestCheckWithAttributes(t *testing.T) {
	t.Parallel()
	exempting := keyed("exempting", policy.Match{Path: "/static/**"}, "ip")
	exempting.Exempt = []policy.Exemption{{CIDR: "10.0.0.0/8"}}
	h := New(Options{Node: newFake(t,
		keyed("api", policy.Match{Path: "/v1/**"}, "header:X-Api-Key | ip"),
		keyed("posts", policy.Match{Path: "/v1/**", Method: []string{"POST"}}, "ip"),
		keyed("plain", policy.Match{Path: "/plain"}),
		exempting,
	), Fields: bothDialects}).Handler()
	tests := []struct {
		why, body string
		source    string
		limits    []string
	}{
		{"one matches", `{"attributes":{"method":"GET","path":"/v1/x"}}`, "owner", []string{"api"}},
		{"two match", `{"attributes":{"method":"POST","path":"/v1/x"}}`, "owner", []string{"api", "posts"}},
		{"none matches", `{"attributes":{"method":"GET","path":"/"}}`, "none", nil},
		{"exactly the one named", `{"policy":"posts","attributes":{"method":"GET","path":"/"}}`, "owner", []string{"posts"}},
		{"a key where the policy makes none", `{"key":"k","attributes":{"path":"/plain"}}`, "owner", []string{"plain"}},
		{"exempt", `{"attributes":{"ip":"10.1.2.3","path":"/static/x"}}`, "none", nil},
		{"not exempt", `{"attributes":{"ip":"11.1.2.3","path":"/static/x"}}`, "owner", []string{"exempting"}},
		{"null attributes", `{"policy":"plain","key":"k","attributes":null}`, "owner", []string{"plain"}},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			w := serve(h, "POST", "/v1/check", tt.body)
			d := decoded[decisionJSON](t, w)
			if w.Code != http.StatusOK || !d.Allowed || d.Source != tt.source || d.Limits == nil || len(d.Limits) != len(tt.limits) {
				t.Fatalf("status %d: %s", w.Code, w.Body)
			}
			for i, name := range tt.limits {
				if d.Limits[i].Name != name {
					t.Errorf("limit %d is %s, want %s", i, d.Limits[i].Name, name)
				}
			}
			if shown := w.Header().Get("RateLimit") != "" || w.Header().Get("RateLimit-Limit") != ""; shown != (len(tt.limits) > 0) {
				t.Errorf("fields are %v", w.Header())
			}
		})
	}
}

// A caller writes a number of its own as JSON has it, and no quotes around it.
func TestAttributesThatAreNoStrings(t *testing.T) {
	t.Parallel()
	p := keyed("api", policy.Match{Attribute: []policy.Field{{Name: "points", Value: "70"}, {Name: "paid", Value: "true"}}}, "attr:points")
	p.Cost.Attr = "points"
	h := New(Options{Node: newFake(t, p)}).Handler()
	for body, cost := range map[string]int64{
		`{"attributes":{"points":70,"paid":true}}`:     70,
		`{"attributes":{"points":"70","paid":"true"}}`: 70,
		`{"attributes":{"points":70,"paid":false}}`:    1, // no policy matches
	} {
		if got := decoded[decisionJSON](t, serve(h, "POST", "/v1/check", body)); got.Cost != cost || (got.Policy == "api") != (cost == 70) {
			t.Errorf("%s: policy %q, cost %d", body, got.Policy, got.Cost)
		}
	}
}

func TestAttributesInABatch(t *testing.T) {
	t.Parallel()
	node := newFake(t, keyed("api", policy.Match{Path: "/v1/**"}, "ip"))
	w := serve(New(Options{Node: node}).Handler(), "POST", "/v1/check/batch", `{"checks":[
		{"attributes":{"path":"/v1/x","ip":"203.0.113.9"}}, {"attributes":{"path":7}}, {"attributes":{"path":"/"}}]}`)
	got := decoded[batchAnswer](t, w).Results
	if len(got) != 3 || got[0].Policy != "api" || got[2].Source != "none" || !got[2].Allowed {
		t.Fatalf("got %s", w.Body)
	}
	if p := got[1].Error; p == nil || p.Status != http.StatusBadRequest || p.Field != "checks[1].attributes.path" {
		t.Errorf("the second is %+v", p)
	}
}

func TestAttributesRefused(t *testing.T) {
	t.Parallel()
	tests := []struct{ why, body, field, words string }{
		{"no object", `{"attributes":[]}`, "attributes", "must be an object, got an array"},
		{"an object", `{"attributes":{"plan":{"a":"b"}}}`, "attributes.plan", "must be a string, got an object"},
		{"method of another type", `{"attributes":{"method":["GET"]}}`, "attributes.method", "must be a string, got an array"},
		{"headers of another type", `{"attributes":{"headers":"X: y"}}`, "attributes.headers", "must be an object, got a string"},
		{"a header with two values", `{"attributes":{"headers":{"X-A":["b","c"]}}}`, "attributes.headers.X-A", "must be a string, got an array"},
		{"a header twice", `{"attributes":{"headers":{"X-A":"b","x-a":"c"}}}`, "attributes.headers.x-a", "is given twice"},
		{"a parameter twice", `{"attributes":{"query":{"q":"b","\u0071":"c"}}}`, "attributes.query.q", "is given twice"},
		{"an attribute twice", `{"attributes":{"plan":"b","plan":null}}`, "attributes.plan", "is given twice"},
		{"attributes twice", `{"attributes":{},"attributes":{}}`, "attributes", "is given twice"},
		{"half a character", `{"attributes":{"plan":"\ud83d"}}`, "attributes.plan", "surrogate"},
		{"half a character in a name", `{"attributes":{"cookies":{"\ud83d":"x"}}}`, "attributes.cookies", "holds a name that has an escaped surrogate"},
		{"no address", `{"attributes":{"ip":"localhost"}}`, "attributes.ip", `must be an IP address without port and zone, such as 203.0.113.9; leave it out if there is none`},
		{"an empty address", `{"attributes":{"ip":""}}`, "attributes.ip", "leave it out"},
		{"an address with a port", `{"attributes":{"ip":"203.0.113.9:80"}}`, "attributes.ip", "without port"},
		{"an address with a zone", `{"attributes":{"ip":"fe80::1%eth0"}}`, "attributes.ip", "zone"},
		{"beside a limit", `{"key":"a","attributes":{},"limit":{"algorithm":"token_bucket","rate":"5/s"}}`, "attributes", "must be empty when the check brings its own limit"},
		{"no key anywhere", `{"attributes":{}}`, "key", `policy "api" applies and has no key of its own`},
		{"attribute beside them", `{"attributes":{},"plan":"pro"}`, "plan", "is not a field here"},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			node := newFake(t, api())
			wantProblem(t, serve(New(Options{Node: node}).Handler(), "POST", "/v1/check", tt.body), http.StatusBadRequest, tt.field, tt.words)
			if len(node.asked) != 0 {
				t.Errorf("the node was asked %+v", node.asked)
			}
		})
	}
}

// A denial has the status of the policy that denied, with what a policy in
// shadow beside it would have denied left out.
func TestDenyStatus(t *testing.T) {
	t.Parallel()
	forbidding, shadow := keyed("quota", policy.Match{}), keyed("shadow", policy.Match{})
	forbidding.DenyStatus, shadow.Shadow = http.StatusForbidden, true
	node := newFake(t, shadow, forbidding)
	node.results = []limiter.Result{{Limit: 10, RetryAfter: 2 * time.Second, NextUnit: 2 * time.Second}}
	h := New(Options{Node: node}).Handler()
	w := serve(h, "POST", "/v1/check", `{"key":"k","attributes":{}}`)
	if d := decoded[decisionJSON](t, w); w.Code != http.StatusForbidden || len(d.DeniedBy) != 1 || d.DeniedBy[0] != "quota" || w.Header().Get("Retry-After") != "2" {
		t.Errorf("got %d, %s", w.Code, w.Body)
	}
	if w := serve(h, "GET", "/v1/keys/quota/k", ""); w.Code != http.StatusOK {
		t.Errorf("a look at the key is answered with %d", w.Code)
	}
	if w := serve(Middleware(node, ByMethod())(http.NotFoundHandler()), "GET", "/", ""); w.Code != http.StatusForbidden || decoded[problem](t, w).Status != http.StatusForbidden {
		t.Errorf("the middleware answers %d %s", w.Code, w.Body)
	}
	node.results[0].Source = limiter.SourceFailClosed
	forbidding.OnUnreachable = policy.Deny
	closed := newFake(t, forbidding)
	closed.results = node.results
	if w := serve(New(Options{Node: closed}).Handler(), "POST", "/v1/check", `{"policy":"quota","key":"k"}`); w.Code != http.StatusServiceUnavailable {
		t.Errorf("out of reach: got %d", w.Code)
	}
}

// What is nearly a member of every request is not taken for an attribute of
// the caller's own.
func TestMisspeltAttributes(t *testing.T) {
	t.Parallel()
	h := New(Options{Node: newFake(t, api())}).Handler()
	for written, meant := range map[string]string{"Host": "host", "IP": "ip", "header": "headers", "cookie": "cookies", "queries": "query"} {
		w := serve(h, "POST", "/v1/check", `{"key":"k","attributes":{"`+written+`":"x"}}`)
		wantProblem(t, w, 400, "attributes."+written, "write "+meant)
	}
	w := serve(h, "POST", "/v1/check", `{"attributes":{"qurey":{},"pth":"/pts","hots":"h"},"key":"k"}`)
	wantProblem(t, w, 400, "attributes.qurey", "must be a string") // a fault of form comes first
	node := newFake(t, keyed("api", policy.Match{Attribute: []policy.Field{{Name: "hots"}}}, "attr:user"))
	h = New(Options{Node: node}).Handler()
	w = serve(h, "POST", "/v1/check", `{"attributes":{"qurey":"","pth":"/pts","hots":"h"}}`)
	wantProblem(t, w, 400, "attributes.pth", "write path")
	w = serve(h, "POST", "/v1/check/batch", `{"checks":[{"attributes":{"hots":"h","pth":"/pts"}},{"attributes":{"hots":"h","user":"anna"}}]}`)
	got := decoded[batchAnswer](t, w).Results
	if len(got) != 2 || got[0].Error == nil || got[0].Error.Field != "checks[0].attributes.pth" || got[1].Policy != "api" || len(node.asked) != 1 {
		t.Errorf("asked %d times: %s", len(node.asked), w.Body)
	}
}
