package httpapi

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/dunglas/httpsfv"

	"github.com/murmurate/murmurate/policy"
)

// policyField makes RateLimit-Policy: every limit that applied.
type policyField struct {
	policies func() *policy.Set
	made     atomic.Pointer[madeFields]
}

// madeFields holds RateLimit-Policy of every policy of one set, which is the
// same for each of its decisions.
type madeFields struct {
	set      *policy.Set
	byPolicy map[string]madeField
}

type madeField struct {
	limits []limitFields // with name, quota and window only
	field  string
}

func (f *policyField) of(policyName string, limits []limitFields) string {
	made, ok := f.all()[policyName]
	if ok && slices.EqualFunc(made.limits, limits, sameQuota) {
		return made.field
	}
	return quotaField(limits) // a caller's own limit, or a share of the policy's
}

func sameQuota(a, b limitFields) bool {
	return a.name == b.name && a.quota == b.quota && a.window == b.window && a.unit == b.unit
}

// all makes the fields anew after the policies were replaced.
func (f *policyField) all() map[string]madeField {
	policies := f.policies()
	if made := f.made.Load(); made != nil && made.set == policies {
		return made.byPolicy
	}
	made := &madeFields{set: policies, byPolicy: make(map[string]madeField)}
	for _, p := range policies.Policies() {
		var m madeField
		for i := range p.Limits {
			l := &p.Limits[i]
			m.limits = append(m.limits, limitFields{name: l.Name, unit: quotaUnit(l.Counts()), quota: l.Count, window: policy.WindowOf(l)})
		}
		m.field = quotaField(m.limits)
		made.byPolicy[p.Name] = m
	}
	f.made.Store(made)
	return made.byPolicy
}

func quotaField(limits []limitFields) string {
	list := make(httpsfv.List, 0, len(limits))
	for i := range limits {
		l := &limits[i]
		item := httpsfv.NewItem(l.name)
		item.Params.Add("q", clamp(l.quota))
		if l.unit != "" {
			item.Params.Add("qu", l.unit)
		}
		if l.window > 0 {
			item.Params.Add("w", ceil(l.window, time.Second))
		}
		list = append(list, item)
	}
	return marshal(list)
}

// marshal writes a field. It is empty, so not sent, for an empty list, and
// for a name that a field cannot hold, which no policy accepts.
func marshal(list httpsfv.List) string {
	field, err := httpsfv.Marshal(list)
	if err != nil {
		return ""
	}
	return field
}
