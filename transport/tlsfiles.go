package transport

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
)

// FilesTLS makes the configuration, for both ends of a connection, of mutual
// TLS 1.3 with the operator's own certificates, all PEM: the node's
// certificate (usable for servers and for clients), its key, and the
// authority of all peers' certificates. Peers are known by addresses that
// come from gossip, so host names are not compared: whoever has a
// certificate of the authority is a member. Give the cluster an authority of
// its own.
func FilesTLS(cert, key, ca string) (*tls.Config, error) {
	own, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("peer certificate %s with key %s: %w", cert, key, err)
	}
	pem, err := os.ReadFile(ca) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, fmt.Errorf("peer authority: %w", err)
	}
	trusted := x509.NewCertPool()
	if !trusted.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("peer authority %s: no certificate in PEM format found", ca)
	}
	return &tls.Config{
		MinVersion:             tls.VersionTLS13,
		Certificates:           []tls.Certificate{own},
		ClientCAs:              trusted,
		ClientAuth:             tls.RequireAndVerifyClientCert,
		SessionTicketsDisabled: true,
		// The dialling side checks the chain below, without the host name.
		InsecureSkipVerify: true, //nolint:gosec // VerifyConnection verifies
		VerifyConnection:   func(s tls.ConnectionState) error { return verifyServer(s, trusted) },
	}, nil
}

// verifyServer checks the chain of the peer that was dialled. On the
// accepting side crypto/tls has checked the client's already, and left the
// verified chains.
func verifyServer(s tls.ConnectionState, trusted *x509.CertPool) error {
	if len(s.VerifiedChains) > 0 {
		return nil
	}
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
