package httpapi

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

var overrideNames = []string{"limits", "unlimited", "blocked", "expires_in"}

// overrideRequest is an override as asked for.
type overrideRequest struct {
	policy.Override
	expiresIn time.Duration // 0: never
}

// decodeOverride reads the body of a PUT of an override in the named policy.
// The error joins every fault, each with its field.
func decodeOverride(data []byte, set *policy.Set, policyName string) (overrideRequest, error) {
	var o overrideRequest
	p, err := set.Policy(policyName)
	if err != nil {
		return o, err
	}
	r, err := newReader(data, `{"blocked":true,"expires_in":"24h"}`)
	if err != nil {
		return o, err
	}
	faults := r.fields(overrideNames, func(v *reader, name string) (err error) {
		switch name {
		case "limits":
			o.Limits, err = v.limitsFor(p)
		case "unlimited":
			o.Unlimited, err = v.boolean(name)
		case "blocked":
			o.Blocked, err = v.boolean(name)
		case "expires_in":
			o.expiresIn, err = v.expiry(name)
		}
		return err
	})
	readable := !slices.ContainsFunc(faults, func(f *policy.InputError) bool { return f.Field != "expires_in" })
	judged := o.Override
	judged.Key = "any" // whom it is for is said elsewhere
	for _, f := range bodyFaults(set.CheckOverride(policyName, &judged)) {
		if readable || f.Field != "" { // what it lacks may be what could not be read
			faults = append(faults, f)
		}
	}
	return o, joined(faults)
}

// bodyFaults are the faults that a node finds in an override, by the fields of
// the body.
func bodyFaults(err error) []*policy.InputError {
	faults := policy.InputErrors(err)
	for i, f := range faults {
		if rest, ok := strings.CutPrefix(f.Field, "override"); ok {
			own := *f
			own.Field = strings.TrimPrefix(rest, ".")
			faults[i] = &own
		}
	}
	return faults
}

// joined is errors.Join of faults.
func joined(faults []*policy.InputError) error {
	errs := make([]error, len(faults))
	for i, f := range faults {
		errs[i] = f
	}
	return errors.Join(errs...)
}

// limitsFor reads limits that take the place of p's. One that cannot be used
// is replaced, so that its name can still be judged.
func (r *reader) limitsFor(p *policy.Policy) ([]limiter.Limit, error) {
	var limits []limiter.Limit
	var faults []*policy.InputError
	err := r.array("limits", func(i int) error {
		var spec policy.LimitSpec
		item := &reader{data: r.value()}
		own := item.fields(limitNames, func(v *reader, name string) error { return v.specField(&spec, name) })
		limit, err := spec.LimitLike(replacedBy(&spec, p))
		if len(own) == 0 {
			own = policy.InputErrors(err)
		}
		if len(own) > 0 {
			limit = limiter.Limit{Name: spec.Name, Algorithm: limiter.SlidingWindow, Period: time.Second}
		}
		for _, f := range own {
			faults = append(faults, policy.InputErrors(within(fmt.Sprintf("limits[%d]", i), f))...)
		}
		limits = append(limits, limit)
		return nil
	})
	return limits, cmp.Or(err, joined(faults))
}

// replacedBy is the limit of p that spec is for. If there is none, which its
// name will be refused for, any will do.
func replacedBy(spec *policy.LimitSpec, p *policy.Policy) *limiter.Limit {
	return cmp.Or(p.LimitNamed(spec.Name), &p.Limits[0])
}

// expiry reads how long an override lasts.
func (r *reader) expiry(field string) (time.Duration, error) {
	text, err := r.text(field)
	if err != nil {
		return 0, err
	}
	period, err := policy.ParsePeriod(text)
	switch {
	case err != nil:
		return 0, fault(field, err.Error())
	case period.Length > maxExpiry:
		return 0, fault(field, fmt.Sprintf("must be at most %d days, got %q", maxExpiry/(24*time.Hour), clip(text)))
	}
	return period.Length, nil
}
