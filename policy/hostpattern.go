package policy

import (
	"errors"
	"fmt"
	"strings"
)

// normalHost is a host as policies see it: in lower case, without port, final
// dot and the brackets of an IPv6 address.
func normalHost(host string) string {
	if end := strings.LastIndexByte(host, ']'); end > 0 && host[0] == '[' {
		host = host[1:end]
	} else if colon := strings.IndexByte(host, ':'); colon >= 0 && strings.IndexByte(host[colon+1:], ':') < 0 {
		host = host[:colon] // with more colons it is an IPv6 address without port
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// hostPattern is a host, or every one below it.
type hostPattern struct {
	name   string // in normal form
	suffix string // of *.example.com it is .example.com, and name is empty
}

// parseHostPattern reads a host, or *.example.com for those that end in
// .example.com. The error says what would be right.
func parseHostPattern(written string) (hostPattern, error) {
	name, below := strings.CutPrefix(written, "*.")
	normal := normalHost(name)
	switch {
	case strings.ContainsAny(name, "/*?#@ \t"), normal == "":
		return hostPattern{}, fmt.Errorf("must be a host such as api.example.com, or *.example.com for all below it, got %q", clip(written))
	case normal != strings.ToLower(name):
		return hostPattern{}, fmt.Errorf("%q is compared without port, brackets and final dot: write %q", clip(written), clip(strings.TrimSuffix(written, name)+normal))
	case below && strings.Contains(name, ":"):
		return hostPattern{}, errors.New("there are no hosts below an IP address: write the address without the wildcard")
	case below:
		return hostPattern{suffix: "." + normal}, nil
	}
	return hostPattern{name: normal}, nil
}

// match reports whether h matches host, which is in normal form.
func (h *hostPattern) match(host string) bool {
	if h.suffix != "" {
		return len(host) > len(h.suffix) && strings.HasSuffix(host, h.suffix)
	}
	return host == h.name
}
