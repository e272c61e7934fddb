package transport

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
)

// What a failed connection means to the person who reads the log.
var (
	errNotPeer     = errors.New("the other side does not speak the peer protocol")
	errPeerClosed  = errors.New("the peer closed the connection")
	errPeerPlain   = errors.New("the peer does not speak TLS: it has no cluster secret or certificate, and this node has one")
	errPeerTLS     = errors.New("the peer speaks TLS: it has a cluster secret or certificate, and this node has none")
	errPeerSecret  = errors.New("the peer's certificate was not accepted: it has another cluster secret or authority")
	errOurSecret   = errors.New("the peer did not accept our certificate: it has another cluster secret or authority")
	errPeerExpired = errors.New("the peer's certificate is not valid now: compare the clocks of both nodes")
)

// explain puts what is known about a connection that failed before err. Errors
// that say enough by themselves come back as they are.
func explain(err error) error {
	var notTLS tls.RecordHeaderError
	var unknown x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	var op *net.OpError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF):
		return errPeerClosed
	case errors.As(err, &notTLS):
		return errPeerPlain
	case errors.As(err, &unknown):
		return errPeerSecret
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return fmt.Errorf("%w: %w", errPeerExpired, err)
	case errors.As(err, &op) && op.Op == "remote error": // an alert of the other side (crypto/tls)
		return fmt.Errorf("%w: %w", errOurSecret, err)
	}
	return err
}
