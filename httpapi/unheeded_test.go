package httpapi

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A gateway that is not in trusted_proxies makes one client of all its clients.
func TestUnheededGateways(t *testing.T) {
	t.Parallel()
	const untrusted, misnamed = "is not in http.trusted_proxies", "http.client_ip_header is another"
	for _, c := range []struct {
		why, peer, field string
		header           http.Header
		logged           string // empty: nothing
		gateway          string // in the log
	}{
		{"trusted", "10.0.0.1:80", "", http.Header{"X-Forwarded-For": {"203.0.113.9"}}, "", ""},
		{"trusted, in both fields", "10.0.0.1:80", "", http.Header{"X-Forwarded-For": {"203.0.113.9"}, "Forwarded": {"for=203.0.113.9"}}, "", ""},
		{"names nobody", "127.0.0.1:80", "", http.Header{}, "", ""},
		{"no address", "@", "", http.Header{"X-Forwarded-For": {"203.0.113.9"}}, "", ""},
		{"not trusted", "127.0.0.1:80", "", http.Header{"X-Forwarded-For": {"203.0.113.9"}}, untrusted, "127.0.0.1"},
		{"not trusted, mapped", "[::ffff:192.168.1.1]:80", "", http.Header{"X-Forwarded-For": {"203.0.113.9"}}, untrusted, "192.168.1.1"},
		{"not trusted, in the other field", "127.0.0.1:80", "", http.Header{"Forwarded": {"for=203.0.113.9"}}, untrusted, "127.0.0.1"},
		{"not trusted, and public", "203.0.113.1:80", "", http.Header{"X-Forwarded-For": {"203.0.113.9"}}, untrusted, ""},
		{"the other field", "10.0.0.1:80", "", http.Header{"Forwarded": {"for=203.0.113.9"}}, "in Forwarded, and " + misnamed, "10.0.0.1"},
		{"the other field of the two", "10.0.0.1:80", "forwarded", http.Header{"X-Forwarded-For": {"203.0.113.9"}}, "in X-Forwarded-For, and " + misnamed, "10.0.0.1"},
	} {
		client, err := NewClientAddress(ClientAddressOptions{TrustedProxies: []string{"10.0.0.0/8"}, Header: c.field})
		if err != nil {
			t.Fatal(err)
		}
		var said bytes.Buffer
		h := New(Options{Node: newFake(t), Client: client, Logger: slog.New(slog.NewTextHandler(&said, nil))}).Handler()
		r := httptest.NewRequest(http.MethodGet, "/gateway", nil)
		r.RemoteAddr, r.Header = c.peer, c.header
		h.ServeHTTP(httptest.NewRecorder(), r)
		if got, want := client.Unheeded(), c.logged != ""; got > 0 != want || said.Len() > 0 != want || !strings.Contains(said.String(), c.logged) {
			t.Errorf("%s: %d unheeded, log %q", c.why, got, &said)
		}
		if strings.Contains(said.String(), "203.0.113.") || strings.Contains(said.String(), "gateway="+c.gateway) != (c.gateway != "") {
			t.Errorf("%s: log %q", c.why, &said)
		}
	}
}

// scenario 54: one log line per request filled the disk.
func TestUnheededGatewaysAreLoggedOnceAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var said bytes.Buffer
		a := New(Options{Node: newFake(t), Logger: slog.New(slog.NewTextHandler(&said, nil))})
		for i := range 180 { // one each second
			serve(a.Handler(), "GET", "/gateway", "", "X-Forwarded-For", "203.0.113.9")
			if lines := strings.Count(said.String(), "\n"); lines != i/60+1 {
				t.Fatalf("%d lines after %d s", lines, i)
			}
			time.Sleep(time.Second)
		}
		if text := said.String(); strings.Count(text, "more_since_last_line=59") != 2 || a.client.Unheeded() != 180 {
			t.Errorf("%d requests, log %s", a.client.Unheeded(), text)
		}
	})
}
