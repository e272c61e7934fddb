package httpapi

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// overridden is the API of a node with two policies and its overrides. Whoever
// calls it may administer.
func overridden(t *testing.T, logger *slog.Logger) (http.Handler, *fakeOverrides) {
	t.Helper()
	monthly := policy.Policy{Name: "lone", Cost: policy.Cost{Default: 3}, Limits: []limiter.Limit{
		{Algorithm: limiter.Quota, Count: 1000, Period: limiter.MaxPeriod / 366 * 30,
			Align: limiter.AlignCalendar, Calendar: limiter.Month, Anchor: 5, Unit: limiter.Bytes, Durable: true},
	}}
	limits := []limiter.Limit{{Algorithm: limiter.SlidingWindow, Count: 5, Period: time.Minute}}
	either := policy.Policy{Name: "either", Key: []string{"header:X-Api-Key | ip"}, Limits: limits}
	tried := policy.Policy{Name: "tried", Shadow: true, Limits: limits}
	node := newFake(t, api(), monthly, either, tried)
	f := &fakeOverrides{set: node.set}
	return New(Options{Node: node, Overrides: f, OpenAdmin: true, Logger: logger}).Handler(), f
}

const fp = "fp:0000000000000000000000000000000" // and one more digit

func TestOverridesAreSetAndRemoved(t *testing.T) {
	t.Parallel()
	h, _ := overridden(t, nil)
	const burst = `"limits":[{"name":"burst","algorithm":"token_bucket","count":200,"period":"1s","burst":400}]`
	for _, step := range []struct {
		method, path, body string
		want               string // of the answer; of a problem, what its detail holds
	}{
		{"GET", "/v1/overrides", "", `{"overrides":[]}`},
		{"GET", "/v1/overrides/api/ab", "", "no override is set"},
		{"DELETE", "/v1/overrides/api/ab", "", "no override is set"},
		{"PUT", "/v1/overrides/api/ab", `{"limits":[{"name":"burst","rate":"200/s","burst":400}],"expires_in":"24h"}`,
			`{"policy":"api","fingerprint":"` + fp + `2",` + burst + `,"unlimited":false,"blocked":false,"in_force":true,"expires_in_ms":86400000,"set_on":"n1"}`},
		{"GET", "/v1/overrides/api/" + fp + "2", "",
			`{"policy":"api","fingerprint":"` + fp + `2",` + burst + `,"unlimited":false,"blocked":false,"in_force":true,"expires_in_ms":86400000,"set_on":"n1"}`},
		{"PUT", "/v1/overrides/lone/a%2F%2Fb", `{"limits":[{"rate":"5k/month"}]}`,
			`{"policy":"lone","fingerprint":"` + fp + `4","limits":[{"algorithm":"quota","count":5000,"period":"month","align":"calendar","anchor":5,"unit":"bytes","durable":true}],"unlimited":false,"blocked":false,"in_force":true,"set_on":"n1"}`},
		{"PUT", "/v1/overrides/api/ab", `{"unlimited":true,"blocked":false,"limits":null,"expires_in":"7d"}`,
			`{"policy":"api","fingerprint":"` + fp + `2","unlimited":true,"blocked":false,"in_force":true,"expires_in_ms":604800000,"set_on":"n1"}`},
		{"PUT", "/v1/overrides/api/" + fp + "9", `{"blocked":true,"limits":[]}`,
			`{"policy":"api","fingerprint":"` + fp + `9","unlimited":false,"blocked":true,"in_force":true,"set_on":"n1"}`},
		{"GET", "/v1/overrides?policy=api", "",
			`{"overrides":[{"policy":"api","fingerprint":"` + fp + `2","unlimited":true,"blocked":false,"in_force":true,"expires_in_ms":604800000,"set_on":"n1"},` +
				`{"policy":"api","fingerprint":"` + fp + `9","unlimited":false,"blocked":true,"in_force":true,"set_on":"n1"}]}`},
		{"DELETE", "/v1/overrides/api/ab", "",
			`{"policy":"api","fingerprint":"` + fp + `2","unlimited":true,"blocked":false,"in_force":true,"expires_in_ms":604800000,"set_on":"n1"}`},
		{"GET", "/v1/overrides/api/ab", "", "no override is set"},
		{"DELETE", "/v1/overrides/api/" + fp + "9", "", `{"policy":"api","fingerprint":"` + fp + `9","unlimited":false,"blocked":true,"in_force":true,"set_on":"n1"}`},
		{"GET", "/v1/overrides?policy=api", "", `{"overrides":[]}`},
	} {
		w := serve(h, step.method, step.path, step.body)
		if !strings.HasPrefix(step.want, "{") {
			wantProblem(t, w, http.StatusNotFound, "", step.want)
			continue
		}
		if got := strings.TrimSpace(w.Body.String()); w.Code != http.StatusOK || got != step.want || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s %s %s: %d\n got %s\nwant %s", step.method, step.path, step.body, w.Code, got, step.want)
		}
	}
}

func TestOverrideFaults(t *testing.T) {
	t.Parallel()
	h, f := overridden(t, nil)
	for _, c := range []struct {
		path, body string
		status     int
		want       string // how the faults begin, each as field: detail on a line
	}{
		{"api/k", ``, 400, `: is empty: send a JSON object such as {"blocked":true`},
		{"api/k", `[]`, 400, ": must be an object, got an array"},
		{"api/k", `{}`, 400, ": needs limits, or unlimited: true, or blocked: true"},
		{"api/k", `{"unlimited":false}`, 400, ": needs limits"},
		{"api/k", `{"unlimited":true,"blocked":true}`, 400, ": give one of limits"},
		{"api/k", `{"unlimitd":true}`, 400, `unlimitd: is not a field here; did you mean "unlimited"?`},
		{"api/k", `{"unlimitd":null,"blocked":true}`, 400, `unlimitd: is not a field here`},
		{"api/k", `{"blocked":true,"blocked":true}`, 400, `blocked: is given twice`},
		{"api/k", `{"blocked":true,"expires_in":24}`, 400, `expires_in: must be a string, got a number`},
		{"api/k", `{"blocked":true,"expires_in":"24"}`, 400, `expires_in: needs a unit`},
		{"api/k", `{"blocked":true,"expires_in":"-1h"}`, 400, `expires_in: must not be negative`},
		{"api/k", `{"blocked":true,"expires_in":"0s"}`, 400, `expires_in: must be more than 0`},
		{"api/k", `{"blocked":true,"expires_in":""}`, 400, `expires_in: must be a duration`},
		{"api/k", `{"blocked":true,"expires_in":"367d"}`, 400, `expires_in: must be at most 366 days`},
		{"api/k", `{"blocked":true,"expires_in":"366d1s"}`, 400, `expires_in: must be at most 366 days`},
		{"api/k", `{"expires_in":"5"}`, 400, "expires_in: needs a unit\n: needs limits"},
		{"api/k", `{"limits":{}}`, 400, `limits: must be an array, got an object`},
		{"api/k", `{"limits":["burst"]}`, 400, "limits[0]: must be an object, got a string\nlimits[0].name: is required"},
		{"api/k", `{"limits":[{"name":"brust","rate":"1/s"}]}`, 400, `limits[0].name: must be that of one of the policy's limits (burst, minute), got "brust" (did you mean "burst"?)`},
		{"api/k", `{"limits":[{"rate":"1/s"}]}`, 400, `limits[0].name: is required`},
		{"api/k", `{"limits":[{"name":"burst","rate":"1/s"},{"name":"burst","rate":"2/s"}]}`, 400, `limits[1].name: "burst" is replaced already`},
		{"api/k", `{"limits":[{"name":"burst","rate":"1","burts":2,"burst":"x"},{"name":"mintue","rate":"9/m"}],"blockd":true,"expires_in":"1"}`, 400,
			"limits[0].burts: is not a field here\nlimits[0].burst: must be a whole number\nlimits[1].rate: the period \"m\" could be\n" +
				"blockd: is not a field here\nexpires_in: needs a unit\nlimits[1].name: must be that of"},
		{"lone/k", `{"limits":[{"rate":"2/month"}]}`, 400, `limits: the policy's cost.default of 3 is more than limit "lone" can ever hold (2)`},
		{"apj/k", `{"blocked":true}`, 404, `policy: there is no policy "apj" (did you mean "api"?)`},
		{"api/fp:zz", `{"blocked":true}`, 400, `key: begins like a fingerprint`},
		{"api/a/b", `{"blocked":true}`, 400, `key: must have its slashes escaped`},
		{"api/", `{"blocked":true}`, 400, `key: must not be empty`},
	} {
		w := serve(h, "PUT", "/v1/overrides/"+c.path, c.body)
		p := decoded[problem](t, w)
		faults := p.Errors
		if len(faults) == 0 {
			faults = []fieldFault{{p.Field, strings.TrimPrefix(strings.TrimPrefix(p.Detail, "the body "), p.Field+": ")}}
		}
		want := strings.Split(c.want, "\n")
		if w.Code != c.status || len(faults) != len(want) || p.Field != faults[0].Field {
			t.Errorf("%s: %d %s\nwant %d %s", c.body, w.Code, w.Body, c.status, c.want)
			continue
		}
		for i, f := range faults {
			if got := f.Field + ": " + f.Detail; !strings.HasPrefix(got, want[i]) || !strings.Contains(p.Detail, f.Detail) {
				t.Errorf("%s:\n got %s\nwant %s\nin %s", c.body, got, want[i], p.Detail)
			}
		}
	}
	if all := f.Overrides(); len(all) > 0 {
		t.Errorf("set all the same: %+v", all)
	}
	for _, path := range []string{"api/fp:zz", "api/a/b", "apj/k", "api/"} {
		for _, method := range []string{"GET", "DELETE"} {
			if w := serve(h, method, "/v1/overrides/"+path, ""); w.Code/100 != 4 || w.Code == 405 {
				t.Errorf("%s %s: %d %s", method, path, w.Code, w.Body)
			}
		}
	}
	wantProblem(t, serve(h, "GET", "/v1/overrides?policy=apj", ""), 404, "policy", `did you mean "api"?`)
	wantProblem(t, serve(h, "PUT", "/v1/overrides/api", `{"blocked":true}`), 404, "", "there is no such path")
}

// Overrides of a policy that the configuration has no more can still be seen,
// and removed.
func TestOverridesOfAPolicyThatIsGone(t *testing.T) {
	t.Parallel()
	h, f := overridden(t, nil)
	if _, err := f.SetOverride("gone", "k", policy.Override{Blocked: true}, 0); err != nil {
		t.Fatal(err)
	}
	for _, call := range []string{"GET /v1/overrides?policy=gone", "GET /v1/overrides/gone/k", "DELETE /v1/overrides/gone/k"} {
		method, path, _ := strings.Cut(call, " ")
		if w := serve(h, method, path, ""); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"blocked":true,"in_force":false`) {
			t.Errorf("%s: %d %s", call, w.Code, w.Body)
		}
	}
}

func TestOverridesAreAdministration(t *testing.T) {
	t.Parallel()
	node := newFake(t, api())
	a := New(Options{Node: node, Overrides: &fakeOverrides{set: node.set}, Tokens: []string{"t"}})
	for _, call := range []string{"GET /v1/overrides", "GET /v1/overrides/api/k", "PUT /v1/overrides/api/k", "DELETE /v1/overrides/api/k"} {
		method, path, _ := strings.Cut(call, " ")
		wantProblem(t, serve(a.Handler(), method, path, `{"blocked":true}`), http.StatusUnauthorized, "", "http.auth_tokens")
		wantProblem(t, serve(a.Public(), method, path, `{"blocked":true}`, "Authorization", "Bearer t"), http.StatusForbidden, "", "http.admin_listen")
		if w := serve(a.Handler(), method, path, `{"blocked":true}`, "Authorization", "Bearer t"); w.Code == http.StatusUnauthorized {
			t.Errorf("%s with a token: %d", call, w.Code)
		}
	}
	without := New(Options{Node: node, OpenAdmin: true}).Handler()
	wantProblem(t, serve(without, "GET", "/v1/overrides", ""), http.StatusNotFound, "", "there is no such path")
}

// The log says what happened to whom, without the key.
func TestOverridesInTheLog(t *testing.T) {
	t.Parallel()
	var logged bytes.Buffer
	h, f := overridden(t, slog.New(slog.NewTextHandler(&logged, nil)))
	const path = "/v1/overrides/api/secret-key"
	serve(h, "PUT", path, `{"blocked":true,"expires_in":"90m"}`)
	serve(h, "PUT", path+"-2", `{"blocked":true}`)
	serve(h, "PUT", "/v1/overrides/either/203.0.113.0%2F24", `{"blocked":true}`)
	f.err = errors.New("the disk is full")
	wantProblem(t, serve(h, "PUT", path, `{"unlimited":true}`), 503, "", "not set: the disk is full")
	wantProblem(t, serve(h, "DELETE", path, ""), 503, "", "not removed: the disk is full")
	f.err = &policy.InputError{Field: "override.limits[0].name", Detail: "is gone since"}
	wantProblem(t, serve(h, "PUT", path, `{"unlimited":true}`), 400, "limits[0].name", "limits[0].name: is gone since")
	f.err = nil
	serve(h, "DELETE", path, "")
	for _, want := range []string{
		`level=INFO msg="override set" policy=api fingerprint=fp:0000000000000000000000000000000a expires_in=1h30m0s`,
		`level=INFO msg="override set" policy=api fingerprint=fp:0000000000000000000000000000000c` + "\n",
		`level=WARN msg="override may not do what is meant" policy=either fingerprint=fp:0000000000000000000000000000000e warning="the override is for a request`,
		`level=WARN msg="override not set" policy=api error="the disk is full"`,
		`level=WARN msg="override not removed" policy=api error="the disk is full"`,
		`level=INFO msg="override removed" policy=api fingerprint=fp:0000000000000000000000000000000a`,
	} {
		if !strings.Contains(logged.String(), want) {
			t.Errorf("no %s in the log:\n%s", want, &logged)
		}
	}
	if strings.Contains(logged.String(), "secret-key") || strings.Contains(logged.String(), "203.0.113.0") {
		t.Errorf("the log holds the key:\n%s", &logged)
	}
}

// Who blocks a key hears at once that it is nobody's.
func TestOverridesThatMatchNobody(t *testing.T) {
	t.Parallel()
	h, _ := overridden(t, nil)
	for _, c := range []struct {
		path, body string
		want       string // what the answer holds
	}{
		{"either/k", `{"blocked":true}`, ""},
		{"either/ip=203.0.113.9", `{"blocked":true}`, ""},
		{"either/ip=203.0.113.0%2F24", `{"blocked":true}`, `"warnings":["the override is for no key that the policy makes, which looks like header:x-api-key=VALUE, where an address is ip=203.0.113.9/32 or ip=2001:db8:1:2::/64;`},
		{"either/203.0.113.9", `{"unlimited":true}`, `"warnings":["the override is for a request whose header:X-Api-Key reads like an address`},
		{"tried/k", `{"blocked":true}`, `"warnings":["the policy is in shadow`},
		{"tried/k", `{"unlimited":true}`, ""},
	} {
		w := serve(h, "PUT", "/v1/overrides/"+c.path, c.body)
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), c.want) || strings.Contains(w.Body.String(), "warnings") != (c.want != "") {
			t.Errorf("%s %s: %d %s", c.path, c.body, w.Code, w.Body)
		}
	}
	if w := serve(h, "GET", "/v1/overrides", ""); strings.Contains(w.Body.String(), "warnings") {
		t.Errorf("the list: %s", w.Body)
	}
}
