package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// pems are files of one group of certificates, and who trusts them.
type pems struct {
	t         *testing.T
	dir       string
	cert, key string
	own       tls.Certificate
	trusted   *x509.CertPool
}

func newPEMs(t *testing.T, serial int64) *pems {
	p := &pems{t: t, dir: t.TempDir()}
	p.cert, p.key = filepath.Join(p.dir, "tls.crt"), filepath.Join(p.dir, "tls.key")
	p.issue(serial, time.Hour)
	return p
}

// issue writes a new certificate and its key.
func (p *pems) issue(serial int64, expiresIn time.Duration) {
	p.t.Helper()
	p.own, p.trusted = selfSigned(p.t, p.cert, p.key, func(c *x509.Certificate) {
		c.SerialNumber, c.NotAfter = big.NewInt(serial), time.Now().Add(expiresIn)
	})
}

// client knows the certificate of now, and makes a connection of its own.
func (p *pems) client() *http.Client {
	return newTestClient(p.t, &tls.Config{RootCAs: p.trusted, Certificates: []tls.Certificate{p.own}})
}

// shown is the serial number of the certificate that an answer came with.
func shown(t *testing.T, client *http.Client, d *daemon) int64 {
	t.Helper()
	return ask(t, client, http.MethodGet, d.url()+"/livez", "").TLS.PeerCertificates[0].SerialNumber.Int64()
}

func (p *pems) settings() string { return fmt.Sprintf("cert: %s, key: %s", p.cert, p.key) }

const onePolicy = "policies: [{name: p, key: [global], limits: [{algorithm: token_bucket, rate: 5/s}]}]\n"

func TestServerCertificateIsRenewed(t *testing.T) {
	t.Parallel()
	p := newPEMs(t, 1)
	f, log, _ := followed(t, onePolicy+"http: {tls: {"+p.settings()+"}}\n")
	first := p.client()
	if got := shown(t, first, f.daemon); got != 1 {
		t.Fatalf("serial %d, want 1", got)
	}
	p.issue(2, time.Hour)
	renewed := p.client()
	f.reload("test")
	if got := shown(t, renewed, f.daemon); got != 2 {
		t.Errorf("a new connection shows %d, want 2", got)
	}
	if got := shown(t, first, f.daemon); got != 1 {
		t.Errorf("the connection from before shows %d, want 1: it was not kept", got)
	}

	if err := os.WriteFile(p.key, []byte("-----BEGIN"), 0o600); err != nil {
		t.Fatal(err)
	}
	log.Reset()
	f.reload("test")
	if got := shown(t, p.client(), f.daemon); got != 2 {
		t.Errorf("with half a key on the disk, %d is shown, want 2", got)
	}
	const place = "murmurate.yaml:2: http.tls.cert: "
	if c := f.reloads.condition(); c.OK || !strings.Contains(c.Detail, place+p.cert+" does not go with the key in "+p.key) {
		t.Errorf("readiness: %+v", c)
	}
	if ok, _ := metricsOf(f.daemon); ok != "0" {
		t.Errorf("metric %s, want 0", ok)
	}
	if !strings.Contains(log.String(), "setting=http.tls.cert") || !strings.Contains(log.String(), p.key) {
		t.Errorf("not in the log: %s", log)
	}

	p.issue(3, -time.Minute)
	log.Reset()
	f.reload("test")
	if ok, _ := metricsOf(f.daemon); ok != "1" || !f.reloads.condition().OK {
		t.Errorf("mended: metric %s, %+v", ok, f.reloads.condition())
	}
	if want := "line=2 setting=http.tls.cert detail=\"" + p.cert + " has expired at "; !strings.Contains(log.String(), want) {
		t.Errorf("no warning of an expired certificate in %s", log)
	}
}

// HTTP/2 is offered after a renewal as before.
func TestRenewedServerSpeaksHTTP2(t *testing.T) {
	t.Parallel()
	p := newPEMs(t, 1)
	f, _, _ := followed(t, onePolicy+"http: {tls: {"+p.settings()+"}}\n")
	for serial := range int64(2) {
		p.issue(serial+1, time.Hour)
		f.reload("test")
		client := p.client()
		client.Transport.(*http.Transport).ForceAttemptHTTP2 = true
		if r := ask(t, client, http.MethodGet, f.url()+"/livez", ""); r.ProtoMajor != 2 {
			t.Errorf("serial %d: %s", serial+1, r.Proto)
		}
	}
}

func TestClientAuthorityIsReplaced(t *testing.T) {
	t.Parallel()
	p, old, next := newPEMs(t, 1), newPEMs(t, 2), newPEMs(t, 3)
	text := func(ca string) string {
		return onePolicy + "http: {tls: {" + p.settings() + ", client_ca: " + ca + "}}\n"
	}
	f, _, put := followed(t, text(old.cert))
	// Of a client that may resume its TLS sessions, as browsers do.
	with := func(who *pems, sessions tls.ClientSessionCache) *http.Client {
		return newTestClient(t, &tls.Config{RootCAs: p.trusted, Certificates: []tls.Certificate{who.own}, ClientSessionCache: sessions})
	}
	refused := func(client *http.Client) bool {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.url()+"/livez", nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(request)
		if err == nil {
			_, _ = io.Copy(io.Discard, response.Body) // or the connection is not used again
			_ = response.Body.Close()
		}
		return err != nil
	}
	sessions := tls.NewLRUClientSessionCache(4)
	kept := with(old, sessions)
	if refused(kept) || !refused(with(next, nil)) {
		t.Fatal("the first authority is not in force")
	}
	put(text(next.cert))
	f.reload("test")
	if refused(kept) {
		t.Error("the connection from before was not kept")
	}
	if refused(with(next, nil)) || !refused(with(old, nil)) || !refused(with(old, sessions)) {
		t.Error("the second authority is not in force")
	}
}

// A fault in a policy does not make a certificate expire.
func TestCertificatesAreRenewedBesideAFault(t *testing.T) {
	t.Parallel()
	p := newPEMs(t, 1)
	tls := "http: {tls: {" + p.settings() + "}}\n"
	f, log, put := followed(t, onePolicy+tls)
	initial := f.node.Policies()
	for serial, text := range map[int64]string{2: "policies: [{name: q}]\n" + tls, 3: "policies: ["} {
		put(text)
		f.reload("test")
		p.issue(serial, time.Hour)
		for range 2 { // sees it, believes it
			if f.watch.Changed() {
				f.reload("test")
			}
		}
		if got := shown(t, p.client(), f.daemon); got != serial {
			t.Errorf("%d is shown, want %d", got, serial)
		}
		if ok, _ := metricsOf(f.daemon); ok != "0" || f.node.Policies() != initial {
			t.Errorf("metric %s, policies %q", ok, f.node.Policies().Names())
		}
	}
	if got := strings.Count(log.String(), "certificates renewed"); got != 2 {
		t.Errorf("renewed %d times, want 2: %s", got, log)
	}
}

func TestPeerCertificateIsRenewed(t *testing.T) {
	t.Parallel()
	p := newPEMs(t, 1)
	f, _, _ := followed(t, onePolicy+"cluster: {tls: {"+p.settings()+", ca: "+p.cert+"}}\n")
	peer := func() int64 {
		conn, err := tls.Dial("tcp", f.node.PeerAddr().String(), &tls.Config{RootCAs: p.trusted, Certificates: []tls.Certificate{p.own}})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		return conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
	}
	for _, serial := range []int64{1, 2, 3} {
		p.issue(serial, time.Hour)
		f.reload("test")
		if got := peer(); got != serial {
			t.Errorf("serial %d, want %d", got, serial)
		}
	}
}
