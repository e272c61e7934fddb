package murmurate

import "errors"

var errNoCertificates = errors.New("murmurate: the node has no peer certificates of its own to replace: start it with Options.TLS")

// SetCertificates puts other certificates in the place of those that
// Options.TLS named, all PEM: the node's own, its key, and the authorities of
// all peers' certificates. The peer connections that are made or accepted from
// now on use them; those that are open stay open.
//
// When the authority changes, let the nodes trust both for a while: first ca
// with the new one added on every node, then the certificates, then ca without
// the old one. The error is of a node that was started without Options.TLS, or
// of what cannot be used together, and changes nothing.
func (n *Node) SetCertificates(cert, key, ca []byte) error {
	if n.certificates == nil {
		return errNoCertificates
	}
	return n.certificates.Replace(cert, key, ca)
}
