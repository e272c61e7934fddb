package config

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"strings"
	"testing"
)

// certificate writes a self-signed certificate and its key.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	block := func(kind string, der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	return write(t, "cert.pem", block("CERTIFICATE", der)), write(t, "key.pem", block("PRIVATE KEY", keyDER))
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
