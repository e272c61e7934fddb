package httpapi

import (
	"net/http"
	"net/netip"
	"sync/atomic"
)

// unknownKey is the key of requests without an address.
const unknownKey = "unknown"

// prefixBits are how many bits of an address make its key.
type prefixBits struct{ ipv4, ipv6 int }

// defaultPrefixes are one address, and the smallest network that a customer is
// given.
var defaultPrefixes = prefixBits{ipv4: 32, ipv6: 64}

// ClientAddress finds the address of the client behind a request: the peer's,
// unless the peer is a trusted proxy that names another one in the header
// field configured. It is safe for concurrent use.
//
// The field is read from the right, where the nearest proxy wrote: addresses
// of trusted proxies are passed over, and the first other one is the client.
// What stands left of it came with the request and is not looked at, so no
// client chooses its own address. If all are trusted, it is the leftmost. An
// entry that is no address ends the walk; the client is then the last address
// before it. An IPv4 address mapped into IPv6 is that IPv4 address, and ports
// and zones are dropped.
type ClientAddress struct {
	trusted  []netip.Prefix
	header   forwardingHeader
	prefixes prefixBits
	unknown  atomic.Uint64
	unheeded atomic.Uint64
}

// Of returns the address of the client, without zone and never IPv4 mapped
// into IPv6. ok is false if there is none: the connection is no IP connection,
// such as a Unix socket, so nobody knows whether its peer could be trusted.
func (c *ClientAddress) Of(r *http.Request) (addr netip.Addr, ok bool) {
	peer, ok := parseNode(r.RemoteAddr)
	if !ok || !c.trusts(peer) {
		return peer, ok
	}
	return c.walk(r.Header[c.header.name], peer), true
}

// Key returns what the client's calls are counted under: the prefix that its
// address belongs to, such as "203.0.113.9/32" or "2001:db8:1:2::/64", since
// whoever has an IPv6 address has the rest of its network too; or "unknown"
// for all requests without an address, which then share a limit.
func (c *ClientAddress) Key(r *http.Request) string {
	_, key := c.identify(r)
	return key
}

// identify is Of and Key together. Without an address addr is the zero Addr.
func (c *ClientAddress) identify(r *http.Request) (addr netip.Addr, key string) {
	addr, ok := c.Of(r)
	if !ok {
		c.unknown.Add(1)
		return netip.Addr{}, unknownKey
	}
	return addr, c.prefixes.key(addr)
}

// key is the key of an address, which is not IPv4 mapped into IPv6.
func (p prefixBits) key(addr netip.Addr) string {
	bits := p.ipv6
	switch {
	case !addr.IsValid():
		return unknownKey
	case addr.Is4():
		bits = p.ipv4
	}
	return netip.PrefixFrom(addr, bits).Masked().String()
}

// Unknown returns how many times Key was "unknown", for a metric. It only
// grows.
func (c *ClientAddress) Unknown() uint64 { return c.unknown.Load() }

// Unheeded returns how many requests of gateways named a client's address that
// did not count, for a metric: the gateway is not trusted, or names it in another
// field than the one that is looked at. It only grows.
func (c *ClientAddress) Unheeded() uint64 { return c.unheeded.Load() }

func (c *ClientAddress) trusts(addr netip.Addr) bool {
	for _, p := range c.trusted {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}

// walk returns the client that lines, all those of one field, name to a
// trusted peer. The lines are one list, in their order (RFC 9110, section
// 5.3). The work is bounded by their length, once.
func (c *ClientAddress) walk(lines []string, peer netip.Addr) netip.Addr {
	client := peer
	for i := len(lines) - 1; i >= 0; i-- {
		for rest, more := lines[i], true; more; {
			var entry string
			if rest, entry, more = c.header.cutLast(rest); entry == "" {
				continue // empty members of a list count for nothing
			}
			addr, ok := c.header.address(entry)
			if !ok {
				return client
			}
			if client = addr; !c.trusts(addr) {
				return client
			}
		}
	}
	return client
}
