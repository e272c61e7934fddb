package policy

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/murmurate/murmurate/limiter"
)

// Unreachable is what a check does when the node that counts its key cannot
// be asked in time. The zero value is Local.
type Unreachable uint8

const (
	// Local spends from the asking node's own share of the limit. Nobody has one
	// of a durable limit: a policy with such is Deny then.
	Local Unreachable = iota
	// Allow admits without counting.
	Allow
	// Deny refuses.
	Deny
)

var unreachableNames = []string{Local: "local", Allow: "allow", Deny: "deny"}

// ParseUnreachable returns the mode with the given configuration name.
func ParseUnreachable(name string) (Unreachable, bool) {
	i := slices.Index(unreachableNames, name)
	return Unreachable(max(i, 0)), i >= 0
}

// String returns the configuration name: "local", "allow" or "deny".
func (u Unreachable) String() string {
	if int(u) < len(unreachableNames) {
		return unreachableNames[u]
	}
	return fmt.Sprintf("unreachable(%d)", uint8(u))
}

// Policy selects requests and says what they are charged. With only Name and
// Limits it applies to every request and limits the key that the check gives.
type Policy struct {
	// Name is [A-Za-z][A-Za-z0-9_.-]{0,63}, unique in its Set. It is the
	// namespace of the policy's counters.
	Name string
	// Match selects the requests that the policy applies to, where a check
	// does not name its policy.
	Match Match
	// Key is what requests are told apart by. Each entry makes one part and
	// lists, between "|", sources of which the first that a request has is
	// taken: ip, header:NAME, cookie:NAME, query:NAME, path, path:NAME (a
	// capture of Match.Path), method, host, attr:NAME and global, one counter
	// for everybody. A request that has none shares one counter with all
	// others that have none. Empty: the key is the check's.
	Key []string
	// Limits are charged all or none. At least one; names are unique. A lone
	// limit may go without a name and is then called by its policy's.
	Limits []limiter.Limit
	// Tiers give some requests other limits.
	Tiers Tiers
	// Overrides give some keys other limits, or none.
	Overrides []Override
	// Exempt selects requests that are never charged: each on its own is
	// enough.
	Exempt []Exemption
	// Cost is what a request costs that does not say, at most what any of
	// Limits can hold that holds something. The zero value is 1.
	Cost Cost
	// OnUnreachable is the failure mode.
	OnUnreachable Unreachable
	// Shadow decides, counts and reports, but never denies.
	Shadow bool
	// Cooldown keeps a key denied that was denied once.
	Cooldown Cooldown
	// DenyStatus is the HTTP status of a denial, 400 to 599. 0 is
	// QuotaDenyStatus where a quota is what stands longest in the way, and
	// otherwise DefaultDenyStatus.
	DenyStatus int
}

// DefaultDenyStatus is the HTTP status of denials, Too Many Requests
// (RFC 6585, section 4).
const DefaultDenyStatus = 429

// QuotaDenyStatus is that of denials by a quota, Forbidden: trying again soon
// does not help.
const QuotaDenyStatus = 403

var nameForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,63}$`)

// ValidName reports whether name can name a policy or a limit: it must be
// valid as a metric label, in JSON, and as a string and a token of
// structured header fields (RFC 9651).
func ValidName(name string) bool { return nameForm.MatchString(name) }

// NameRule says in words what ValidName accepts.
const NameRule = "must be a letter followed by at most 63 letters, digits, '_', '.' or '-'"

// Delays reports whether an admitted request can be told to wait for its
// turn: a leaky bucket does so.
func (p *Policy) Delays() bool {
	return !p.Shadow && slices.ContainsFunc(p.Limits, func(l limiter.Limit) bool { return l.Algorithm == limiter.LeakyBucket })
}

// Validate reports every fault of p, joined, each an [*InputError] with the
// field's path.
func (p *Policy) Validate() error {
	return join(p.faults())
}

func (p *Policy) faults() []*InputError {
	var faults []*InputError
	own := p.clone()
	compile(&own, appendTo(&faults))
	return faults
}

// appendTo appends faults to list.
func appendTo(list *[]*InputError) faultFunc {
	return func(field, format string, args ...any) {
		*list = append(*list, &InputError{Field: field, Detail: fmt.Sprintf(format, args...)})
	}
}

// indexed is the path of an element of a list.
func indexed(list string, i int) string { return fmt.Sprintf("%s[%d]", list, i) }

// baseFaults judges what every policy has.
func (p *Policy) baseFaults(fault faultFunc) {
	if !ValidName(p.Name) {
		fault("name", "%s, got %q", NameRule, clip(p.Name))
	}
	if len(p.Limits) == 0 {
		fault("limits", "a policy needs at least one limit")
	}
	if len(p.Limits) > limiter.MaxCharges {
		fault("limits", "a policy has at most %d limits, got %d", limiter.MaxCharges, len(p.Limits))
	}
	if int(p.OnUnreachable) >= len(unreachableNames) {
		fault("on_unreachable", "must be one of %s", strings.Join(unreachableNames, ", "))
	}
	if s := p.DenyStatus; s != 0 && (s < 400 || s > 599) {
		fault("deny_status", "must be an HTTP status from 400 to 599, got %d", s)
	}
	p.Cooldown.faults(fault.under("cooldown"))
	seen := make(map[string]bool, len(p.Limits))
	for i := range p.Limits {
		l, path := &p.Limits[i], indexed("limits", i)
		switch {
		case l.Name == "" && len(p.Limits) == 1:
		case l.Name == "":
			fault(path+".name", "is required where a policy has several limits")
		case !ValidName(l.Name):
			fault(path+".name", "%s, got %q", NameRule, clip(l.Name))
		case seen[l.Name]:
			fault(path+".name", "%q is already the name of another limit of this policy", l.Name)
		}
		seen[l.Name] = true
		limitFaults(l, fault.under(path))
	}
}

// limitFaults reports what is wrong with l itself.
func limitFaults(l *limiter.Limit, fault faultFunc) {
	for _, err := range split(l.Validate()) {
		field, detail, _ := strings.Cut(err.Error(), ": ")
		fault(field, "%s", detail)
	}
}

// join is errors.Join of faults.
func join(faults []*InputError) error {
	errs := make([]error, len(faults))
	for i, f := range faults {
		errs[i] = f
	}
	return errors.Join(errs...)
}

// split takes a joined error apart.
func split(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

// cost is the price of a request that does not name its own.
func (p *Policy) cost() int64 { return max(p.Cost.Default, 1) }
