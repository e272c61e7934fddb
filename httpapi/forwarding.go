package httpapi

import (
	"net/netip"
	"strconv"
	"strings"
)

// forwardingHeader is a field in which proxies name those they forward for:
// a list to which each proxy appends whom it got the request from.
type forwardingHeader struct {
	name string // in canonical form
	// cutLast splits the last entry, without the space around it, off a list.
	// It looks at no more of the list than that entry.
	cutLast func(list string) (rest, entry string, more bool)
	// address returns the address in an entry. ok is false if there is none.
	address func(entry string) (addr netip.Addr, ok bool)
}

// xForwardedFor is the field without a standard: addresses between commas.
var xForwardedFor = forwardingHeader{"X-Forwarded-For", cutLastAddress, parseNode}

func cutLastAddress(list string) (rest, entry string, more bool) {
	comma := strings.LastIndexByte(list, ',')
	return list[:max(comma, 0)], trimSpace(list[comma+1:]), comma >= 0
}

// trimSpace trims optional whitespace (RFC 9110, section 5.6.3).
func trimSpace(s string) string { return strings.Trim(s, " \t") }

// parseNode reads an address as proxies and RemoteAddr write it: IPv4, or
// IPv6 with brackets or without, and a port after an IPv4 address or a
// bracket. The result has no zone and is not IPv4 mapped into IPv6.
func parseNode(s string) (addr netip.Addr, ok bool) {
	host, bracketed := s, false
	switch colon := strings.IndexByte(s, ':'); {
	case strings.HasPrefix(s, "["):
		var port string
		host, port, bracketed = strings.Cut(s[1:], "]")
		if !bracketed || port != "" && !isPort(port) {
			return addr, false
		}
	case colon >= 0 && colon == strings.LastIndexByte(s, ':'): // IPv6 has two or more
		if host = s[:colon]; !isPort(s[colon:]) {
			return addr, false
		}
	}
	host, zone, zoned := strings.Cut(host, "%") // parsing it would keep a copy of the zone
	addr, err := netip.ParseAddr(host)
	if err != nil || (bracketed || zoned) && !addr.Is6() || zoned && zone == "" {
		return netip.Addr{}, false
	}
	return addr.Unmap(), true
}

// isPort reports whether s is a colon and a port, by number or obfuscated
// (RFC 7239, section 6).
func isPort(s string) bool {
	s, colon := strings.CutPrefix(s, ":")
	if name, obfuscated := strings.CutPrefix(s, "_"); colon && obfuscated {
		return name != "" && !strings.ContainsFunc(name, notObfuscated)
	}
	_, err := strconv.ParseUint(s, 10, 16)
	return colon && err == nil
}

func notObfuscated(r rune) bool {
	return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && !strings.ContainsRune("._-", r)
}
