package config

import (
	"time"

	"github.com/murmurate/murmurate/policy"
)

// Config is the whole configuration of a node. Get one from [Default] or
// [Load]; the zero value is not usable.
type Config struct {
	Node    Node    `yaml:"node"`
	HTTP    HTTP    `yaml:"http"`
	Cluster Cluster `yaml:"cluster"`
	Limiter Limiter `yaml:"limiter"`
	Log     Log     `yaml:"log"`
	// PoliciesDir is a directory of more policies, one file each. Policies
	// holds them too, behind those of the file, in the order of their files'
	// names. Empty: none.
	PoliciesDir string   `yaml:"policies_dir"`
	Policies    []Policy `yaml:"policies"`

	warnings   []Fault // see Warnings
	serverPEM  PEM     // see ServerPEM
	peerPEM    PEM     // see PeerPEM
	validities []validity
}

// Node is who this node is.
type Node struct {
	// Name is the node's stable id, unique in the cluster. Empty:
	// HOSTNAME-GOSSIPPORT.
	Name string `yaml:"name"`
	// DataDir is the directory for what the node keeps over a restart. Empty:
	// it keeps nothing.
	DataDir string `yaml:"data_dir"`
}

// HTTP is the front door.
type HTTP struct {
	// Listen is where checks are answered, as HOST:PORT.
	Listen string `yaml:"listen"`
	// AdminListen is where administration is answered, as HOST:PORT. Empty:
	// on Listen. Beyond loopback it needs AuthTokens.
	AdminListen string `yaml:"admin_listen"`
	// Headers are the dialects of the rate limit headers: any of ietf,
	// legacy, x and ietf12, or none alone, which is what an empty list means.
	Headers []string `yaml:"headers"`
	// RetryAfter is the form of Retry-After: seconds or date.
	RetryAfter string `yaml:"retry_after"`
	// TrustedProxies are the addresses and CIDRs whose word on the address of
	// their client counts.
	TrustedProxies []string `yaml:"trusted_proxies"`
	// ClientIPHeader is the field in which they give it: x-forwarded-for or
	// forwarded (RFC 7239).
	ClientIPHeader string `yaml:"client_ip_header"`
	// IPv4Prefix and IPv6Prefix are how many bits of a client's address make
	// its key: 1 to 32 and 1 to 128.
	IPv4Prefix int `yaml:"ipv4_prefix"`
	IPv6Prefix int `yaml:"ipv6_prefix"`
	// AuthTokens are the bearer tokens that permit administration.
	AuthTokens []string `yaml:"auth_tokens" secret:"true"`
	// TLS serves HTTPS. The zero value serves plain HTTP.
	TLS ServerTLS `yaml:"tls"`
}

// ServerTLS names the PEM files of an HTTPS server.
type ServerTLS struct {
	// Cert and Key go together.
	Cert string `yaml:"cert"`
	Key  string `yaml:"key"`
	// ClientCA, if given, demands client certificates signed by it.
	ClientCA string `yaml:"client_ca"`
}

// Cluster is how this node finds the others and talks to them.
type Cluster struct {
	// Gossip is where to listen for membership traffic (TCP and UDP), as
	// IP:PORT.
	Gossip string `yaml:"gossip"`
	// Peer is where to listen for forwarded checks, as IP:PORT.
	Peer string `yaml:"peer"`
	// Advertise is the IP address at which others reach this node. Empty:
	// the addresses listened on.
	Advertise string `yaml:"advertise"`
	// Join lists the gossip addresses of other nodes, as HOST:PORT. A DNS
	// name is resolved again and again.
	Join []string `yaml:"join"`
	// Label keeps clusters apart that share a network.
	Label string `yaml:"label"`
	// Role is owner, or client: a client asks and owns no keys.
	Role string `yaml:"role"`
	// Secret encrypts gossip and authenticates peers.
	Secret string `yaml:"secret" secret:"true"`
	// IdentityKey is the key of the subject fingerprints. Empty: derived
	// from Secret.
	IdentityKey string `yaml:"identity_key" secret:"true"`
	// Insecure permits listening beyond loopback without a Secret.
	Insecure bool `yaml:"insecure"`
	// TLS are the operator's own certificates for peer connections. The zero
	// value uses certificates derived from Secret.
	TLS PeerTLS `yaml:"tls"`
	// Deadline bounds a check that has to ask another node.
	Deadline time.Duration `yaml:"deadline"`
	// EvictAfter is how long a node may be out of reach of most others before
	// they take its place.
	EvictAfter time.Duration `yaml:"evict_after"`
}

// PeerTLS names the PEM files of the peer connections, all three or none.
type PeerTLS struct {
	Cert string `yaml:"cert"`
	Key  string `yaml:"key"`
	CA   string `yaml:"ca"`
}

// Limiter bounds the table of counters.
type Limiter struct {
	// MaxKeys bounds the live counters.
	MaxKeys int `yaml:"max_keys"`
}

// Log is what the node says of itself.
type Log struct {
	// Level is debug, info, warn or error.
	Level string `yaml:"level"`
	// Format is text or json.
	Format string `yaml:"format"`
}

// defaultGossipPort is the port of Default's Cluster.Gossip, and that of a
// node to join that is named without one.
const defaultGossipPort = 7381

// Default is the configuration of a node that is told nothing: alone on
// loopback, with the built-in policy.
func Default() *Config {
	return &Config{
		HTTP: HTTP{
			Listen:         "127.0.0.1:7380",
			Headers:        []string{"ietf", "legacy"},
			RetryAfter:     "seconds",
			TrustedProxies: []string{},
			ClientIPHeader: "x-forwarded-for",
			IPv4Prefix:     32,
			IPv6Prefix:     64,
			AuthTokens:     []string{},
		},
		Cluster: Cluster{
			Gossip:     "127.0.0.1:7381",
			Peer:       "127.0.0.1:7382",
			Join:       []string{},
			Label:      "murmurate",
			Role:       "owner",
			Deadline:   50 * time.Millisecond,
			EvictAfter: 5 * time.Minute,
		},
		Limiter: Limiter{MaxKeys: 10_000_000},
		Log:     Log{Level: "info", Format: "text"},
		Policies: []Policy{{
			Name:   policy.DefaultName,
			Limits: []policy.LimitSpec{{Algorithm: "sliding_window", Rate: "100/min"}},
		}},
	}
}
