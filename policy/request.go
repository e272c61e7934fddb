package policy

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/murmurate/murmurate/limiter"
)

// MaxKeyBytes bounds a key.
const MaxKeyBytes = 1024

// InlineName is the namespace of an inline limit that brings no name.
const InlineName = "inline"

// Request is one check.
type Request struct {
	// Policy names the policy to apply. Empty with Limit set; empty with
	// Attributes, every policy that they match applies.
	Policy string
	// Attributes is what the request says of itself, for policies to match and
	// to make keys of. Nil: nothing.
	Attributes Attributes
	// Key is who is limited, 1 to MaxKeyBytes bytes of UTF-8. With Attributes
	// it may be empty: then each policy makes its own.
	Key string
	// DefaultKey, if not empty, is the key in policies that have none of their
	// own. It is for those who call without a Key for all policies.
	DefaultKey string
	// Tier is which of the named policy's tiers the key is in, for those who look
	// at counters and have no Attributes, which say it otherwise. Empty: none.
	Tier string
	// Limit, when not nil, is a limit made by the caller instead of a
	// policy's. Its Name is the namespace of its counter; empty is InlineName.
	// With a policy's name, algorithm and period it shares that policy's
	// counter: name it otherwise unless that is meant.
	Limit *limiter.Limit
	// Cost is the units to charge. 0 is what the policy says, which is 1
	// unless it says otherwise.
	Cost int64
	// Peek asks without charging.
	Peek bool
	// TTL is how long an acquired lease holds without a renewal, at most the
	// ttl of each of its concurrency limits. 0 is the shortest of those. It says
	// nothing in a check.
	TTL time.Duration
	// Receipt takes the cost for an estimate: a request that is admitted is
	// given a receipt, with which the real cost is settled within
	// limiter.ReceiptLife. With Peek nothing is charged before that. Concurrency
	// limits have no part in it.
	Receipt bool
	// OnUnreachable, when not nil, is the failure mode in place of the
	// policy's.
	OnUnreachable *Unreachable
}

// Errors of a Request, matched with errors.Is.
var (
	// ErrInput is every error that the caller can mend by asking otherwise.
	ErrInput = errors.New("invalid request")
	// ErrUnknownPolicy is the ErrInput of a policy that the set does not hold.
	ErrUnknownPolicy = errors.New("unknown policy")
	// ErrReceiptExpired is the ErrInput of a receipt that can be settled no
	// more.
	ErrReceiptExpired = errors.New("expired receipt")
)

// InputError is the ErrInput with its details.
type InputError struct {
	// Field is the JSON path of the field at fault, such as "key".
	Field string
	// Detail says what is wrong and what would be right.
	Detail string
	// Unknown is set when the policy does not exist.
	Unknown bool
	// Other is the path of the field that this one clashes with, if it is one.
	Other string
	// Expired is set when the receipt was good once.
	Expired bool
}

// Error joins field and detail.
func (e *InputError) Error() string { return e.Field + ": " + e.Detail }

// Is matches ErrInput, and ErrUnknownPolicy or ErrReceiptExpired if that is
// the fault.
func (e *InputError) Is(target error) bool {
	return target == ErrInput || e.Unknown && target == ErrUnknownPolicy || e.Expired && target == ErrReceiptExpired
}

// InputErrors takes err, nil or joined by this package, apart.
func InputErrors(err error) []*InputError {
	var faults []*InputError
	for _, e := range split(err) {
		var input *InputError
		if errors.As(e, &input) {
			faults = append(faults, input)
		}
	}
	return faults
}

// CheckKey returns an InputError unless key can be limited.
func CheckKey(key string) error {
	switch {
	case key == "":
		return &InputError{Field: "key", Detail: "must not be empty"}
	case len(key) > MaxKeyBytes:
		return &InputError{Field: "key", Detail: fmt.Sprintf("must be at most %d bytes, got %d", MaxKeyBytes, len(key))}
	case !utf8.ValidString(key):
		return &InputError{Field: "key", Detail: "must be valid UTF-8"}
	}
	return nil
}

// unknown is the error of a policy that s does not hold.
func (s *Set) unknown(name string) error {
	if name == "" {
		return &InputError{Field: "policy", Detail: "must name a policy, or the check must bring attributes that policies match, or a limit"}
	}
	detail := fmt.Sprintf("there is no policy %q%s", clip(name), didYouMean(name, s.Names()))
	return &InputError{Field: "policy", Detail: detail, Unknown: true}
}

func inlinePlan(l limiter.Limit) (*Plan, error) {
	if l.Name == "" {
		l.Name = InlineName
	}
	if !ValidName(l.Name) {
		return nil, &InputError{Field: "limit.name", Detail: fmt.Sprintf("%s, got %q", NameRule, clip(l.Name))}
	}
	if err := l.Validate(); err != nil {
		field, detail, _ := strings.Cut(split(err)[0].Error(), ": ")
		return nil, &InputError{Field: "limit." + field, Detail: detail}
	}
	if l.Durable {
		return nil, &InputError{Field: "limit.durable", Detail: "only the limits of policies can be durable: whoever may check could fill the disk"}
	}
	return newPlan(&Policy{Name: l.Name, Limits: []limiter.Limit{l}}), nil
}
