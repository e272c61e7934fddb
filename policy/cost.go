package policy

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/murmurate/murmurate/limiter"
)

// Cost is what a request costs that is not given a cost: its attribute's
// value if it has one, or else what its method costs, or else the default.
type Cost struct {
	// Default is at least 1. 0 is 1.
	Default int64
	// ByMethod is what requests of some methods cost.
	ByMethod []MethodCost
	// Attr is the name of the attribute that holds the cost, a whole number
	// from 1 on. Empty: none.
	Attr string
}

// MethodCost is what requests of one method cost.
type MethodCost struct {
	// Method is in upper case.
	Method string `json:"method" yaml:"method"`
	// Cost is at least 1.
	Cost int64 `json:"cost" yaml:"cost"`
}

// faults judges c. A cost that one of limits can never hold never passes,
// except that a count of 0 is there to deny all.
func (c *Cost) faults(limits []limiter.Limit, policy string, fault faultFunc) {
	if c.Default < 0 {
		fault("default", "must not be negative")
	}
	fitsAll(c.Default, limits, policy, "default", fault)
	for i, m := range c.ByMethod {
		before := make([]string, i)
		for j := range before {
			before[j] = c.ByMethod[j].Method
		}
		path := indexed("by_method", i)
		checkMethod(m.Method, before, path+".method", fault)
		if m.Cost < 1 {
			fault(path+".cost", "must be at least 1, got %d; what costs nothing belongs into exempt", m.Cost)
		}
		fitsAll(m.Cost, limits, policy, path+".cost", fault)
	}
	if c.Attr != "" {
		if _, err := namedSource(KeyAttr, c.Attr); err != nil {
			fault("attr", "%v", err)
		}
	}
}

// fitsAll reports a cost that one of limits can never hold. Slots have none.
func fitsAll(cost int64, limits []limiter.Limit, policy, field string, fault faultFunc) {
	for i := range limits {
		l := &limits[i]
		if most := l.Capacity(); !hasSlots(*l) && l.Validate() == nil && most > 0 && cost > most {
			fault(field, "%d is more than limit %q can ever hold (%d)", cost, clip(cmp.Or(l.Name, policy)), most)
		}
	}
}

// of is what v costs, at least 1.
func (c *Cost) of(v *view) (int64, error) {
	if c.Attr != "" {
		if written := v.Attr(c.Attr); written != "" {
			return attributeCost(c.Attr, written)
		}
	}
	if i := slices.IndexFunc(c.ByMethod, func(m MethodCost) bool { return m.Method == v.method }); i >= 0 {
		return c.ByMethod[i].Cost, nil
	}
	return max(c.Default, 1), nil
}

func attributeCost(name, written string) (int64, error) {
	cost, err := ParseSize(written)
	if err == nil && cost < 1 {
		err = fmt.Errorf("must be at least 1, got %d", cost)
	}
	if err != nil {
		return 0, &InputError{Field: "attributes." + name, Detail: fmt.Sprintf("is the request's cost and %v", err)}
	}
	return cost, nil
}
