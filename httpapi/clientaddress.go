package httpapi

import (
	"net/http"
	"net/netip"
)

// ClientAddressOptions says how clients are told apart.
type ClientAddressOptions struct {
	// TrustedProxies are the networks whose forwarding headers count.
	TrustedProxies []string
}

// ClientAddress finds the address of a client.
type ClientAddress struct{}

// NewClientAddress returns a ClientAddress.
func NewClientAddress(ClientAddressOptions) (*ClientAddress, error) {
	return new(ClientAddress), nil
}

// Key is the address of r's client as a prefix.
func (*ClientAddress) Key(r *http.Request) string {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return "unknown"
	}
	return peer.Addr().String() + "/32"
}
