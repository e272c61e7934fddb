package policy

import (
	"fmt"
	"strings"

	"github.com/murmurate/murmurate/limiter"
)

// LimitSpec is a limit as people write it, in a configuration file or in a
// check that brings its own limit. The zero value of a field is the field
// left out.
type LimitSpec struct {
	// Name tells the limits of one policy apart.
	Name string `json:"name,omitempty" yaml:"name,omitempty"`
	// Algorithm is the name of an algorithm, such as "token_bucket". Required.
	Algorithm string `json:"algorithm,omitempty" yaml:"algorithm,omitempty"`
	// Rate is COUNT/PERIOD, see [ParseRate]. Required, unless Count and
	// Period are given. A concurrency limit has a Count, and neither Rate nor
	// Period.
	Rate string `json:"rate,omitempty" yaml:"rate,omitempty"`
	// Count and Period are the two halves of a rate, see [ParsePeriod].
	Count  *int64 `json:"count,omitempty" yaml:"count,omitempty"`
	Period string `json:"period,omitempty" yaml:"period,omitempty"`
	// TTL is the longest that a holder of a concurrency limit may ask for
	// between renewals, a duration. Default: [limiter.DefaultTTL].
	TTL string `json:"ttl,omitempty" yaml:"ttl,omitempty"`
	// Burst is the capacity of a token bucket (default: the count) or the
	// length of a leaky bucket's queue (default: 0).
	Burst *int64 `json:"burst,omitempty" yaml:"burst,omitempty"`
	// Align says where the windows of a fixed window or quota begin: "epoch",
	// "calendar" or "first". Default: "calendar" if the period is named day,
	// week, month or year, otherwise "epoch".
	Align string `json:"align,omitempty" yaml:"align,omitempty"`
	// Timezone is the IANA name of a calendar window's zone. Default: UTC.
	Timezone string `json:"timezone,omitempty" yaml:"timezone,omitempty"`
	// Anchor is the day, 1 to 31, on which a calendar month begins. Default: 1.
	Anchor *int64 `json:"anchor,omitempty" yaml:"anchor,omitempty"`
	// Unit is what is counted: "requests", "bytes" or "tokens". Default: requests.
	Unit string `json:"unit,omitempty" yaml:"unit,omitempty"`
	// Durable keeps the counter on disk. Default: in a policy of the
	// configuration true for a quota; otherwise false.
	Durable *bool `json:"durable,omitempty" yaml:"durable,omitempty"`
}

var alignNames = []string{
	limiter.AlignEpoch:    "epoch",
	limiter.AlignCalendar: "calendar",
	limiter.AlignFirst:    "first",
}

// Limit is the limit that s describes. Its error joins every fault of s,
// each an [*InputError] with the name of its field. The name is not judged:
// whether one is needed depends on the policy around it.
func (s *LimitSpec) Limit() (limiter.Limit, error) { return s.read(nil) }

// read is Limit, in the place of own if that is not nil.
func (s *LimitSpec) read(own *limiter.Limit) (limiter.Limit, error) {
	r := specReader{spec: s, limit: limiter.Limit{Name: s.Name}}
	r.algorithm()
	var period Period
	if r.limit.Algorithm == limiter.Concurrency {
		r.slots()
	} else {
		period = r.rate()
	}
	r.burst()
	if period.Length > 0 {
		r.align(period)
	}
	r.timezone()
	r.anchor()
	r.unit()
	r.limit.Durable = s.Durable != nil && *s.Durable
	if own != nil {
		r.inherit(own)
	}
	r.validate()
	if len(r.faults) > 0 {
		return limiter.Limit{}, join(r.faults)
	}
	return r.limit, nil
}

// specReader turns a spec into a limit, field by field, and gathers faults.
type specReader struct {
	spec   *LimitSpec
	limit  limiter.Limit
	faults []*InputError
	faulty map[string]bool // fields that have a fault already
}

func (r *specReader) fault(field, format string, args ...any) {
	if r.faulty == nil {
		r.faulty = make(map[string]bool)
	}
	r.faulty[field] = true
	r.faults = append(r.faults, &InputError{Field: field, Detail: fmt.Sprintf(format, args...)})
}

func (r *specReader) algorithm() {
	var ok bool
	if r.limit.Algorithm, ok = limiter.ParseAlgorithm(r.spec.Algorithm); ok {
		return
	}
	var names []string
	for _, a := range limiter.Algorithms() {
		names = append(names, a.String())
	}
	got, choices := r.spec.Algorithm, strings.Join(names, ", ")
	if got == "" {
		r.fault("algorithm", "is required: one of %s", choices)
		return
	}
	r.fault("algorithm", "must be one of %s, got %q%s", choices, clip(got), didYouMean(got, names))
}

// rate sets count and period from either way of writing them. The period is
// zero if it has a fault.
func (r *specReader) rate() Period {
	s := r.spec
	if s.TTL != "" && r.limit.Algorithm != 0 {
		r.fault("ttl", "only concurrency has a ttl: how long a holder may go without renewing")
	}
	switch {
	case s.Rate != "" && (s.Count != nil || s.Period != ""):
		r.fault("rate", "give either rate, or count and period, not both")
	case s.Rate != "":
		rate, err := ParseRate(s.Rate)
		if err != nil {
			r.fault("rate", "%v", err)
		}
		r.limit.Count, r.limit.Period = rate.Count, rate.Length
		return rate.Period
	case s.Count == nil && s.Period == "":
		r.fault("rate", "is required: COUNT/PERIOD such as 100/1m, 20/s or 5000/day")
	case s.Count == nil:
		r.fault("count", "is required beside period")
	case s.Period == "":
		r.fault("period", "is required beside count: a duration such as 1m or 24h, or a name such as day")
	}
	if s.Rate != "" || s.Period == "" {
		return Period{}
	}
	period, err := ParsePeriod(s.Period)
	if err != nil {
		r.fault("period", "%v", err)
	}
	if s.Count != nil {
		r.limit.Count = *s.Count
	}
	r.limit.Period = period.Length
	return period
}

func (r *specReader) burst() {
	if r.spec.Burst == nil {
		return
	}
	r.limit.Burst = *r.spec.Burst
	if r.limit.Burst != 0 {
		return
	}
	switch r.limit.Algorithm {
	case limiter.LeakyBucket:
	case limiter.TokenBucket:
		r.fault("burst", "must not be 0, a bucket that holds nothing: leave it out and it is the count")
	default:
		r.fault("burst", "only token_bucket and leaky_bucket have a burst: leave it out")
	}
}

// align places the windows of a fixed window.
func (r *specReader) align(period Period) {
	s, l := r.spec, &r.limit
	if !l.Algorithm.Windowed() {
		if s.Align != "" && l.Algorithm != 0 {
			r.fault("align", "only fixed_window and quota have windows to align")
		}
		return
	}
	if s.Align == "" {
		if period.Calendar >= limiter.Day {
			l.Align, l.Calendar = limiter.AlignCalendar, period.Calendar
		}
		return
	}
	for align, name := range alignNames {
		if name == s.Align {
			l.Align = limiter.Align(align)
			if l.Align == limiter.AlignCalendar {
				l.Calendar = calendarOf(period)
			}
			return
		}
	}
	r.fault("align", "must be epoch, calendar or first, got %q%s", clip(s.Align), didYouMean(s.Align, alignNames))
}

// calendarOf is the calendar unit as long as period, or 0. Months and years
// have no fixed length, so only their names mean them.
func calendarOf(period Period) limiter.Calendar {
	if period.Calendar != 0 {
		return period.Calendar
	}
	for _, n := range periodNames {
		if n.period.Length == period.Length && n.period.Calendar <= limiter.Week {
			return n.period.Calendar
		}
	}
	return 0
}

func (r *specReader) timezone() {
	if r.spec.Timezone == "" {
		return
	}
	zone, err := parseZone(r.spec.Timezone)
	if err != nil {
		r.fault("timezone", "%v", err)
	}
	r.limit.Zone = zone
}

// anchor keeps a day that is written apart from none, which a limit's 0 means.
func (r *specReader) anchor() {
	if r.spec.Anchor == nil {
		return
	}
	r.limit.Anchor = -1 // no day, which the limit refuses
	if day := *r.spec.Anchor; day >= 1 && day <= 31 {
		r.limit.Anchor = int(day)
	}
}

func (r *specReader) unit() {
	if r.spec.Unit == "" {
		return
	}
	var ok bool
	if r.limit.Unit, ok = limiter.ParseUnit(r.spec.Unit); !ok {
		names := limiter.UnitNames()
		r.fault("unit", "must be one of %s, got %q%s", strings.Join(names, ", "), clip(r.spec.Unit), didYouMean(r.spec.Unit, names))
	}
}

// validate adds what the limit itself finds wrong, except where a field's
// fault is known already, or follows from another's.
func (r *specReader) validate() {
	for _, err := range split(r.limit.Validate()) {
		field, detail, _ := strings.Cut(err.Error(), ": ")
		if r.faulty[field] || r.follows(field) {
			continue
		}
		if r.spec.Rate != "" && (field == "count" || field == "period") {
			field, detail = "rate", "the "+field+" "+detail
		}
		r.fault(field, "%s", detail)
	}
}

// follows reports whether a fault in field only shows that another field
// could not be read: the zero value took its place.
func (r *specReader) follows(field string) bool {
	switch field {
	case "count", "period":
		return r.faulty["rate"]
	case "durable":
		return r.faulty["algorithm"]
	default: // what else a limit may have depends on the algorithm, and on how it is aligned
		return r.faulty["algorithm"] || field != "burst" && (r.faulty["align"] || r.faulty["rate"] || r.faulty["period"])
	}
}
