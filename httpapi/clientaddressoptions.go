package httpapi

import (
	"errors"
	"fmt"
	"strings"

	"github.com/murmurate/murmurate/policy"
)

// NoProxies is the only one of TrustedProxies where there are none: clients
// connect directly, and forwarding header fields are never believed.
const NoProxies = "none"

// ClientAddressOptions says whose word on a client's address counts.
type ClientAddressOptions struct {
	// TrustedProxies are the proxies that may name another address than
	// their own: addresses and CIDRs, such as 10.0.0.0/8, or [NoProxies]
	// alone. Required, because either guess is wrong somewhere: where nobody
	// is trusted, all clients behind a proxy are one, and where everybody is,
	// each client can call itself whatever it likes.
	TrustedProxies []string
	// Header is the field in which they name it, in any case. Others are not
	// looked at, since clients may have sent those. Empty: "x-forwarded-for".
	// Else "forwarded" (RFC 7239).
	Header string
	// IPv4Prefix and IPv6Prefix are how many bits of an address make its key,
	// up to 32 and 128. 0: 32, one address, and 64, the smallest network that
	// a customer is given.
	IPv4Prefix, IPv6Prefix int
}

// NewClientAddress returns the finder of client addresses. An error lists
// every fault of the options, each beginning with the option's name.
func NewClientAddress(o ClientAddressOptions) (*ClientAddress, error) {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	c := &ClientAddress{prefixes: defaultPrefixes}
	if len(o.TrustedProxies) == 0 {
		fault("TrustedProxies: must be stated: the addresses or CIDRs of the proxies in front, or %q where clients connect directly", NoProxies)
	}
	for i, written := range o.TrustedProxies {
		if written == NoProxies {
			if len(o.TrustedProxies) > 1 {
				fault("TrustedProxies[%d]: %q stands alone: remove it, or all the others", i, NoProxies)
			}
			continue
		}
		p, err := policy.ParseAddressRange(written)
		if err != nil {
			fault("TrustedProxies[%d]: %w", i, err)
			continue
		}
		c.trusted = append(c.trusted, p)
	}
	switch {
	case o.Header == "", strings.EqualFold(o.Header, xForwardedFor.name):
		c.header = xForwardedFor
	case strings.EqualFold(o.Header, forwarded.name):
		c.header = forwarded
	default:
		fault(`Header: must be "x-forwarded-for" or "forwarded", got %q`, o.Header)
	}
	for _, p := range []struct {
		name       string
		bits, most int
		used       *int
	}{
		{"IPv4Prefix", o.IPv4Prefix, 32, &c.prefixes.ipv4},
		{"IPv6Prefix", o.IPv6Prefix, 128, &c.prefixes.ipv6},
	} {
		switch {
		case p.bits < 0 || p.bits > p.most:
			fault("%s: must be 1 to %d, or 0 for %d, got %d", p.name, p.most, *p.used, p.bits)
		case p.bits > 0:
			*p.used = p.bits
		}
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return c, nil
}
