package config

import "reflect"

// BuiltIn reports whether no policies are written, so that there is the
// built-in one alone.
func (c *Config) BuiltIn() bool { return reflect.DeepEqual(c.Policies, Default().Policies) }

// complete writes out what a valid configuration leaves to be understood.
func (c *Config) complete() {
	if len(c.Policies) == 0 {
		c.Policies = Default().Policies
	}
	for _, address := range []*string{&c.Cluster.Gossip, &c.Cluster.Peer} {
		if e, err := parseLiteral(*address); err == nil {
			*address = e.String()
		}
	}
	for i, seed := range c.Cluster.Join {
		if e, err := parseSeed(seed, defaultGossipPort); err == nil {
			c.Cluster.Join[i] = e.String()
		}
	}
}
