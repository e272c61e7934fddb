package config

import (
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// failureModes are the choices of on_unreachable.
var failureModes = []string{policy.Local.String(), policy.Allow.String(), policy.Deny.String()}

// The patterns of what policies are made of. That of a setting's duration is
// here to be seen beside that of a period.
const (
	sizePattern     = `^` + size + `$`
	ratePattern     = `^` + size + `/` + period + `$`
	periodPattern   = `^` + period + `$`
	durationPattern = `^` + durations + `$`
	namePattern     = `^[A-Za-z][A-Za-z0-9_.-]{0,63}$`
	methodPattern   = "^[A-Z0-9!#$%&'*+.^_`|~-]+$"

	size      = `(0|[1-9][0-9]*)[kMG]?`
	durations = `([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+`
	period    = `(s|second|min|minute|h|hour|d|day|week|month|year|[0-9]+d|([0-9]+d)?` + durations + `)`
)

// keyPattern fits an entry of a key, and tierPattern where a request names its
// tier.
var (
	keyPattern  = alternatives(`(ip|path|method|host|global|(header|cookie|query|path|attr):[^|\s]+)`)
	tierPattern = alternatives(`(header|attr):[^|\s]+`)
)

// alternatives fits sources with | between them.
func alternatives(source string) string {
	source = `\s*` + source + `\s*`
	return `^` + source + `(\|` + source + `)*$`
}

const replaces = "They take the place of the policy's limits of the same name."

var policyFields = map[string]about{
	"Policy.name":           {text: "What checks, metrics and headers call the policy. Upper and lower case are different.", required: true, pattern: namePattern},
	"Policy.match":          {text: "Which requests the policy applies to: all that is written must hold. Left out: every request."},
	"Policy.key":            {text: "What requests are told apart by. Each entry makes one part of the key, of the first of its sources, with | between them, that the request has: ip, header:NAME, cookie:NAME, query:NAME, path, path:NAME (a {NAME} of match.path), method, host, attr:NAME, or global, one counter for everybody. Left out: the key that comes with the check, and for a gateway the client's address.", pattern: keyPattern},
	"Policy.limits":         {text: "How much of what, for each key. All are charged, or none.", required: true, nonempty: true},
	"Policy.durable":        {text: "The durable of those limits that do not say and can be, of which there is one at least if it is true. Left out: true for quotas, false for others."},
	"Policy.cooldown":       {text: "A limit that has denied a key goes on denying it for a while. The file may have the duration alone."},
	"Policy.tiers":          {text: "Other limits for some callers."},
	"Policy.overrides":      {text: "Other limits, or none, for some keys. They win over tiers; a whole key wins over prefixes, and the longest prefix over others."},
	"Policy.exempt":         {text: "Requests that the policy charges nothing. One element that holds is enough."},
	"Policy.cost":           {text: "What a request costs that does not say: a whole number, or what it depends on.", absent: 1},
	"Policy.shadow":         {text: "Tries the policy out: decides, counts and reports, and denies nobody.", absent: false},
	"Policy.on_unreachable": {text: "What happens while the node that counts the key cannot be asked. local: this node spends its share of the limit; of a durable one there is none, so it denies. allow: pass uncounted. deny: refuse, with status 503.", absent: "local", choices: failureModes},
	"Policy.deny_status":    {text: "The HTTP status of a denial. Left out: 429, and 403 where a quota is what stands in the way.", min: 400, max: 599},

	"Match.host":      {text: "The host, whatever its case, without port. *.example.com is every host below example.com, not itself.", pattern: `^[^/?#@\s]+$`},
	"Match.path":      {text: "A pattern of paths. Segments are literal, * for any one, ** for any number of them, or {name} for any one that key can use.", pattern: `^/[^?#]*$`},
	"Match.method":    {text: "Any of these methods, in upper case.", pattern: methodPattern},
	"Match.header":    {text: "Header fields that must be there. The case of their names makes no difference."},
	"Match.query":     {text: "Parameters of the query that must be there."},
	"Match.attribute": {text: "Attributes that the caller must say of the request (attributes of /v1/check)."},

	"Field.name":  {text: "The name of the header field, parameter or attribute.", required: true, pattern: `^[^|\s]+$`},
	"Field.value": {text: "The value that it must have, exactly. Left out: any that is not empty."},

	"LimitSpec.name":      {text: "What the limit is called; needed where a policy has several. Left out: the policy's name.", pattern: namePattern},
	"LimitSpec.algorithm": {text: "How it counts. token_bucket: refills steadily, spends bursts at once. leaky_bucket: evens calls out, tells each how long to wait. fixed_window: counts per window. sliding_window: smooth at the edges, two numbers a key. sliding_log: exact over any interval, remembers every call. concurrency: who is at it now, however long each takes. quota: the long counter of a plan, by the calendar.", required: true, choices: algorithms()},
	"LimitSpec.rate":      {text: "COUNT/PERIOD such as 20/s, 5/250ms, 10k/day. The count may end in k, M or G. A period is a duration with units ns, us, ms, s, m, h or d, or one of s, second, min, minute, h, hour, d, day, week, month, year.", pattern: ratePattern},
	"LimitSpec.count":     {text: "The first half of a rate, instead of it. concurrency: how many slots there are, at most 10,000.", min: 0, max: limiter.MaxCount},
	"LimitSpec.period":    {text: "The second half of a rate, instead of it.", pattern: periodPattern},
	"LimitSpec.ttl":       {text: "concurrency: how long a holder may go without renewing its slot, at most 24h. Others have no ttl.", absent: limiter.DefaultTTL.String(), pattern: periodPattern},
	"LimitSpec.burst":     {text: "token_bucket: what the bucket holds; left out, the count. leaky_bucket: how many may wait; left out, none. Others have no burst.", min: 0, max: limiter.MaxCount},
	"LimitSpec.align":     {text: "Where the windows of fixed_window and quota begin: at multiples of the period since 1970 (epoch), with days, weeks, months and years (calendar), or with the first call (first). Left out: calendar for a period named day or longer, else epoch.", choices: []string{"epoch", "calendar", "first"}},
	"LimitSpec.timezone":  {text: "The IANA time zone of calendar windows, such as America/Sao_Paulo.", absent: "UTC"},
	"LimitSpec.unit":      {text: "What is counted. It is shown in answers and changes no decision.", absent: "requests", choices: limiter.UnitNames()},
	"LimitSpec.durable":   {text: "Whether the counter is on disk, in node.data_dir, before an answer relies on it. Only fixed_window and quota can be. Left out: the policy's durable, else true for a quota and false otherwise."},
	"LimitSpec.anchor":    {text: "The day on which a calendar month begins. In a shorter month: its last day.", absent: 1, min: 1, max: 31},

	"Tiers.by":       {text: "Where a request names its tier: header:NAME or attr:NAME, or several with | between them, of which the first that it has counts. Let only your own gateway set it.", required: true, pattern: tierPattern},
	"Tiers.sets":     {text: "The tiers. A request of none, or of one that is not here, has the policy's own limits.", required: true, nonempty: true},
	"TierSet.name":   {text: "What requests say. Upper and lower case are different.", required: true, pattern: namePattern},
	"TierSet.limits": {text: "The limits of this tier. " + replaces, required: true, nonempty: true},

	"Override.key":        {text: "The whole key: as it comes with the check, or as the policy makes it (header:x-api-key=partner-1). Where the policy's key has one entry, the value alone is enough, and is of the entry's first source. A fingerprint (fp:...) is none."},
	"Override.key_prefix": {text: "The beginning of keys, in the same forms."},
	"Override.limits":     {text: "Other limits for these keys. " + replaces},
	"Override.unlimited":  {text: "Admits without counting.", absent: false},
	"Override.blocked":    {text: "Denies.", absent: false},

	"Exemption.cidr": {text: "The network that the client's address is in, such as 10.0.0.0/8.", pattern: `^[0-9A-Fa-f.:]+/[0-9]{1,3}$`},

	"Cooldown.for":    {text: "How long after a denial, 0s (not at all) to 366 days.", absent: "0s", pattern: durationPattern},
	"Cooldown.extend": {text: "Attempts in the meantime begin it anew.", absent: false},

	"Cost.default":      {text: "What a request costs for which nothing else holds. The file may have this number alone as cost.", absent: 1, min: 1, max: limiter.MaxCount},
	"Cost.by_method":    {text: "What requests of some methods cost."},
	"Cost.attr":         {text: "The attribute that holds the cost, if a request has it."},
	"MethodCost.method": {text: "The method, in upper case.", required: true, pattern: methodPattern},
	"MethodCost.cost":   {text: "What such a request costs.", required: true, min: 1, max: limiter.MaxCount},
}

// algorithms are the names of all.
func algorithms() []string {
	var names []string
	for _, a := range limiter.Algorithms() {
		names = append(names, a.String())
	}
	return names
}

// condition is one way to complete a group.
type condition struct {
	names []string // all of them are there
	field string   // with this value; empty: whatever the others say
	value string
}

// conditions are what a group must have besides what each field says: one of
// them holds.
var conditions = map[string][]condition{
	"LimitSpec": {
		{names: []string{"rate"}}, {names: []string{"count", "period"}},
		{names: []string{"count"}, field: "algorithm", value: limiter.Concurrency.String()},
	},
	"Override":  anyOf("key", "key_prefix"),
	"Exemption": anyOf("cidr", "host", "path", "method", "header", "query", "attribute"),
}

func anyOf(names ...string) []condition {
	all := make([]condition, len(names))
	for i := range names {
		all[i].names = names[i : i+1]
	}
	return all
}
