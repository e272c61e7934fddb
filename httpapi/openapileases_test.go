package httpapi

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// slotPolicies are those of servedBy with slots: one, and none with statuses of
// their own.
func slotPolicies() []policy.Policy {
	of := func(name string, count int64, status int) policy.Policy {
		return policy.Policy{Name: name, Match: nowhere, DenyStatus: status, Limits: []limiter.Limit{
			{Name: "slots", Algorithm: limiter.Concurrency, Count: count, Period: time.Minute},
			{Name: "month", Algorithm: limiter.Quota, Count: 1000, Period: 30 * 24 * time.Hour, Unit: limiter.Tokens},
		}}
	}
	return []policy.Policy{of("slots", 1, 0), of("no-slots", 0, 451), of("broken-slots", 0, 500)}
}

// leaseCalls are those of apiCalls for leases, by who is asked.
func leaseCalls(t *testing.T, open, failing http.Handler) []apiCall {
	t.Helper()
	lapsed := decoded[struct{ Lease string }](t, serve(open, "POST", "/v1/acquire", `{"policy":"slots","key":"lapsed"}`)).Lease
	held := decoded[struct{ Lease string }](t, serve(open, "POST", "/v1/acquire", `{"policy":"slots","key":"held"}`)).Lease
	large := strings.Repeat(" ", maxBody)
	post := func(api http.Handler, path, body string, status int) apiCall {
		return apiCall{api: api, method: "POST", path: path, body: body, status: status}
	}
	leased := func(lease string) string { return `{"lease":"` + lease + `"}` }
	return []apiCall{
		post(open, "/v1/acquire", `{"policy":"slots","key":"a","cost":3,"ttl_ms":5000}`, 200),
		post(open, "/v1/acquire", `{"policy":"slots","key":"a"}`, 429),
		post(open, "/v1/acquire", `{"key":"a","limit":{"algorithm":"concurrency","count":2,"ttl":"5s"}}`, 200),
		post(open, "/v1/acquire", `{"attributes":{"path":"/nowhere"}}`, 200),
		post(open, "/v1/acquire", `{"policy":"no-slots","key":"a"}`, 451),
		post(open, "/v1/acquire", `{"policy":"broken-slots","key":"a"}`, 500),
		post(open, "/v1/acquire", `{"policy":"day","key":"a"}`, 400), // has no slots
		post(open, "/v1/acquire", `{"policy":"slots","key":"a","ttl_ms":3600000}`, 400),
		post(open, "/v1/acquire", `{"policy":"none","key":"a"}`, 404),
		post(open, "/v1/acquire", `{"policy":"slots","key":"a"}`+large, 413),
		post(failing, "/v1/acquire", `{"policy":"api","key":"a"}`, 503),
		post(open, "/v1/acquire", `{"policy":"slots","key":"receipt","cost":0,"receipt":true}`, 200),
		post(open, "/v1/acquire", `{"policy":"slots","key":"a","cost":0}`, 400), // without a receipt
		post(open, "/v1/acquire", `{"policy":"slots","key":"a","peek":true}`, 400).refuse(),
		post(open, "/v1/acquire", `{"policy":"slots","key":"a","ttl_ms":0}`, 400).refuse(),
		post(open, "/v1/acquire", `{"policy":"slots","key":"a","ttl_ms":"5s"}`, 400).refuse(),
		post(open, "/v1/acquire", `{"key":"a","limit":{"algorithm":"concurrency"}}`, 400).refuse(),
		post(open, "/v1/acquire", `{"key":"a","limit":{"algorithm":"token_bucket","count":2}}`, 400).refuse(),
		get(open, "/v1/policies", 200), // with their limits
		get(open, "/v1/keys/slots/a", 200),

		post(open, "/v1/renew", leased(held), 200),
		post(open, "/v1/renew", `{"lease":"`+held+`","ttl_ms":1000}`, 200),
		post(open, "/v1/renew", `{"lease":"`+held+`","ttl_ms":3600000}`, 400),
		remove(open, "/v1/keys/slots/lapsed", 200),
		post(open, "/v1/renew", leased(lapsed), 410),
		post(open, "/v1/renew", leased("forged"), 400),
		post(open, "/v1/renew", leased(held)+large, 413),
		post(failing, "/v1/renew", leased("a-token"), 503),
		post(open, "/v1/renew", `{}`, 400).refuse(),
		post(open, "/v1/renew", leased(""), 400).refuse(),
		post(open, "/v1/renew", `{"lease":"`+held+`","key":"held"}`, 400).refuse(),

		post(open, "/v1/release", leased(held), 200),
		post(open, "/v1/release", leased(held), 200),
		post(failing, "/v1/release", leased("a-token"), 200), // later
		post(open, "/v1/release", leased("forged"), 400),
		post(open, "/v1/release", leased(held)+large, 413),
		post(open, "/v1/release", `{"lease":"`+held+`","ttl_ms":1000}`, 400).refuse(),
	}
}
