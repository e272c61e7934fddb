package policy

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// AddressBits is how many bits of an address make its key. 0: not known.
type AddressBits struct{ IPv4, IPv6 int }

// of are those of addr.
func (b AddressBits) of(addr netip.Addr) int {
	if addr.Is4() {
		return b.IPv4
	}
	return b.IPv6
}

// misses says why o is for keys that k never makes, or is empty: it may have
// an effect. Without a key of the policy's own, any key can come with a check.
func (k keyMaker) misses(o *Override, bits AddressBits) string {
	written, whole := o.Key, o.Key != ""
	if !whole {
		written = o.KeyPrefix
	}
	if len(k) == 0 {
		return ""
	}
	for _, key := range k.spellings(written, whole) {
		if k.makes(key, whole, bits) {
			return k.mistakenAddress(written)
		}
	}
	const others = "; as it stands it is only for checks that bring such a key themselves"
	switch {
	case k.shared():
		return "is for none, because all share the one key global: write that, or give the policy another key"
	case len(k) > 1 && !joined(written):
		return fmt.Sprintf("is for no key that the policy makes, which has %d parts: write %s, or the beginning of it as key_prefix%s", len(k), k.example(), others)
	case len(k) == 1 && k[0][0].kind == KeyIP && !strings.Contains(written, "&"):
		return fmt.Sprintf("is for no key that an address makes, which is ip=ADDRESS/%d or ip=ADDRESS/%d, compared as text: "+
			"write an address or a network of that size, or the beginning of one as key_prefix%s", bits.IPv4, bits.IPv6, others)
	}
	return fmt.Sprintf("is for no key that the policy makes, which looks like %s%s", k.example(), others)
}

// mistakenAddress says why an address does not mean what it seems to, where
// it is only the second choice for a key, or is empty.
func (k keyMaker) mistakenAddress(written string) string {
	if len(k) != 1 || joined(written) || k[0][0].kind == KeyIP {
		return ""
	}
	if _, err := netip.ParsePrefix(addressKey(written)); err != nil {
		return ""
	}
	for _, s := range k[0][1:] {
		if s.kind == KeyIP {
			return fmt.Sprintf("is for a request whose %s reads like an address, not for the address: write ip=ADDRESS", k[0][0].String())
		}
	}
	return ""
}

// example is a key of k with words for values.
func (k keyMaker) example() string {
	var parts []string
	for i := range k {
		s := &k[i][0]
		part := JoinKey(KeyPart{Kind: s.kind, Name: s.name})
		if s.kind != KeyGlobal {
			part += "=VALUE"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "&")
}

// makes reports whether k can make the joined key, or, if it is not whole,
// one that begins with it. True where it is not known.
func (k keyMaker) makes(key string, whole bool, bits AddressBits) bool {
	parts := strings.Split(key, "&")
	if len(parts) > len(k) || whole && len(parts) < len(k) {
		return false
	}
	for i, part := range parts {
		if !k[i].makes(part, whole || i < len(parts)-1, bits) {
			return false
		}
	}
	return true
}

// makes is that of one part.
func (e keyEntry) makes(part string, whole bool, bits AddressBits) bool {
	for i := range e {
		s := &e[i]
		name := JoinKey(KeyPart{Kind: s.kind, Name: s.name})
		value, valued := strings.CutPrefix(part, name+"=")
		switch {
		case part == name && i == len(e)-1: // what a request makes that has nothing
			return true
		case s.kind == KeyGlobal:
			if !whole && strings.HasPrefix(name, part) {
				return true
			}
		case !whole && strings.HasPrefix(name+"=", part):
			return true
		case valued && value != "" && (s.kind != KeyIP || bits.make(value, whole)):
			return true
		}
	}
	return false
}

// make reports whether an address can have the key value, or one that begins
// with it. True for words, of which one stands for no address.
func (b AddressBits) make(value string, whole bool) bool {
	written, size, sized := strings.Cut(value, "/")
	addr, err := netip.ParseAddr(written)
	switch {
	case err != nil:
		return !sized && value == strings.ToLower(value) // as all letters of an address are
	case !sized:
		return !whole && addr.Unmap() == addr && addr.String() == written
	}
	bits := b.of(addr)
	network := netip.PrefixFrom(addr, bits).Masked()
	switch {
	case bits == 0:
		return true
	case whole:
		return value == network.String()
	}
	return network.Addr() == addr && addr.String() == written && strings.HasPrefix(strconv.Itoa(bits), size)
}
