package transport

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"testing"
	"time"

	"github.com/murmurate/murmurate/internal/testcert"
)

// issuer is an authority of a test.
type issuer struct {
	*authority
	pem []byte
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	a, err := newAuthority(key)
	if err != nil {
		t.Fatal(err)
	}
	return &issuer{a, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw})}
}

// issues makes a certificate and its key, for peers if it is for nothing else.
func (i *issuer) issues(t *testing.T, serial int64, use ...x509.ExtKeyUsage) (cert, key []byte) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if use == nil {
		use = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial),
		ExtKeyUsage:  use,
		NotBefore:    time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, i.certificate, public, i.key)
	if err != nil {
		t.Fatal(err)
	}
	return testcert.PEM(t, der, private)
}

// of are certificates of i that trust all that are given.
func (i *issuer) of(t *testing.T, serial int64, trusted ...*issuer) *Certificates {
	t.Helper()
	c := new(Certificates)
	i.replace(t, c, serial, trusted...)
	return c
}

func (i *issuer) replace(t *testing.T, c *Certificates, serial int64, trusted ...*issuer) {
	t.Helper()
	var ca []byte
	for _, other := range trusted {
		ca = append(ca, other.pem...)
	}
	cert, key := i.issues(t, serial)
	if err := c.Replace(cert, key, ca); err != nil {
		t.Fatal(err)
	}
}

// serials are those of the certificates that both ends of a connection show
// each other, if both accept them.
func serials(t *testing.T, server, client *Certificates) (serverShows, clientShows int64, err error) {
	t.Helper()
	l, err := tls.Listen("tcp", "127.0.0.1:0", server.TLS())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	accepted := make(chan error, 1)
	go func() {
		accepted <- func() error {
			conn, err := l.Accept()
			if err != nil {
				return err
			}
			defer conn.Close()
			secured := conn.(*tls.Conn)
			if err := secured.HandshakeContext(t.Context()); err != nil {
				return err
			}
			clientShows = secured.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
			return nil
		}()
	}()
	conn, err := tls.Dial("tcp", l.Addr().String(), client.TLS())
	if err == nil {
		serverShows = conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
		defer conn.Close()
	}
	if refused := <-accepted; err == nil {
		err = refused
	}
	return serverShows, clientShows, err
}

// Both ends show and trust what was put in last, and keep what is sound when
// they are given what is not.
func TestCertificatesAreReplaced(t *testing.T) {
	t.Parallel()
	old, next := newIssuer(t), newIssuer(t)
	server, client := old.of(t, 10, old), old.of(t, 11, old)
	shown := func(step string, wantServer, wantClient int64) {
		t.Helper()
		if s, c, err := serials(t, server, client); err != nil || s != wantServer || c != wantClient {
			t.Errorf("%s: server %d, client %d, %v; want %d and %d", step, s, c, err, wantServer, wantClient)
		}
	}
	shown("at first", 10, 11)
	old.replace(t, server, 20, old, next)
	shown("server renewed", 20, 11)
	next.replace(t, client, 21, old, next)
	shown("client renewed by another authority", 20, 21)
	next.replace(t, server, 30, next)
	shown("server too, without the old authority", 30, 21)

	cert, key := next.issues(t, 40)
	_, other := next.issues(t, 41)
	for name, p := range map[string][3][]byte{
		"another's key": {cert, other, next.pem}, "no key": {cert, nil, next.pem}, "no authority": {cert, key, key}, "half a certificate": {cert[:len(cert)/2], key, next.pem},
	} {
		for _, c := range []*Certificates{server, client} {
			if err := c.Replace(p[0], p[1], p[2]); err == nil {
				t.Errorf("%s: no error", name)
			}
		}
		shown("after "+name, 30, 21)
	}

	old.replace(t, client, 22, next)
	if _, _, err := serials(t, server, client); err == nil {
		t.Error("a client of the authority that was taken away is let in")
	}
	next.replace(t, client, 23, old)
	if _, _, err := serials(t, server, client); err == nil {
		t.Error("a client believes a server of an authority that it does not trust any more")
	}
}

// A session goes on over the replacement of everything that let it in, and
// the next one is made with the new certificates.
func TestSessionsOutlastTheirCertificates(t *testing.T) {
	t.Parallel()
	old, next := newIssuer(t), newIssuer(t)
	server, client := old.of(t, 1, old), old.of(t, 2, old)
	s, c := pair(t, ServerOptions{TLS: server.TLS()}, ClientOptions{TLS: client.TLS()})
	next.replace(t, server, 3, next)
	if _, err := ask(c, time.Minute, call(1, 1)); err != nil || c.Stats().Sessions != 1 {
		t.Errorf("%v after %d sessions", err, c.Stats().Sessions)
	}
	stranger := startClient(t, ClientOptions{Address: s.Addr().String(), TLS: client.TLS()})
	eventually(t, "the old certificate to be refused", func() bool { return s.Stats().Rejected > 0 && stranger.LastError() != nil })
	next.replace(t, client, 4, next)
	eventually(t, "the new one to be accepted by itself", func() bool { return stranger.Reachable() })
}
