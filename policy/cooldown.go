package policy

import (
	"slices"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// Cooldown is for how long a limit that has denied goes on denying: a
// temporary slow-down for whoever guesses or floods, and no ban. Each limit of
// the policy has its own, which only its own denials begin. The zero value is
// none.
type Cooldown struct {
	// For is how long, at most limiter.MaxCooldown. 0: not at all.
	For time.Duration `yaml:"for,omitempty"`
	// Extend begins it anew with each attempt meanwhile. It needs For.
	Extend bool `yaml:"extend,omitempty"`
}

func (c Cooldown) faults(fault faultFunc) {
	switch {
	case c.For < 0 || c.For > limiter.MaxCooldown:
		fault("for", "must be 0s, which is none, to %v (%d days), got %v", limiter.MaxCooldown, limiter.MaxCooldown/(24*time.Hour), c.For)
	case c.Extend && c.For == 0:
		fault("for", "is required beside extend: how long the key stays denied, such as 5m")
	}
}

// coolsEverybody reports whether the denial of one client keeps all others
// out.
func (p *Policy) coolsEverybody() bool {
	return p.Cooldown.For > 0 && slices.Equal(p.Key, []string{string(KeyGlobal)})
}
