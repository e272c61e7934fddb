package config

import (
	"io"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Hidden stands for a secret that is set and not shown.
const Hidden = "(hidden)"

// Redacted is a copy of c that shows [Hidden] for every secret that is set.
// The copy shares the policies of c.
func (c *Config) Redacted() *Config {
	shown := *c
	hide := func(secret *string) {
		if *secret != "" {
			*secret = Hidden
		}
	}
	hide(&shown.Cluster.Secret)
	hide(&shown.Cluster.IdentityKey)
	shown.HTTP.AuthTokens = slices.Clone(c.HTTP.AuthTokens)
	for i := range shown.HTTP.AuthTokens {
		hide(&shown.HTTP.AuthTokens[i])
	}
	return &shown
}

// Print writes c as a configuration file with its secrets hidden. Load reads
// it back to the same Config once the secrets are put in again. It names no
// policies_dir: the policies from there are among those it writes.
func (c *Config) Print(w io.Writer) error {
	shown := c.Redacted()
	shown.PoliciesDir = ""
	e := yaml.NewEncoder(w)
	e.SetIndent(2)
	if err := e.Encode(shown); err != nil {
		return err
	}
	return e.Close()
}
