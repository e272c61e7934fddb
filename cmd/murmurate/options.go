package main

import (
	"log/slog"
	"net"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/cluster"
	"github.com/murmurate/murmurate/config"
	"github.com/murmurate/murmurate/httpapi"
)

// nodeOptions turns a configuration into the options of a node.
func nodeOptions(cfg *config.Config, log *slog.Logger) (murmurate.Options, error) {
	policies, err := cfg.PolicySet()
	if err != nil {
		return murmurate.Options{}, err
	}
	c := &cfg.Cluster
	return murmurate.Options{
		Name:        cfg.Node.Name,
		DataDir:     cfg.Node.DataDir,
		Gossip:      c.Gossip,
		Peer:        c.Peer,
		Advertise:   c.Advertise,
		Join:        c.Join,
		Label:       c.Label,
		Role:        cluster.Role(c.Role),
		Secret:      c.Secret,
		IdentityKey: c.IdentityKey,
		Insecure:    c.Insecure,
		TLS:         murmurate.TLSFiles(c.TLS),
		Deadline:    c.Deadline,
		EvictAfter:  c.EvictAfter,
		MaxKeys:     cfg.Limiter.MaxKeys,
		Policies:    policies,
		Logger:      log,
	}, nil
}

// headerFields are the header fields of decisions, as configured.
func headerFields(c *config.HTTP) httpapi.Fields {
	f := httpapi.Fields{RetryAfterDate: c.RetryAfter == "date"}
	for _, name := range c.Headers {
		f.Dialects = append(f.Dialects, httpapi.Dialect(name))
	}
	return f
}

// clientAddress finds who is behind a request, as configured.
func clientAddress(c *config.HTTP) (*httpapi.ClientAddress, error) {
	trusted := c.TrustedProxies
	if len(trusted) == 0 {
		trusted = []string{httpapi.NoProxies}
	}
	return httpapi.NewClientAddress(httpapi.ClientAddressOptions{
		TrustedProxies: trusted,
		Header:         c.ClientIPHeader,
		IPv4Prefix:     c.IPv4Prefix,
		IPv6Prefix:     c.IPv6Prefix,
	})
}

// isLoopback reports whether only this host reaches addr.
func isLoopback(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}
