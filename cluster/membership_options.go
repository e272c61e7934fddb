package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"time"

	"github.com/hashicorp/memberlist"
)

// GossipTransport carries gossip: packets that may get lost, and streams. It
// serves one membership, which shuts it down.
type GossipTransport = memberlist.Transport

// MembershipOptions configures a Membership.
type MembershipOptions struct {
	// ID is the stable name of this node, unique in the cluster: 1 to 128
	// letters, digits, '.', '_' or '-'. Required.
	ID string
	// Incarnation orders the boots of one ID. 0 is the wall clock in
	// nanoseconds; in any case it is raised above every incarnation that the
	// cluster has seen of this ID.
	Incarnation uint64
	// Role says whether this node owns partitions. Empty is RoleOwner. A
	// client needs Join.
	Role Role
	// Version is the product version, for people to read. At most 64 bytes.
	Version string
	// GossipAddress is where to listen, TCP and UDP: an IP literal and a
	// port, port 0 for any free one. Required.
	GossipAddress string
	// Advertise is the IP literal, or IP:port, at which others reach
	// GossipAddress. Empty is GossipAddress itself.
	Advertise string
	// PeerAddress is the host:port at which others reach this node's peer
	// port. Required.
	PeerAddress string
	// Join lists where to look for members: host:port, or a host alone whose
	// port is that of GossipAddress. Names are resolved at every attempt.
	// Empty: this is the first node.
	Join []string
	// Label keeps clusters apart. Required, at most 255 bytes.
	Label string
	// GossipKey encrypts gossip: 16, 24 or 32 bytes. Nil: no encryption.
	GossipKey []byte
	// Shared is a hash of what all members must have in common besides Label
	// and GossipKey: the ring's parameters and the identity key. A node with
	// another one never becomes a member.
	Shared uint64
	// Connect opens the session to a member. It must not call the Membership
	// before it returns. Required.
	Connect Connect
	// Placement is the State that Save was given last by an earlier run of this
	// node: whose places it then knew. So the members of a cluster that is
	// restarted as a whole do not take over each other's keys while they find
	// each other. Nil: nothing is known. One that cannot be read is left out.
	Placement []byte
	// Save is given the State whenever it has changed, by one goroutine. Nil:
	// nobody keeps it.
	Save func(state []byte)
	// EvictAfter is how long a member may be out of reach of the majority
	// before its place is taken away: from a second on. 0 is DefaultEvictAfter.
	EvictAfter time.Duration
	// Logger receives what happens to the membership. Nil discards it.
	Logger *slog.Logger
	// Transport carries gossip. Nil is TCP and UDP on GossipAddress.
	Transport GossipTransport
	// Resolve looks a seed's name up. Nil is the system's resolver.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
}

// maxLabelBytes is memberlist's bound.
const maxLabelBytes = memberlist.LabelMaxSize

// validate reports every fault of o, each beginning with the setting's name.
func (o *MembershipOptions) validate() error {
	var faults []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	check(validID(o.ID), "node.name (--name): %q must be 1 to %d letters, digits, '.', '_' or '-'", o.ID, maxIDBytes)
	check(o.Role == RoleOwner || o.Role == RoleClient, "cluster.role: %q must be %s or %s", o.Role, RoleOwner, RoleClient)
	check(o.Role != RoleClient || len(o.Join) > 0, "cluster.join (--join): a node in the client role owns no keys; name at least one owner to join")
	check(len(o.Version) <= maxVersionBytes, "version: must be at most %d bytes", maxVersionBytes)
	check(o.Label != "" && len(o.Label) <= maxLabelBytes, "cluster.label: must be 1 to %d bytes", maxLabelBytes)
	switch len(o.GossipKey) {
	case 0, 16, 24, 32:
	default:
		check(false, "gossip key: must be 16, 24 or 32 bytes, got %d", len(o.GossipKey))
	}
	check(o.EvictAfter >= time.Second, "cluster.evict_after: must be at least 1s, got %v", o.EvictAfter)
	check(o.Connect != nil, "Connect: must be set")
	return errors.Join(faults...)
}

func (o *MembershipOptions) withDefaults() MembershipOptions {
	d := *o
	if d.EvictAfter == 0 {
		d.EvictAfter = DefaultEvictAfter
	}
	if d.Role == "" {
		d.Role = RoleOwner
	}
	if d.Logger == nil {
		d.Logger = slog.New(slog.DiscardHandler)
	}
	return d
}
