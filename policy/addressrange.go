package policy

import (
	"fmt"
	"net/netip"
)

// ParseAddressRange reads an address, which is a range of one, or a CIDR. A
// range of IPv4 addresses mapped into IPv6 becomes that of the IPv4
// addresses. The error says what would be right, without naming a field.
func ParseAddressRange(written string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(written); err == nil && addr.Zone() == "" {
		addr = addr.Unmap()
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	p, err := netip.ParsePrefix(written)
	if err != nil {
		return p, fmt.Errorf("must be an address without zone, or a CIDR such as 10.0.0.0/8, got %q", clip(written))
	}
	if p != p.Masked() {
		return p, fmt.Errorf("%s is not where its range begins: write %s for the range, or %s for the one address", p, p.Masked(), p.Addr())
	}
	if p.Addr().Is4In6() {
		return netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96), nil
	}
	return p, nil
}
