package httpapi

import (
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dunglas/httpsfv"

	"github.com/murmurate/murmurate/policy"
)

// maxInteger is the largest integer of a structured field (RFC 9651, section
// 3.3.1).
const maxInteger = 999_999_999_999_999

// fieldWriter writes the fields of the dialects that are on.
type fieldWriter struct {
	ietf, legacy bool
	policies     func() *policy.Set
	made         atomic.Pointer[madeFields]
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

func newFieldWriter(dialects []Dialect, policies func() *policy.Set) *fieldWriter {
	return &fieldWriter{
		ietf:     slices.Contains(dialects, IETF),
		legacy:   slices.Contains(dialects, Legacy),
		policies: policies,
	}
}

// write sets the fields of a decision on limits. Those that nobody counted
// (the failure mode admitted or denied) appear in RateLimit-Policy only: they
// are in force, but what remains of them is not known. Those that a share
// stood in for appear with the share's numbers.
func (f *fieldWriter) write(h http.Header, policyName string, limits []limitFields) {
	if f.ietf {
		set(h, "Ratelimit-Policy", f.policyField(policyName, limits))
		set(h, "Ratelimit", stateField(limits))
	}
	if f.legacy {
		writeLegacy(h, limits)
	}
}

// set sets a field whose name is in canonical form already. An empty list is
// a field that is not sent (RFC 9651, section 3.1).
func set(h http.Header, name, value string) {
	if value != "" {
		h[name] = []string{value}
	}
}

func writeLegacy(h http.Header, limits []limitFields) {
	l := closest(limits)
	if l == nil {
		return
	}
	set(h, "Ratelimit-Limit", strconv.FormatInt(clamp(l.quota), 10))
	set(h, "Ratelimit-Remaining", strconv.FormatInt(clamp(l.remaining), 10))
	if seconds, ok := l.until(); ok {
		set(h, "Ratelimit-Reset", strconv.FormatInt(seconds, 10))
	}
}

// policyField is RateLimit-Policy: every limit that applied.
func (f *fieldWriter) policyField(policyName string, limits []limitFields) string {
	made, ok := f.madeFields()[policyName]
	if ok && slices.EqualFunc(made.limits, limits, sameQuota) {
		return made.field
	}
	return quotaField(limits) // a caller's own limit, or a share of the policy's
}

func sameQuota(a, b limitFields) bool {
	return a.name == b.name && a.quota == b.quota && a.window == b.window && a.unit == b.unit
}

// madeFields makes the fields anew after the policies were replaced.
func (f *fieldWriter) madeFields() map[string]madeField {
	policies := f.policies()
	if made := f.made.Load(); made != nil && made.set == policies {
		return made.byPolicy
	}
	made := &madeFields{set: policies, byPolicy: make(map[string]madeField)}
	for _, p := range policies.Policies() {
		var m madeField
		for i := range p.Limits {
			l := &p.Limits[i]
			m.limits = append(m.limits, limitFields{name: l.Name, quota: l.Count, window: l.Period})
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
		if l.unit != "" && l.unit != policy.UnitRequests {
			item.Params.Add("qu", l.unit)
		}
		if l.window > 0 {
			item.Params.Add("w", ceil(l.window, time.Second))
		}
		list = append(list, item)
	}
	return marshal(list)
}

// stateParams are the parameters of RateLimit, used again and again: they are
// maps, and making those for every answer costs more than all the rest of it.
var stateParams = sync.Pool{New: func() any { return httpsfv.NewParams() }}

// stateField is RateLimit: every limit that was evaluated.
func stateField(limits []limitFields) string {
	list := make(httpsfv.List, 0, len(limits))
	for i := range limits {
		l := &limits[i]
		if l.uncounted {
			continue
		}
		params := stateParams.Get().(*httpsfv.Params)
		defer stateParams.Put(params)
		params.Add("r", clamp(l.remaining))
		if seconds, ok := l.until(); ok {
			params.Add("t", seconds)
		} else {
			params.Del("t")
		}
		list = append(list, httpsfv.Item{Value: l.name, Params: params})
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

func clamp(n int64) int64 { return min(max(n, 0), maxInteger) }
