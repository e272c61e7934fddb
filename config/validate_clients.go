package config

import (
	"fmt"
	"net/netip"
)

// clients judges how the address of a client is found.
func (v *validator) clients() {
	h := &v.HTTP
	for i, written := range h.TrustedProxies {
		if err := checkNetwork(written); err != nil {
			v.report(fmt.Sprintf("http.trusted_proxies[%d]", i), "%v", err)
		}
	}
	v.oneOf("http.client_ip_header", h.ClientIPHeader, "x-forwarded-for", "forwarded")
	for _, p := range []struct {
		path       string
		bits, most int
	}{
		{"http.ipv4_prefix", h.IPv4Prefix, 32},
		{"http.ipv6_prefix", h.IPv6Prefix, 128},
	} {
		if p.bits < 1 || p.bits > p.most {
			v.report(p.path, "must be 1 to %d, got %d", p.most, p.bits)
		}
	}
}

// checkNetwork returns an error unless written is an address or a CIDR.
func checkNetwork(written string) error {
	if addr, err := netip.ParseAddr(written); err == nil && addr.Zone() == "" {
		return nil
	}
	p, err := netip.ParsePrefix(written)
	if err != nil {
		return fmt.Errorf("must be an address without zone, or a CIDR such as 10.0.0.0/8, got %q", printable(written))
	}
	if p != p.Masked() {
		return fmt.Errorf("%s is not where its range begins: write %s for the range, or %s for the one address", p, p.Masked(), p.Addr())
	}
	return nil
}
