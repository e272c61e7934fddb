package murmurate

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/murmurate/murmurate/cluster"
	"github.com/murmurate/murmurate/internal/token"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
	"github.com/murmurate/murmurate/transport"
)

// Defaults of Options.
const (
	DefaultGossip   = "127.0.0.1:7381"
	DefaultPeer     = "127.0.0.1:7382"
	DefaultLabel    = "murmurate"
	DefaultDeadline = 50 * time.Millisecond
	// MaxDeadline bounds Options.Deadline.
	MaxDeadline = 10 * time.Second
)

// Options configures a Node. The zero value is a lone node on loopback with
// the built-in policy.
type Options struct {
	// Name is the node's stable id, unique in the cluster. Empty:
	// HOSTNAME-GOSSIPPORT.
	Name string
	// Alone runs a node without listeners and without a cluster; the options
	// about other nodes are then ignored.
	Alone bool
	// Gossip is where to listen for membership traffic (TCP and UDP), as
	// IP:PORT. Empty: DefaultGossip. Port 0 takes a free one.
	Gossip string
	// Peer is where to listen for forwarded checks, as IP:PORT. Empty:
	// DefaultPeer. Port 0 takes a free one.
	Peer string
	// Advertise is the IP address at which others reach this node. Empty:
	// the addresses listened on, which must then not be wildcards.
	Advertise string
	// Join lists the gossip addresses (host:port) of other nodes. A DNS name
	// is resolved again and again. Empty: the first node of a cluster.
	Join []string
	// Label keeps clusters apart that share a network. Empty: DefaultLabel.
	Label string
	// Role says whether the node owns keys. Empty: cluster.RoleOwner.
	Role cluster.Role
	// Secret encrypts gossip and authenticates peers. Needed as soon as
	// Gossip or Peer is not on loopback, unless Insecure.
	Secret string
	// IdentityKey is the key of the subject fingerprints. Empty: derived
	// from Secret. Pin it before the first rotation of Secret, or every
	// counter starts afresh.
	IdentityKey string
	// Insecure permits listening beyond loopback without a Secret.
	Insecure bool
	// TLS are the operator's own certificates for peer connections, instead
	// of those derived from Secret; see Node.SetCertificates.
	TLS TLSFiles
	// Network is where the node listens and how it reaches others. Nil: the
	// machine's.
	Network Network
	// Deadline bounds a check that has to ask another node. 0: DefaultDeadline.
	Deadline time.Duration
	// EvictAfter is how long a member may be out of reach of more than half of
	// the owners before they take its place and its keys, at least 1 s; see
	// also Node.Evict. 0: cluster.DefaultEvictAfter, 5 minutes.
	EvictAfter time.Duration
	// DataDir is a directory for what the node keeps over a restart: durable
	// counters, who had a place in the cluster, and the overrides that were set
	// at run time. It is made if it does not exist, and serves one node. Empty:
	// nothing is kept. A node that restarts learns overrides from the others
	// then, and no limit of its policies may be durable.
	DataDir string
	// MaxKeys bounds the live counters. 0: 10,000,000.
	MaxKeys int
	// Policies are the limits by name at the start; see Node.SetPolicies. Nil:
	// the built-in default policy.
	Policies *policy.Set
	// Version is what the node tells the others of itself. Empty: Version().
	Version string
	// Logger receives the node's log. Nil: nothing is logged. Keys never
	// appear in it.
	Logger *slog.Logger
	// Observer hears of every decision. Nil: nobody does.
	Observer Observer
}

// TLSFiles name the PEM files of the operator's own peer certificates. The
// zero value has none; otherwise all three are needed.
type TLSFiles struct{ Cert, Key, CA string }

// Observer hears what the node does. Its methods are called on the way of a
// check and must be quick and safe for concurrent use.
type Observer interface {
	// Decision is one check's outcome: "allowed", "denied", "shadow_denied"
	// or "error". Peeks and resets are none. policyName is "inline" for every limit that the caller made.
	Decision(policyName, outcome string, source limiter.Source)
	// Denied is one limit that denied a request, in shadow or in earnest, told
	// beside its Decision.
	Denied(policyName, limitName string)
	// UnknownTier is a request of a tier that the policy does not have.
	UnknownTier(policyName string)
	// QuotaUsed is how much of a quota of a policy's, 0 to 1, the key of one
	// check has used, and the time until the quota's period ends.
	QuotaUsed(policyName, limitName string, ratio float64, rest time.Duration)
	// Settlement is what became of one attempt to settle a receipt: "settled",
	// "refused", which trying again does not mend, or "failed".
	Settlement(outcome string)
	// Forward is one call to another node; see cluster.Forwarded.
	Forward(outcome string)
}

type nobody struct{}

func (nobody) Decision(string, string, limiter.Source) {}
func (nobody) Denied(string, string)                   {}
func (nobody) UnknownTier(string)                      {}

func (nobody) QuotaUsed(string, string, float64, time.Duration) {}

func (nobody) Settlement(string) {}
func (nobody) Forward(string)    {}

// withDefaults fills in what was left out.
func (o Options) withDefaults() (Options, error) {
	set := func(field *string, value string) {
		if *field == "" {
			*field = value
		}
	}
	set(&o.Gossip, DefaultGossip)
	set(&o.Peer, DefaultPeer)
	set(&o.Label, DefaultLabel)
	set((*string)(&o.Role), string(cluster.RoleOwner))
	set(&o.Version, Version())
	if o.Deadline == 0 {
		o.Deadline = DefaultDeadline
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Observer == nil {
		o.Observer = nobody{}
	}
	if o.Policies == nil {
		set, err := policy.NewSet()
		if err != nil {
			return o, err
		}
		o.Policies = set
	}
	return o, nil
}

// validate reports every fault at once, each beginning with the option's name.
func (o *Options) validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if o.EvictAfter != 0 && o.EvictAfter < time.Second {
		fault("EvictAfter: must be at least 1s, got %v", o.EvictAfter)
	}
	if o.Deadline < time.Millisecond || o.Deadline > MaxDeadline {
		fault("Deadline: must be 1ms to %v, got %v", MaxDeadline, o.Deadline)
	}
	if o.MaxKeys < 0 {
		fault("MaxKeys: must not be negative, got %d", o.MaxKeys)
	}
	if o.Role != cluster.RoleOwner && o.Role != cluster.RoleClient {
		fault("Role: must be %q or %q, got %q", cluster.RoleOwner, cluster.RoleClient, o.Role)
	}
	if err := o.keeps(o.Policies); err != nil {
		fault("Policies: %w", err)
	}
	if o.Alone {
		return errors.Join(faults...)
	}
	if o.Role == cluster.RoleClient && len(o.Join) == 0 {
		fault("Join: a client owns no keys and needs at least one node to join")
	}
	for name, addr := range map[string]string{"Gossip": o.Gossip, "Peer": o.Peer} {
		ip, err := listenIP(addr)
		if err != nil {
			fault("%s: %w", name, err)
			continue
		}
		if !ip.IsLoopback() && o.Secret == "" && !o.Insecure {
			fault("%s: %s is not on loopback: set Secret, or Insecure to run without", name, addr)
		}
	}
	if o.TLS != (TLSFiles{}) && (o.TLS.Cert == "" || o.TLS.Key == "" || o.TLS.CA == "") {
		fault("TLS: Cert, Key and CA go together")
	}
	return errors.Join(faults...)
}

// listenIP returns the IP of an address to listen on.
func listenIP(addr string) (net.IP, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("%q is not IP:PORT: %w", addr, err)
	}
	ip := net.ParseIP(host)
	if ip == nil {
		return nil, fmt.Errorf("%q must begin with an IP address", addr)
	}
	return ip, nil
}

// defaultName is HOSTNAME-GOSSIPPORT. While the gossip port is to be any
// free one, the peer port tells the nodes of a host apart.
func (o *Options) defaultName(peer net.Addr) string {
	host, err := os.Hostname()
	if err != nil || host == "" {
		host = "node"
	}
	_, port, err := net.SplitHostPort(o.Gossip)
	if err != nil || port == "0" {
		_, port, _ = net.SplitHostPort(peer.String())
	}
	return host + "-" + port
}

// identity derives the fingerprint key.
func (o *Options) identity() (cluster.Identity, error) {
	key, err := transport.DeriveKey(o.keyMaterial(), "identity", cluster.IdentityKeyBytes)
	if err != nil {
		return cluster.Identity{}, err
	}
	return cluster.NewIdentity(key)
}

// signer derives the key of the tokens that clients are given.
func (o *Options) signer() (token.Signer, error) {
	key, err := transport.DeriveKey(o.keyMaterial(), "token", token.KeyBytes)
	return token.NewSigner(key), err
}

// keyMaterial is what stays when the secret changes, if it was pinned.
func (o *Options) keyMaterial() string { return cmp.Or(o.IdentityKey, o.Secret, developmentKey) }

// developmentKey is the identity key without any secret. It keeps keys out
// of sight, and nothing more.
const developmentKey = "murmurate development identity key"
