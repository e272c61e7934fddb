package policy

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/murmurate/murmurate/limiter"
)

// Unreachable is what a check does when the node that counts its key cannot
// be asked in time. The zero value is Local.
type Unreachable uint8

const (
	// Local spends from the asking node's own share of the limit.
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

// Policy is a named set of limits on the key that a request gives.
type Policy struct {
	// Name is [A-Za-z][A-Za-z0-9_.-]{0,63}, unique in its Set. It is the
	// namespace of the policy's counters.
	Name string
	// Limits are charged all or none. At least one; names are unique. A lone
	// limit may go without a name and is then called by its policy's.
	Limits []limiter.Limit
	// Cost is what a request costs that does not say, at most what any of
	// Limits can hold that holds something. 0 is 1.
	Cost int64
	// OnUnreachable is the failure mode.
	OnUnreachable Unreachable
	// Shadow decides, counts and reports, but never denies.
	Shadow bool
}

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

// Capacity is the most units that the policy can ever admit at one instant.
func (p *Policy) Capacity() int64 {
	least := int64(math.MaxInt64)
	for i := range p.Limits {
		least = min(least, p.Limits[i].Capacity())
	}
	return least
}

// Validate reports every fault of p, joined, each an [*InputError] with the
// field's path.
func (p *Policy) Validate() error {
	return join(p.faults())
}

func (p *Policy) faults() []*InputError {
	var faults []*InputError
	fault := func(field, format string, args ...any) {
		faults = append(faults, &InputError{Field: field, Detail: fmt.Sprintf(format, args...)})
	}
	if !ValidName(p.Name) {
		fault("name", "%s, got %q", NameRule, clip(p.Name))
	}
	if len(p.Limits) == 0 {
		fault("limits", "a policy needs at least one limit")
	}
	if len(p.Limits) > limiter.MaxCharges {
		fault("limits", "a policy has at most %d limits, got %d", limiter.MaxCharges, len(p.Limits))
	}
	if p.Cost < 0 {
		fault("cost", "must not be negative")
	}
	if int(p.OnUnreachable) >= len(unreachableNames) {
		fault("on_unreachable", "must be one of %s", strings.Join(unreachableNames, ", "))
	}
	seen := make(map[string]bool, len(p.Limits))
	for i := range p.Limits {
		l, path := &p.Limits[i], fmt.Sprintf("limits[%d]", i)
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
		invalid := l.Validate()
		for _, err := range split(invalid) {
			field, detail, _ := strings.Cut(err.Error(), ": ")
			fault(path+"."+field, "%s", detail)
		}
		if most := l.Capacity(); invalid == nil && most > 0 && p.Cost > most { // a count of 0 is there to deny all
			fault("cost", "%d is more than limit %q can ever hold (%d)", p.Cost, clip(cmp.Or(l.Name, p.Name)), most)
		}
	}
	return faults
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
func (p *Policy) cost() int64 {
	if p.Cost == 0 {
		return 1
	}
	return p.Cost
}
