package transport

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
)

// Certificates are an operator's own, for mutual TLS 1.3 between peers, all
// PEM: the node's certificate (usable for servers and for clients), its key,
// and the authorities of all peers' certificates. Peers are known by addresses
// that come from gossip, so host names are not compared: whoever has a
// certificate of an authority is a member. Give the cluster an authority of
// its own.
//
// They can be replaced at any time. Safe for concurrent use.
type Certificates struct{ current atomic.Pointer[credentials] }

// credentials are certificates that belong together.
type credentials struct {
	own     *tls.Certificate
	trusted *x509.CertPool
	server  *tls.Config // of connections that are accepted
}

// LoadCertificates reads the three files.
func LoadCertificates(cert, key, ca string) (*Certificates, error) {
	var contents [3][]byte
	for i, f := range []struct{ what, file string }{{"certificate", cert}, {"key", key}, {"authority", ca}} {
		var err error
		if contents[i], err = os.ReadFile(f.file); err != nil {
			return nil, fmt.Errorf("peer %s: %w", f.what, err)
		}
	}
	c := new(Certificates)
	if err := c.Replace(contents[0], contents[1], contents[2]); err != nil {
		return nil, fmt.Errorf("%w (in %s, %s and %s)", err, cert, key, ca)
	}
	return c, nil
}

// Replace uses other certificates for the connections that are made and
// accepted from now on. Those that are open stay open. The error is of what
// cannot be used together, and changes nothing.
func (c *Certificates) Replace(cert, key, ca []byte) error {
	own, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return fmt.Errorf("peer certificate with its key: %w", err)
	}
	trusted := x509.NewCertPool()
	if !trusted.AppendCertsFromPEM(ca) {
		return errors.New("peer authority: no certificate in PEM format found")
	}
	c.current.Store(&credentials{own: &own, trusted: trusted, server: &tls.Config{
		MinVersion:             tls.VersionTLS13,
		Certificates:           []tls.Certificate{own},
		ClientCAs:              trusted,
		ClientAuth:             tls.RequireAndVerifyClientCert,
		SessionTicketsDisabled: true,
	}})
	return nil
}

// TLS is the configuration for both ends of connections. It stays right when
// the certificates are replaced.
func (c *Certificates) TLS() *tls.Config {
	return &tls.Config{
		MinVersion:           tls.VersionTLS13,
		GetConfigForClient:   func(*tls.ClientHelloInfo) (*tls.Config, error) { return c.current.Load().server, nil },
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return c.current.Load().own, nil },
		// The dialling side checks the chain below, without the host name.
		InsecureSkipVerify: true, //nolint:gosec // VerifyConnection verifies
		VerifyConnection:   func(s tls.ConnectionState) error { return verifyServer(s, c.current.Load().trusted) },
	}
}

// verifyServer checks the chain of the peer that was dialled.
func verifyServer(s tls.ConnectionState, trusted *x509.CertPool) error {
	if len(s.PeerCertificates) == 0 {
		return errors.New("the peer showed no certificate")
	}
	between := x509.NewCertPool()
	for _, c := range s.PeerCertificates[1:] {
		between.AddCert(c)
	}
	_, err := s.PeerCertificates[0].Verify(x509.VerifyOptions{
		Roots:         trusted,
		Intermediates: between,
		KeyUsages:     []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
	return err
}
