package policy

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
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
	if len(k) == 0 || fingerprint(written) {
		return ""
	}
	for _, key := range k.spellings(written, whole) {
		if k.makes(key, whole, bits) {
			return k.mistaken(written, bits)
		}
	}
	const others = "; as it stands it is only for checks that bring such a key themselves"
	switch {
	case k.shared():
		return "is for none, because all share the one key global: write that, or give the policy another key"
	case len(k) > 1 && !joined(written):
		return fmt.Sprintf("is for no key that the policy makes, which has %d parts: write %s, or in the configuration the beginning of it as key_prefix%s",
			len(k), k.example(bits), others)
	case len(k) == 1 && k[0][0].kind == KeyIP && !strings.Contains(written, "&"):
		return fmt.Sprintf("is for no key that an address makes, which looks like %s, compared as text: "+
			"write an address or a network of that size, or in the configuration the beginning of one as key_prefix%s", bits.examples(), others)
	}
	return fmt.Sprintf("is for no key that the policy makes, which looks like %s%s", k.example(bits), others)
}

// mistaken says why a value alone, which is the first source's, does not mean
// what it seems to, or is empty: it reads like an address, which is only the
// second choice for a key, or begins with the name of a source.
func (k keyMaker) mistaken(written string, bits AddressBits) string {
	if len(k) != 1 || joined(written) {
		return ""
	}
	first := k[0][0].String()
	_, err := netip.ParsePrefix(addressKey(written))
	for i, s := range k[0] {
		switch {
		case err == nil && i > 0 && s.kind == KeyIP:
			return fmt.Sprintf("is for a request whose %s reads like an address, not for the address: write it like %s", first, bits.examples())
		case s.kind != KeyGlobal && (named(written, s.name) || named(written, s.String())):
			return fmt.Sprintf("is for a request whose %s begins with the name %s: write %s=VALUE", first, s.String(), JoinKey(KeyPart{Kind: s.kind, Name: s.name}))
		}
	}
	return ""
}

// named reports whether written begins with a name, in any case, and the mark
// that would set a value off.
func named(written, name string) bool {
	return name != "" && len(written) > len(name) && strings.EqualFold(written[:len(name)], name) && strings.ContainsRune(":=", rune(written[len(name)]))
}

// example is a key of k with words for values, and what an address is in it.
func (k keyMaker) example(bits AddressBits) string {
	var parts []string
	address := false
	for _, entry := range k {
		s := &entry[0]
		part := JoinKey(KeyPart{Kind: s.kind, Name: s.name})
		if s.kind != KeyGlobal {
			part += "=VALUE"
		}
		parts = append(parts, part)
		address = address || slices.ContainsFunc(entry, func(s source) bool { return s.kind == KeyIP })
	}
	example := strings.Join(parts, "&")
	if address {
		example += ", where an address is " + bits.examples()
	}
	return example
}

// examples are the parts that two addresses make.
func (b AddressBits) examples() string {
	ipv4 := netip.PrefixFrom(netip.AddrFrom4([4]byte{203, 0, 113, 9}), cmp.Or(b.IPv4, 32))
	ipv6 := netip.PrefixFrom(netip.MustParseAddr("2001:db8:1:2::"), cmp.Or(b.IPv6, 64))
	return fmt.Sprintf("ip=%v or ip=%v", ipv4.Masked(), ipv6.Masked())
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
