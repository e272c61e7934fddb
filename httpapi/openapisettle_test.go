package httpapi

import (
	"net/http"
	"strings"
	"testing"
)

// settleCalls are those of apiCalls for receipts, by who is asked.
func settleCalls(t *testing.T, open, failing http.Handler) []apiCall {
	t.Helper()
	given := decoded[struct{ Receipt string }](t, serve(open, "POST", "/v1/check", `{"policy":"day","key":"settled","cost":5,"receipt":true}`)).Receipt
	post := func(api http.Handler, path, body string, status int) apiCall {
		return apiCall{api: api, method: "POST", path: path, body: body, status: status}
	}
	settle := func(receipt, cost string) string { return `{"receipt":"` + receipt + `","cost":` + cost + `}` }
	return []apiCall{
		post(open, "/v1/check", `{"policy":"day","key":"a","cost":3,"receipt":true}`, 200),
		post(open, "/v1/check", `{"policy":"day","key":"a","cost":0,"receipt":true}`, 200),
		post(open, "/v1/check", `{"policy":"day","key":"a","peek":true,"receipt":true}`, 400),
		post(open, "/v1/check/batch", `{"checks":[{"policy":"day","key":"a","receipt":true}]}`, 200),
		post(open, "/v1/settle", settle(given, "7"), 200),
		post(open, "/v1/settle", settle(given, "0"), 200), // for nothing
		post(open, "/v1/settle", settle("forged", "7"), 400),
		post(failing, "/v1/settle", settle("old", "7"), 410),
		post(open, "/v1/settle", settle(given, "7")+strings.Repeat(" ", maxBody), 413),
		post(failing, "/v1/settle", settle("good", "7"), 503),
		post(open, "/v1/settle", settle(given, "-1"), 400).refuse(),
		post(open, "/v1/settle", settle(given, `"7"`), 400).refuse(),
		post(open, "/v1/settle", `{"receipt":"`+given+`"}`, 400).refuse(),
		post(open, "/v1/settle", `{"cost":5}`, 400).refuse(),
		post(open, "/v1/settle", `{"receipt":"`+given+`","cost":1,"policy":"day"}`, 400).refuse(),
	}
}
