package config

import "maps"

// about is what people and editors are told of a setting.
type about struct {
	// text says what it does, with units. It names no default.
	text string
	// absent is the default of a policy's field, if it is a value. Settings
	// outside of policies have theirs in Default.
	absent any
	// required: the group around it is refused without it.
	required bool
	// choices are the only values of a text, or of the elements of a list.
	choices []string
	// pattern fits every text that is accepted, or every element of a list, in
	// the syntax that Go and ECMA-262 share.
	pattern string
	// min and max bound a number.
	min, max int64
	// nonempty: a list needs an element.
	nonempty bool
}

// fields tells of every setting by the Go type that has it and the name in
// the file: TYPE.NAME.
var fields = func() map[string]about {
	all := maps.Clone(settingFields)
	maps.Copy(all, policyFields)
	return all
}()

// The choices of settings.
var (
	dialects        = []string{"ietf", "legacy", "x", "ietf12", noDialect}
	retryAfterForms = []string{"seconds", "date"}
	clientIPHeaders = []string{"x-forwarded-for", "forwarded"}
	roles           = []string{"owner", "client"}
	logLevels       = []string{"debug", "info", "warn", "error"}
	logFormats      = []string{"text", "json"}
)

// noDialect turns the rate limit headers off.
const noDialect = "none"

// endpointPattern fits HOST:PORT.
const endpointPattern = `^(\[[^\]\s]+\]|[0-9A-Za-z._-]*):[0-9]{1,5}$`

var settingFields = map[string]about{
	"Config.node":         {text: "Who this node is."},
	"Config.http":         {text: "The HTTP API: checks, gateways, administration."},
	"Config.cluster":      {text: "How nodes find each other and talk to each other."},
	"Config.limiter":      {text: "The table of counters."},
	"Config.log":          {text: "What the node says of itself, on standard error."},
	"Config.policies_dir": {text: "A directory of more policies, one to a file (*.yaml, *.yml, *.json). A relative path begins at the directory of this file."},
	"Config.policies":     {text: "Which requests are charged what. None: the built-in policy default, a sliding_window of 100/min for each key."},

	"Node.data_dir": {text: "A directory of this node's own for what outlives a restart, made if it is not there: durable counters, who was in the cluster, and the overrides that were set at run time. Empty: nothing is kept."},
	"Node.name": {text: "The node's id: unique in the cluster, the same after a restart. Empty: HOSTNAME-GOSSIPPORT.",
		pattern: `^([A-Za-z0-9][A-Za-z0-9._-]*)?$`},

	"HTTP.listen":       {text: "Where checks are answered, as HOST:PORT. Without HOST: on every address.", pattern: endpointPattern},
	"HTTP.admin_listen": {text: "Where administration is answered, as HOST:PORT. Empty: on listen. Beyond loopback it needs auth_tokens.", pattern: orEmpty(endpointPattern)},
	"HTTP.headers": {text: "How clients are told about their limits. ietf: RateLimit and RateLimit-Policy. ietf12: the same for readers of the draft's next revision too. " +
		"legacy: RateLimit-Limit, -Remaining and -Reset. x: X-RateLimit-Limit, -Remaining and -Reset in Unix time. none, or an empty list: not at all.", choices: dialects},
	"HTTP.retry_after":      {text: "The form of Retry-After on a denial: seconds, or an HTTP date.", choices: retryAfterForms},
	"HTTP.trusted_proxies":  {text: "Addresses and CIDRs of the reverse proxies whose word on the address of their client counts.", pattern: `^[0-9A-Fa-f.:]+(/[0-9]{1,3})?$`},
	"HTTP.client_ip_header": {text: "The header field in which trusted proxies name their client. No other one is looked at.", choices: clientIPHeaders},
	"HTTP.ipv4_prefix":      {text: "How many bits of a client's IPv4 address make its key.", min: 1, max: 32},
	"HTTP.ipv6_prefix":      {text: "How many bits of a client's IPv6 address make its key.", min: 1, max: 128},
	"HTTP.auth_tokens":      {text: "Bearer tokens that permit administration, at least 16 bytes each."},
	"HTTP.tls":              {text: "Serves HTTPS on listen and admin_listen. Without cert: plain HTTP."},

	"ServerTLS.cert":      {text: "PEM file of the certificate, with its chain. Goes with key."},
	"ServerTLS.key":       {text: "PEM file of the certificate's private key."},
	"ServerTLS.client_ca": {text: "PEM file of authorities. If given, clients must show a certificate signed by one of them."},

	"Cluster.gossip":       {text: "Where nodes find each other (TCP and UDP), as IP:PORT. 0.0.0.0 is every address.", pattern: endpointPattern},
	"Cluster.peer":         {text: "Where nodes send each other checks (TCP), as IP:PORT.", pattern: endpointPattern},
	"Cluster.advertise":    {text: "The IP address at which the other nodes reach this one. Empty: the addresses listened on.", pattern: `^[0-9A-Fa-f.:]*$`},
	"Cluster.join":         {text: "Gossip addresses of other nodes, as HOST:PORT. A DNS name may stand for all of them, and is looked up again and again.", pattern: `^\S+$`},
	"Cluster.label":        {text: "Keeps clusters apart that share a network: 1 to 255 bytes."},
	"Cluster.role":         {text: "owner counts keys. client only asks and forwards, and needs join.", choices: roles},
	"Cluster.secret":       {text: "Encrypts gossip and authenticates peers: the same on every node, at least 16 bytes. Needed as soon as gossip or peer is not on loopback."},
	"Cluster.identity_key": {text: "Makes the fingerprints of keys: the same on every node, at least 16 bytes. Empty: derived from secret. Pin it before changing the secret."},
	"Cluster.insecure":     {text: "Permits gossip and peer beyond loopback without a secret, on a network where everybody is trusted."},
	"Cluster.tls":          {text: "Your own certificates for peer connections, all three files or none. None: derived from secret."},
	"Cluster.deadline":     {text: "How long a check may wait for another node before its policy's on_unreachable applies: 1ms to 10s.", pattern: durationPattern},
	"Cluster.evict_after":  {text: "How long a node may be out of reach of more than half of the others before they take its place and its keys: at least 1s. One that comes back later claims its place anew.", pattern: durationPattern},

	"PeerTLS.cert": {text: "PEM file of this node's certificate, with its chain."},
	"PeerTLS.key":  {text: "PEM file of the certificate's private key."},
	"PeerTLS.ca":   {text: "PEM file of the authorities that signed the certificates of all nodes."},

	"Limiter.max_keys": {text: "Most counters held at once. New keys beyond it are refused; no live one is forgotten.", min: 1, max: mostKeys},

	"Log.level":  {text: "The least severe that is logged.", choices: logLevels},
	"Log.format": {text: "How lines are written.", choices: logFormats},
}

// orEmpty also fits nothing.
func orEmpty(pattern string) string { return "^$|" + pattern }
