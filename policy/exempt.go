package policy

import (
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Exemption selects requests that a policy never charges: all of it must
// hold. At least one of its fields is set.
type Exemption struct {
	// CIDR is a network, such as 10.0.0.0/8, that the client's address is in.
	// Empty: any.
	CIDR string `json:"cidr,omitempty" yaml:"cidr,omitempty"`
	// Match is as a policy's, but holds only where no server could read the
	// request otherwise. Of several values of one header or parameter, all must
	// be as written, and a path with parameters must fit with and without them.
	// Wildcards of Path fit no path with an encoded /, %, ? or #, a backslash, a
	// control character, what is not UTF-8, or a segment that begins with two
	// dots: to some servers /static/..%2Flogin is /login.
	Match `yaml:",inline"`
}

// exemption is an Exemption made ready.
type exemption struct {
	network netip.Prefix // not valid: any
	matcher *matcher
}

func (e *Exemption) compile(fault faultFunc) exemption {
	c := exemption{matcher: e.Match.compile(fault)}
	c.matcher.strict = true
	if reflect.ValueOf(*e).IsZero() {
		fault("", "would exempt every request: give it a path, cidr, method, host, header, query or attribute")
	}
	if e.CIDR != "" {
		var err error
		if c.network, err = parseNetwork(e.CIDR); err != nil {
			fault("cidr", "%v", err)
		}
	}
	return c
}

func parseNetwork(written string) (netip.Prefix, error) {
	network, err := netip.ParsePrefix(written)
	switch addr, addrErr := netip.ParseAddr(written); {
	case addrErr == nil && addr.Zone() == "":
		return network, fmt.Errorf("must be a network: write %s/%d for this one address", written, addr.BitLen())
	case err != nil:
		return network, fmt.Errorf("must be a network such as 10.0.0.0/8 or 2001:db8::/32, got %q", clip(written))
	case network.Addr().Is4In6():
		return network, fmt.Errorf("an IPv4 network is compared as such: write it as in 10.0.0.0/8, not %q", clip(written))
	case network != network.Masked():
		return network, fmt.Errorf("%s is not where a network begins: write %s", written, network.Masked())
	}
	return network, nil
}

// holds reports whether e exempts v.
func (e *exemption) holds(v *view) bool {
	if e.network.IsValid() && !e.network.Contains(v.addr) {
		return false
	}
	if e.matcher.path != nil && !e.matcher.path.literal() && (ambiguous(v.path) || ambiguous(v.whole)) {
		return false
	}
	return e.matcher.fails(v) == ""
}

// ambiguous reports whether servers may differ in what the segments of path
// are, which is in normal form.
func ambiguous(path string) bool {
	return strings.Contains(path, "/..") || !utf8.ValidString(path) || strings.ContainsFunc(path, func(c rune) bool {
		return c == '%' || c == '\\' || unicode.IsControl(c)
	})
}
