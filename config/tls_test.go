package config

import (
	"crypto/x509"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/murmurate/murmurate/internal/testcert"
)

// certificate writes a certificate and its key.
func certificate(t *testing.T, change ...func(*x509.Certificate)) (cert, key string) {
	t.Helper()
	certPEM, keyPEM := testcert.SelfSigned(t, change...)
	return write(t, "cert.pem", string(certPEM)), write(t, "key.pem", string(keyPEM))
}

func TestTLSFiles(t *testing.T) {
	t.Parallel()
	cert, key := certificate(t)
	_, otherKey := certificate(t)
	const missing = "/no/such/file"
	const unreadable = "the file " + missing + " cannot be read: no such file or directory"
	for _, c := range []struct {
		name, file string
		want       []string
	}{
		{"server", fmt.Sprintf("http: {tls: {cert: %s, key: %s, client_ca: %s}}", cert, key, cert), nil},
		{"peers", fmt.Sprintf("cluster: {tls: {cert: %s, key: %s, ca: %s}}", cert, key, cert), nil},
		{"no key", fmt.Sprintf("http: {tls: {cert: %s}}", cert), []string{"FILE:1: http.tls.key: is required beside cert"}},
		{"no cert", fmt.Sprintf("http: {tls: {key: %s}}", key), []string{"FILE:1: http.tls.cert: is required beside key"}},
		{"client_ca alone", fmt.Sprintf("http: {tls: {client_ca: %s}}", cert), []string{
			"FILE:1: http.tls.client_ca: needs cert and key: client certificates are only asked for over TLS"}},
		{"peers in part", fmt.Sprintf("cluster: {tls: {cert: %s}}", cert), []string{
			"FILE:1: cluster.tls.key: is required: cert, key and ca go together",
			"FILE:1: cluster.tls.ca: is required: cert, key and ca go together"}},
		{"missing files", fmt.Sprintf("cluster:\n tls:\n  cert: %[1]s\n  key: %[1]s\n  ca: %[1]s\n", missing), []string{
			"FILE:3: cluster.tls.cert: " + unreadable,
			"FILE:4: cluster.tls.key: " + unreadable,
			"FILE:5: cluster.tls.ca: " + unreadable}},
		{"another's key", fmt.Sprintf("http: {tls: {cert: %s, key: %s}}", cert, otherKey), []string{
			"FILE:1: http.tls.cert: " + cert + " does not go with the key in " + otherKey + ": tls: private key does not match public key"}},
		{"no certificates", fmt.Sprintf("http: {tls: {cert: %s, key: %s, client_ca: %s}}", cert, key, key), []string{
			"FILE:1: http.tls.client_ca: " + key + " holds no PEM certificate"}},
	} {
		if got, want := faultText(t, Source{File: write(t, "c.yaml", c.file)}), strings.Join(c.want, "\n"); got != want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, want)
		}
	}
}

func TestCertificateWarnings(t *testing.T) {
	t.Parallel()
	from, to := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)
	cert, key := certificate(t, func(c *x509.Certificate) { c.NotBefore, c.NotAfter = from, to })
	later, _ := certificate(t, func(c *x509.Certificate) { c.NotBefore, c.NotAfter = to, to.AddDate(0, 3, 0) })
	var bundle []byte
	for _, file := range []string{cert, later} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		bundle = append(bundle, text...)
	}
	both := write(t, "ca.pem", string(bundle))
	file := write(t, "c.yaml", fmt.Sprintf("http:\n  tls: {cert: %s, key: %s, client_ca: %s}\ncluster:\n  tls:\n    cert: %[1]s\n    key: %s\n    ca: %[1]s\n",
		cert, key, both))
	c := mustLoad(t, Source{File: file})
	renewed, ok := c.WithCertificates()
	if !ok {
		t.Fatal("the certificates cannot be used")
	}
	early := " is not valid before 2026-01-01T00:00:00Z: whoever checks it refuses it until then; compare the clocks"
	late := " has expired at 2026-04-01T00:00:00Z: whoever checks it refuses it; replace it"
	for _, step := range []struct {
		now  time.Time
		want []string
	}{
		{from.Add(-time.Second), []string{"2: http.tls.cert: " + cert + early, "2: http.tls.client_ca: " + both + early,
			"5: cluster.tls.cert: " + cert + early, "7: cluster.tls.ca: " + cert + early}},
		{from, nil},
		{to, nil},
		{to.Add(time.Second), []string{"2: http.tls.cert: " + cert + late, "5: cluster.tls.cert: " + cert + late, "7: cluster.tls.ca: " + cert + late}},
	} {
		for _, c := range []*Config{c, renewed} {
			var got []string
			for _, w := range c.CertificateWarnings(step.now) {
				got = append(got, strings.TrimPrefix(w.String(), file+":"))
			}
			if strings.Join(got, "\n") != strings.Join(step.want, "\n") {
				t.Errorf("%v: got %q, want %q", step.now, got, step.want)
			}
		}
	}
}

// What is handed over is what was judged, or nothing.
func TestCertificatesAreThoseOfTheLoad(t *testing.T) {
	t.Parallel()
	cert, key := certificate(t)
	otherCert, otherKey := certificate(t)
	w := NewWatch(Source{File: write(t, "c.yaml", fmt.Sprintf("http: {tls: {cert: %s, key: %s}}\n", cert, key))})
	c, err := w.Load()
	if err != nil || w.Changed() {
		t.Fatalf("%v, or changed", err)
	}
	move := func(from, to string) {
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	old := string(c.ServerPEM().Cert)
	move(otherCert, cert)
	if _, ok := c.WithCertificates(); ok {
		t.Error("a certificate and the key of another can be used")
	}
	if w.Changed() || !w.Changed() {
		t.Error("the change was not seen, or at first sight")
	}
	if _, err := w.Load(); err == nil {
		t.Error("a certificate and the key of another are loaded")
	}
	move(otherKey, key)
	if w.Changed() || !w.Changed() {
		t.Error("the other change was not seen, or at first sight")
	}
	next, err := w.Load()
	if err != nil {
		t.Fatal(err)
	}
	renewed, ok := c.WithCertificates()
	if !ok || string(renewed.ServerPEM().Cert) != string(next.ServerPEM().Cert) || string(c.ServerPEM().Cert) != old || string(next.ServerPEM().Cert) == old {
		t.Error("the certificate is not the new one, or the first load has lost its own")
	}
	if next.PeerPEM().Cert != nil {
		t.Error("there are certificates for peers")
	}
}
