package httpapi

import (
	"net/http"
	"strings"
	"time"

	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// policyJSON is a policy under the names of the configuration file.
type policyJSON struct {
	Name          string             `json:"name"`
	Limits        []policy.LimitSpec `json:"limits"`
	Cost          costJSON           `json:"cost"`
	OnUnreachable string             `json:"on_unreachable"`
	Shadow        bool               `json:"shadow"`
}

type costJSON struct {
	Default int64 `json:"default"`
}

// policies serves GET /v1/policies.
func (a *API) policies(w http.ResponseWriter, _ *http.Request) {
	set := a.node.Policies().Policies()
	answer := struct {
		Policies []policyJSON `json:"policies"`
	}{make([]policyJSON, len(set))}
	for i := range set {
		p := &set[i]
		shown := policyJSON{
			Name:          p.Name,
			Cost:          costJSON{max(p.Cost.Default, 1)},
			OnUnreachable: p.OnUnreachable.String(),
			Shadow:        p.Shadow,
		}
		for j := range p.Limits {
			shown.Limits = append(shown.Limits, specOf(&p.Limits[j]))
		}
		answer.Policies[i] = shown
	}
	writeJSON(w, answer)
}

// specOf writes l so that reading it gives l again.
func specOf(l *limiter.Limit) policy.LimitSpec {
	spec := policy.LimitSpec{
		Name:      l.Name,
		Algorithm: l.Algorithm.String(),
		Count:     &l.Count,
		Period:    periodOf(l.Period),
	}
	if l.Burst > 0 {
		spec.Burst = &l.Burst
	}
	if l.Algorithm != limiter.FixedWindow {
		return spec
	}
	switch l.Align {
	case limiter.AlignEpoch:
		spec.Align = "epoch"
	case limiter.AlignFirst:
		spec.Align = "first"
	case limiter.AlignCalendar:
		spec.Align, spec.Period = "calendar", calendarNames[l.Calendar]
		if l.Zone != nil {
			spec.Timezone = l.Zone.String()
		}
		if l.Anchor > 0 {
			spec.Anchor = new(int64(l.Anchor))
		}
	}
	return spec
}

var calendarNames = map[limiter.Calendar]string{
	limiter.Minute: "minute", limiter.Hour: "hour", limiter.Day: "day",
	limiter.Week: "week", limiter.Month: "month", limiter.Year: "year",
}

// periodOf writes d without the zero parts of time.Duration's form, such as
// "24h" for "24h0m0s".
func periodOf(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
