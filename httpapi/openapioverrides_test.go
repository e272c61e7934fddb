package httpapi

import (
	"net/http"
	"strings"
	"testing"
)

// overrideCalls are those of apiCalls for the overrides, by who is asked.
func overrideCalls(t *testing.T, open, guarded, shut, failing http.Handler) []apiCall {
	put := func(api http.Handler, path, body string, status int, header ...string) apiCall {
		return apiCall{api: api, method: "PUT", path: path, body: body, status: status, header: header}
	}
	node := newFake(t, api())
	crowded := New(Options{Node: node, Overrides: &fakeOverrides{set: node.set, err: ErrOverridesFull}, OpenAdmin: true}).Handler()
	large := strings.Repeat(" ", maxBody)
	return []apiCall{
		get(open, "/v1/overrides", 200), // there is none yet
		put(open, "/v1/overrides/api/a", `{"limits":[{"name":"burst","rate":"5/s"},{"name":"minute","algorithm":"token_bucket","count":5,"period":"1m"}],"expires_in":"24h"}`, 200),
		put(open, "/v1/overrides/api/b", `{"unlimited":true,"blocked":false}`, 200),
		put(open, "/v1/overrides/day/c%2Fd", `{"limits":[{"rate":"5/month"}]}`, 200),
		put(guarded, "/v1/overrides/api/a", `{"blocked":true,"limits":[]}`, 200, withToken...),
		put(open, "/v1/overrides/none/a", `{"blocked":true}`, 404),
		put(open, "/v1/overrides/api/a/b", `{"blocked":true}`, 400),
		put(open, "/v1/overrides/api/a", `{"blocked":true}`+large, 413),
		put(guarded, "/v1/overrides/api/a", `{"blocked":true}`, 401),
		put(shut, "/v1/overrides/api/a", `{"blocked":true}`, 403),
		put(failing, "/v1/overrides/api/a", `{"blocked":true}`, 503),
		put(crowded, "/v1/overrides/api/a", `{"blocked":true}`, 507),
		put(open, "/v1/overrides/api/a", `{}`, 400).refuse(),
		put(open, "/v1/overrides/api/a", `{"unlimited":true,"blocked":true}`, 400).refuse(),
		put(open, "/v1/overrides/api/a", `{"unlimited":false}`, 400).refuse(),
		put(open, "/v1/overrides/api/a", `{"limits":[]}`, 400).refuse(),
		put(open, "/v1/overrides/api/a", `{"blocked":"yes"}`, 400).refuse(),
		put(open, "/v1/overrides/api/a", `{"blocked":true,"expires_in":24}`, 400).refuse(),
		put(open, "/v1/overrides/api/a", `{"blockd":true,"limits":[{"rate":5}]}`, 400).refuse(), // two errors
		get(open, "/v1/overrides", 200),
		get(open, "/v1/overrides?policy=api", 200),
		get(open, "/v1/overrides?policy=none", 404),
		get(open, "/v1/overrides?key=a", 400),
		get(guarded, "/v1/overrides", 401),
		get(shut, "/v1/overrides", 403),
		get(open, "/v1/overrides/api/a", 200),
		get(open, "/v1/overrides/day/c%2Fd", 200),
		get(open, "/v1/overrides/api/a/b", 400),
		get(open, "/v1/overrides/api/nobody", 404),
		get(guarded, "/v1/overrides/api/a", 401),
		get(shut, "/v1/overrides/api/a", 403),
		remove(failing, "/v1/overrides/api/known", 503),
		remove(open, "/v1/overrides/api/a", 200),
		remove(open, "/v1/overrides/api/a", 404),
		remove(open, "/v1/overrides/api/a/b", 400),
		remove(guarded, "/v1/overrides/api/a", 401),
		remove(shut, "/v1/overrides/api/a", 403),
	}
}
