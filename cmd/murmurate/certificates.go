package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/murmurate/murmurate/config"
)

// certificates are those of the HTTPS listeners. They can be replaced while
// the listeners serve: connections that come later get the new ones.
type certificates struct{ current atomic.Pointer[tls.Config] }

// newCertificates are those of p, nil if it has none: HTTP is then plain.
func newCertificates(p config.PEM) (*certificates, error) {
	if p.Cert == nil {
		return nil, nil
	}
	first, err := serverTLS(p)
	if err != nil {
		return nil, err
	}
	c := new(certificates)
	c.current.Store(first)
	return c, nil
}

// config is what listeners serve with; nil for plain HTTP.
func (c *certificates) config() *tls.Config {
	if c == nil {
		return nil
	}
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return c.current.Load(), nil },
	}
}

// serverTLS is the TLS of an HTTPS server with the certificates p.
func serverTLS(p config.PEM) (*tls.Config, error) {
	certificate, err := tls.X509KeyPair(p.Cert, p.Key)
	if err != nil {
		return nil, fmt.Errorf("http.tls: %w", err)
	}
	c := &tls.Config{
		MinVersion:   tls.VersionTLS12,
		Certificates: []tls.Certificate{certificate},
		NextProtos:   []string{"h2", "http/1.1"}, // net/http adds them only to the configuration that it is given
	}
	if p.CA == nil {
		return c, nil
	}
	c.ClientCAs, c.ClientAuth = x509.NewCertPool(), tls.RequireAndVerifyClientCert
	if !c.ClientCAs.AppendCertsFromPEM(p.CA) {
		return nil, errors.New("http.tls.client_ca: holds no certificate in PEM form")
	}
	c.SessionTicketsDisabled = true // a ticket would let in whose authority has been taken away
	return c, nil
}
