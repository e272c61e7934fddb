package config

import (
	"fmt"

	"github.com/murmurate/murmurate/policy"
)

// clients judges how the address of a client is found.
func (v *validator) clients() {
	h := &v.HTTP
	for i, written := range h.TrustedProxies {
		if _, err := policy.ParseAddressRange(written); err != nil {
			v.report(fmt.Sprintf("http.trusted_proxies[%d]", i), "%v", err)
		}
	}
	v.oneOf("http.client_ip_header", h.ClientIPHeader, clientIPHeaders...)
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
