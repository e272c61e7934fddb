package config

import (
	"fmt"
	"net/netip"
	"regexp"
)

func (v *validator) cluster() {
	c := &v.Cluster
	v.oneOf("cluster.role", c.Role, roles...)
	if c.Role == "client" && len(c.Join) == 0 && v.sound("cluster.join") {
		v.report("cluster.join", "is required for cluster.role client, which owns no keys: name at least one node")
	}
	for i, seed := range c.Join {
		if _, err := parseSeed(seed, defaultGossipPort); err != nil {
			v.report(fmt.Sprintf("cluster.join[%d]", i), "%v", err)
		}
	}
	if ip, err := netip.ParseAddr(c.Advertise); c.Advertise != "" && (err != nil || ip.IsUnspecified() || ip.Zone() != "") {
		v.report("cluster.advertise", "must be the IP address, without port, at which the other nodes reach this one, got %q",
			printable(c.Advertise))
	}
	if len(c.Label) < 1 || len(c.Label) > maxLabel {
		v.report("cluster.label", "must have 1 to %d bytes, got %d", maxLabel, len(c.Label))
	}
	if c.Deadline < minDeadline || c.Deadline > maxDeadline {
		v.report("cluster.deadline", "must be %v to %v, got %v", minDeadline, maxDeadline, c.Deadline)
	}
	if c.EvictAfter < minEvictAfter {
		v.report("cluster.evict_after", "must be at least %v, got %v", minEvictAfter, c.EvictAfter)
	}
	tls := c.TLS
	if given := tls != (PeerTLS{}); given {
		for _, f := range []struct{ name, file string }{{"cert", tls.Cert}, {"key", tls.Key}, {"ca", tls.CA}} {
			if f.file == "" {
				v.report("cluster.tls."+f.name, "is required: cert, key and ca go together")
			}
		}
	}
}

// minSecret is the least length of a secret, in bytes.
const minSecret = 16

const makeSecret = "make one with: openssl rand -base64 32"

// bearerToken is what a bearer token looks like (RFC 6750, section 2.1).
var bearerToken = regexp.MustCompile(`^[A-Za-z0-9._~+/-]+=*$`)

func (v *validator) secrets() {
	v.secret("cluster.secret", v.Cluster.Secret)
	v.secret("cluster.identity_key", v.Cluster.IdentityKey)
	for i, token := range v.HTTP.AuthTokens {
		path := fmt.Sprintf("http.auth_tokens[%d]", i)
		if token == "" {
			v.report(path, "must not be empty; %s", makeSecret)
		} else if v.secret(path, token) && !bearerToken.MatchString(token) {
			v.report(path, "must consist of letters, digits and -._~+/ with = at the end only; %s", makeSecret)
		}
	}
}

// secret reports a secret that is too easy to guess, without showing it.
// Empty is none.
func (v *validator) secret(path, value string) bool {
	switch {
	case value == Hidden:
		v.report(path, "%s is what a printed configuration shows instead of a secret: put the secret here", Hidden)
	case value != "" && len(value) < minSecret:
		v.report(path, "must have at least %d bytes, got %d; %s", minSecret, len(value), makeSecret)
	default:
		return true
	}
	return false
}

// listeners judges the addresses to listen on, and who could reach them.
func (v *validator) listeners() {
	type listener struct {
		path string
		endpoint
	}
	var all []listener
	for _, l := range []struct {
		path, written string
		parse         func(string) (endpoint, error)
		exposed       func(path string, e endpoint)
	}{
		{"http.listen", v.HTTP.Listen, parseEndpoint, func(string, endpoint) {}},
		{"http.admin_listen", v.HTTP.AdminListen, parseEndpoint, v.exposedAdmin},
		{"cluster.gossip", v.Cluster.Gossip, parseLiteral, v.exposedNode},
		{"cluster.peer", v.Cluster.Peer, parseLiteral, v.exposedNode},
	} {
		if l.path == "http.admin_listen" && l.written == "" || !v.sound(l.path) {
			continue
		}
		e, err := l.parse(l.written)
		if err != nil {
			v.report(l.path, "%v", err)
			continue
		}
		if !e.loopback() {
			l.exposed(l.path, e)
		}
		this := listener{l.path, e}
		for _, other := range all {
			if !e.clashes(other.endpoint) {
				continue
			}
			second, first := this, other
			if v.later(first.path, second.path) {
				second, first = first, second
			}
			v.report(second.path, "%v is taken by %s (%v): choose another port", second.endpoint, first.path, first.endpoint)
		}
		all = append(all, this)
	}
}

func (v *validator) exposedAdmin(path string, e endpoint) {
	if len(v.HTTP.AuthTokens) == 0 && v.sound("http.auth_tokens") {
		v.report(path, "%v is not on loopback, and anybody who reaches it could reset counters: set http.auth_tokens (%s)", e, makeSecret)
	}
}

func (v *validator) exposedNode(path string, e endpoint) {
	if v.Cluster.Secret == "" && !v.Cluster.Insecure && v.sound("cluster.secret", "cluster.insecure") {
		v.report(path, "%v is not on loopback, and anybody who reaches it could join: set cluster.secret, the same on every node (%s), "+
			"or cluster.insecure: true where everybody on the network is trusted", e, makeSecret)
	}
}
