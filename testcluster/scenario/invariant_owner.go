package scenario

import (
	"fmt"

	"github.com/murmurate/murmurate/cluster"
)

// oneOwner is a part of I4: while all agree, they agree on the owner of each
// key that was used, it is placed, and none but it takes itself for the owner.
type oneOwner struct {
	unconcerned
	run  *run
	keys map[counted]bool
}

// maxKeysWatched bounds the keys whose owners are looked at.
const maxKeysWatched = 64

func (i *oneOwner) decided(c *call) error {
	if i.keys == nil {
		i.keys = make(map[counted]bool)
	}
	if c.err == nil && len(i.keys) < maxKeysWatched {
		i.keys[c.counted()] = true
	}
	return nil
}

func (i *oneOwner) looked() error {
	h := &i.run.health
	if !h.stable || h.changing > 0 {
		return nil
	}
	for id := range i.keys {
		agreed := ""
		for _, m := range i.run.running() {
			if m.options.Label != id.label {
				continue
			}
			owner, err := m.node.OwnerOf(id.policy, id.key)
			switch {
			case err != nil:
				return err
			case agreed == "":
				agreed = owner
			case owner != agreed:
				return fmt.Errorf("I4: %q, policy %s, is owned by %s, says %s; others say %s", id.key, id.policy, owner, m.name, agreed)
			}
		}
		if m := i.run.members[agreed]; agreed != "" && (m == nil || !m.placed() && !m.unheard || m.options.Label != id.label) {
			return fmt.Errorf("I4: %q, policy %s, is owned by %s, which is no owner", id.key, id.policy, agreed)
		}
	}
	return nil
}

// forwardedOnce is a part of I4: a forward is never forwarded, and nothing is
// sent twice. Each call that a node is asked for comes to at most one end at
// another node, and is sent on at most as often as a redirect may be followed.
type forwardedOnce struct {
	unconcerned
	run *run
}

// maxAsked is how often one call may be answered "not I".
const maxAsked = 4

func (i *forwardedOnce) looked() error {
	for _, name := range i.run.names {
		m := i.run.members[name]
		ends := 0
		for _, outcome := range cluster.Forwards() {
			if outcome != cluster.ForwardRedirected {
				ends += m.heard.total(outcome)
			}
		}
		if ends > m.calls {
			return fmt.Errorf("I4: %s was asked %d times, and sent calls to others that came to %d ends", name, m.calls, ends)
		}
		if redirected := m.heard.total(cluster.ForwardRedirected); redirected > maxAsked*m.calls {
			return fmt.Errorf("I4: %s was asked %d times, and was redirected %d times", name, m.calls, redirected)
		}
	}
	return nil
}
