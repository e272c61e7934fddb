package transport

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

func TestDeriveKey(t *testing.T) {
	t.Parallel()
	key := func(secret, purpose string) []byte {
		k, err := DeriveKey(secret, purpose, 32)
		if err != nil || len(k) != 32 {
			t.Fatalf("%d bytes, %v", len(k), err)
		}
		return k
	}
	gossip := key("s", "gossip")
	if !bytes.Equal(gossip, key("s", "gossip")) {
		t.Error("not the same each time")
	}
	if bytes.Equal(gossip, key("s", "identity")) || bytes.Equal(gossip, key("t", "gossip")) {
		t.Error("purpose or secret makes no difference")
	}
	if _, err := DeriveKey("s", "p", 8161); err == nil {
		t.Error("more bytes than HKDF has")
	}
	if _, err := SecretTLS(""); err == nil {
		t.Error("an empty secret is accepted")
	}
}

func TestSecretTLS(t *testing.T) {
	t.Parallel()
	_, c := pair(t, ServerOptions{TLS: secretTLS(t, "secret")}, ClientOptions{TLS: secretTLS(t, "secret")})
	if _, err := ask(c, time.Minute, call(1, 1)); err != nil {
		t.Error(err)
	}
}

// TestNoCertificateNoEntry: who cannot show a certificate reaches no counter.
func TestNoCertificateNoEntry(t *testing.T) {
	t.Parallel()
	count := &counter{}
	s := startServer(t, ServerOptions{TLS: secretTLS(t, "secret"), Handler: count})
	anonymous := secretTLS(t, "secret")
	anonymous.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &tls.Certificate{}, nil }
	c := startClient(t, ClientOptions{Address: s.Addr().String(), TLS: anonymous})
	eventually(t, "a reason at the client", func() bool { return c.LastError() != nil })
	eventually(t, "a rejection", func() bool { return s.Stats().Rejected > 0 })
	if _, err := ask(c, time.Minute, call(1, 1)); !errors.Is(err, ErrDown) || c.Stats().Sessions != 0 || count.total() != 0 {
		t.Errorf("%v, %+v, %d charged", err, c.Stats(), count.total())
	}
}

// TestCertificatesAreRenewed: two nodes that never restart still accept each
// other after a year, and with clocks a day apart.
func TestCertificatesAreRenewed(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		a, b := secretTLS(t, "secret"), secretTLS(t, "secret")
		m := newMemory()
		startServer(t, ServerOptions{Listener: m, TLS: a})
		first, err := a.GetCertificate(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, later := range []time.Duration{0, renewAfter - time.Second, renewAfter, lifetime, 365 * 24 * time.Hour} {
			time.Sleep(later)
			c := startClient(t, ClientOptions{DialContext: m.dial, TLS: b})
			synctest.Wait()
			if !c.Reachable() {
				t.Errorf("%v later: %v", later, c.LastError())
			}
			c.Close()
			<-c.Done()
		}
		last, err := a.GetCertificate(nil)
		if err != nil || first == last {
			t.Errorf("the certificate was not renewed: %v", err)
		}
		b.Time = func() time.Time { return time.Now().Add(backdated - time.Minute) }
		c := startClient(t, ClientOptions{DialContext: m.dial, TLS: b})
		synctest.Wait()
		if !c.Reachable() {
			t.Errorf("clocks nearly a day apart: %v", c.LastError())
		}
	})
}

func TestCertificateFromAnotherTime(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		config := secretTLS(t, "secret")
		config.Time = func() time.Time { return time.Now().Add(-2 * backdated) }
		m := newMemory()
		startServer(t, ServerOptions{Listener: m, TLS: secretTLS(t, "secret")})
		c := startClient(t, ClientOptions{DialContext: m.dial, TLS: config})
		time.Sleep(handshakeTimeout) // both ends of a pipe may be writing when one gives up
		synctest.Wait()
		if err := c.LastError(); err == nil || !bytes.Contains([]byte(err.Error()), []byte("compare the clocks")) {
			t.Errorf("got %v", err)
		}
	})
}

// pki writes an authority and a certificate of it, and returns the paths.
func pki(t *testing.T, use ...x509.ExtKeyUsage) (cert, key, ca string) {
	t.Helper()
	dir := t.TempDir()
	write := func(name string, text []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	i := newIssuer(t)
	certPEM, keyPEM := i.issues(t, 2, use...)
	return write("cert.pem", certPEM), write("key.pem", keyPEM), write("ca.pem", i.pem)
}

func TestCertificates(t *testing.T) {
	t.Parallel()
	load := func(cert, key, ca string) *tls.Config {
		own, err := LoadCertificates(cert, key, ca)
		if err != nil {
			t.Fatal(err)
		}
		return own.TLS()
	}
	cert, key, ca := pki(t)
	strangerCert, strangerKey, strangerCA := pki(t)
	clientCert, clientKey, clientCA := pki(t, x509.ExtKeyUsageClientAuth)

	_, c := pair(t, ServerOptions{TLS: load(cert, key, ca)}, ClientOptions{TLS: load(cert, key, ca)})
	if _, err := ask(c, time.Minute, call(1, 1)); err != nil {
		t.Error(err)
	}
	for name, test := range map[string]struct{ server, client *tls.Config }{
		"a server of another authority": {load(strangerCert, strangerKey, ca), load(cert, key, ca)},
		"a client of another authority": {load(cert, key, ca), load(strangerCert, strangerKey, ca)},
		"another authority altogether":  {load(cert, key, ca), load(strangerCert, strangerKey, strangerCA)},
		"a server without server usage": {load(clientCert, clientKey, clientCA), load(clientCert, clientKey, clientCA)},
	} {
		s := startServer(t, ServerOptions{TLS: test.server})
		c := startClient(t, ClientOptions{Address: s.Addr().String(), TLS: test.client})
		eventually(t, name, func() bool { return c.LastError() != nil && s.Stats().Rejected > 0 })
		if c.Stats().Sessions != 0 {
			t.Errorf("%s: accepted", name)
		}
	}
	for name, paths := range map[string][3]string{
		"no certificate": {"/nowhere", key, ca},
		"another's key":  {cert, strangerKey, ca},
		"no authority":   {cert, key, "/nowhere"},
		"a key as ca":    {cert, key, key},
	} {
		if _, err := LoadCertificates(paths[0], paths[1], paths[2]); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
