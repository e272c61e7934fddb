package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/murmurate/murmurate/config"
	"github.com/murmurate/murmurate/internal/testcert"
)

// startTestDaemon starts a daemon on free ports with more settings in yaml
// lines below http, and ends it with the test.
func startTestDaemon(t *testing.T, settings string) *daemon {
	t.Helper()
	file := filepath.Join(t.TempDir(), "murmurate.yaml")
	if err := os.WriteFile(file, []byte("http:\n"+settings), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(config.Source{File: file, Flags: map[string]any{
		"http.listen": anyPort, "cluster.gossip": anyPort, "cluster.peer": anyPort,
	}})
	if err != nil {
		t.Fatal(err)
	}
	d, err := startDaemon(t.Context(), cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.drain)
	return d
}

// ask sends a request and returns the answer without its body.
func ask(t *testing.T, client *http.Client, method, url, token string) *http.Response {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(io.Discard, response.Body) // or the connection is not used again
	if err := errors.Join(err, response.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return response
}

func newTestClient(t *testing.T, config *tls.Config) *http.Client {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: config}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func TestAdministrationOnItsOwnListener(t *testing.T) {
	t.Parallel()
	d := startTestDaemon(t, "  admin_listen: 127.0.0.1:0\n")
	const path = "/v1/keys/default/me"
	client := newTestClient(t, nil)
	for addr, want := range map[string]int{d.http.Addr().String(): http.StatusForbidden, d.admin.Addr().String(): http.StatusOK} {
		if got := ask(t, client, http.MethodDelete, "http://"+addr+path, "").StatusCode; got != want {
			t.Errorf("reset at %s: status %d, want %d", addr, got, want)
		}
	}
	if list := d.listening(); len(list) != 4 || list[1].Listener != "admin" {
		t.Errorf("listening on %v, want four listeners with admin the second", list)
	}
}

func TestTokensCloseAdministrationOnLoopback(t *testing.T) {
	t.Parallel()
	const token = "a-token-that-is-long-enough-for-anybody"
	d := startTestDaemon(t, "  auth_tokens: ["+token+"]\n")
	client := newTestClient(t, nil)
	for given, want := range map[string]int{"": http.StatusUnauthorized, "another": http.StatusUnauthorized, token: http.StatusOK} {
		if got := ask(t, client, http.MethodDelete, d.url()+"/v1/keys/default/me", given).StatusCode; got != want {
			t.Errorf("reset with token %q: status %d, want %d", given, got, want)
		}
	}
}

// Whoever looks something up by a fingerprint that is none has mistyped it.
func TestSlipsInFingerprintsAreRefused(t *testing.T) {
	t.Parallel()
	d := startTestDaemon(t, "")
	client := newTestClient(t, nil)
	for _, call := range []string{
		"GET /v1/keys/default/fp:zz", "DELETE /v1/keys/default/fp:zz", "GET /v1/cluster?policy=default&key=fp:zz",
	} {
		method, target, _ := strings.Cut(call, " ")
		if got := ask(t, client, method, d.url()+target, "").StatusCode; got != http.StatusBadRequest {
			t.Errorf("%s: status %d", call, got)
		}
	}
}

func TestConfiguredClients(t *testing.T) {
	t.Parallel()
	d := startTestDaemon(t, "  trusted_proxies: [127.0.0.1]\n  client_ip_header: forwarded\n  ipv4_prefix: 24\n")
	client := newTestClient(t, nil)
	for _, step := range []struct{ forwarded, remaining string }{
		{"for=203.0.113.1", "99"},
		{"for=203.0.113.2", "98"},
		{"for=198.51.100.1", "99"},
		{"", "99"},
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.url()+"/gateway", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("X-Forwarded-For", "192.0.2.1") // which is not the field configured
		request.Header.Set("Forwarded", step.forwarded)
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		if err := response.Body.Close(); err != nil {
			t.Fatal(err)
		}
		if got := response.Header.Get("RateLimit-Remaining"); response.StatusCode != http.StatusOK || got != step.remaining {
			t.Errorf("%q: status %d, %s remaining, want %s", step.forwarded, response.StatusCode, got, step.remaining)
		}
	}
}

// What the configuration accepts, the API knows.
func TestConfiguredHeaders(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string][]string{
		"": {"Ratelimit", "Ratelimit-Limit", "Ratelimit-Policy", "Ratelimit-Remaining", "Ratelimit-Reset"},
		"  headers: [ietf, legacy, x, ietf12]\n": {"Ratelimit", "Ratelimit-Limit", "Ratelimit-Policy", "Ratelimit-Remaining", "Ratelimit-Reset",
			"X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset"},
		"  headers: [none]\n": nil,
		"  headers: []\n":     nil,
	} {
		d := startTestDaemon(t, settings)
		if err := headerFields(&d.cfg.HTTP).Validate(); err != nil {
			t.Errorf("%q: %v", settings, err)
		}
		var got []string
		for name := range ask(t, newTestClient(t, nil), http.MethodGet, d.url()+"/v1/keys/default/me", "").Header {
			if strings.Contains(name, "Ratelimit") {
				got = append(got, name)
			}
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", settings, got, want)
		}
	}
}

func TestConfiguredRetryAfter(t *testing.T) {
	t.Parallel()
	for settings, date := range map[string]bool{"": false, "  retry_after: seconds\n": false, "  retry_after: date\n": true} {
		d := startTestDaemon(t, settings)
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.url()+"/v1/check", strings.NewReader(`{"policy":"default","key":"me","cost":100}`))
		if err != nil {
			t.Fatal(err)
		}
		var denied *http.Response
		for range 2 {
			if request.Body, err = request.GetBody(); err != nil {
				t.Fatal(err)
			}
			if denied, err = newTestClient(t, nil).Do(request); err != nil {
				t.Fatal(err)
			}
			if err := denied.Body.Close(); err != nil {
				t.Fatal(err)
			}
		}
		got := denied.Header.Get("Retry-After")
		if _, err := http.ParseTime(got); denied.StatusCode != http.StatusTooManyRequests || (err == nil) != date || got == "" {
			t.Errorf("%q: status %d, Retry-After %q", settings, denied.StatusCode, got)
		}
	}
}

func TestIsLoopback(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]bool{"127.0.0.1": true, "127.9.9.9": true, "::1": true, "::ffff:127.0.0.1": true, "0.0.0.0": false, "::": false, "192.0.2.1": false} {
		if got := isLoopback(&net.TCPAddr{IP: net.ParseIP(addr)}); got != want {
			t.Errorf("isLoopback(%s) = %t, want %t", addr, got, want)
		}
	}
}

// A draining node is not ready, still answers, and has clients reconnect.
func TestDrainingNodeAnswers(t *testing.T) {
	t.Parallel()
	d := startTestDaemon(t, "")
	client := newTestClient(t, nil)
	if r := ask(t, client, http.MethodGet, d.url()+"/readyz", ""); r.StatusCode != http.StatusOK || r.Close {
		t.Fatalf("before: status %d, close %t", r.StatusCode, r.Close)
	}
	d.draining.Store(true)
	for path, want := range map[string]int{"/readyz": http.StatusServiceUnavailable, "/v1/keys/default/me": http.StatusOK} {
		if r := ask(t, client, http.MethodGet, d.url()+path, ""); r.StatusCode != want || !r.Close {
			t.Errorf("%s: status %d, close %t, want %d and true", path, r.StatusCode, r.Close, want)
		}
	}
}

func TestHTTPSWithClientCertificates(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	certificate, pool := selfSigned(t, certFile, keyFile)
	d := startTestDaemon(t, "  tls: {cert: "+certFile+", key: "+keyFile+", client_ca: "+certFile+"}\n")
	if d.scheme() != "https" {
		t.Errorf("scheme %s, want https", d.scheme())
	}
	known := newTestClient(t, &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{certificate}})
	if got := ask(t, known, http.MethodGet, d.url()+"/livez", "").StatusCode; got != http.StatusOK {
		t.Errorf("with a certificate: status %d, want 200", got)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.url()+"/livez", nil)
	if err != nil {
		t.Fatal(err)
	}
	stranger := newTestClient(t, &tls.Config{RootCAs: pool})
	if response, err := stranger.Do(request); err == nil {
		t.Errorf("without a certificate: status %d, want a failed handshake", response.StatusCode)
	}
}

// selfSigned writes a certificate for 127.0.0.1, good for server and client,
// and its key.
func selfSigned(t *testing.T, certFile, keyFile string, change ...func(*x509.Certificate)) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	cert, key := testcert.SelfSigned(t, change...)
	for file, content := range map[string][]byte{certFile: cert, keyFile: key} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	certificate, err := tls.X509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(cert)
	return certificate, pool
}

// A request that outlasts its time does not keep the daemon from ending.
func TestShutdownCutsOffWhoTakesTooLong(t *testing.T) {
	t.Parallel()
	l, err := listenHTTP(t.Context(), anyPort, "--http")
	if err != nil {
		t.Fatal(err)
	}
	began := make(chan struct{})
	f := newFront(slog.New(slog.DiscardHandler))
	f.serve(l, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(began)
		<-r.Context().Done()
	}), nil)
	failed := make(chan error, 1)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+l.Addr().String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	client := newTestClient(t, nil)
	go func() {
		response, err := client.Do(request)
		if err == nil {
			_ = response.Body.Close()
		}
		failed <- err
	}()
	<-began
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.shutdown(over); err == nil {
		t.Error("shutdown says nothing of the request that it cut off")
	}
	if err := <-failed; err == nil {
		t.Error("the request was answered")
	}
}
