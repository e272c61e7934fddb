package httpapi

import (
	"cmp"
	"net/http"
	"strings"
	"time"

	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// policyJSON is a policy under the names of the configuration file.
type policyJSON struct {
	Name   string             `json:"name"`
	Match  policy.Match       `json:"match,omitzero"`
	Key    []string           `json:"key,omitempty"`
	Limits []policy.LimitSpec `json:"limits"`
	Tiers  *tiersJSON         `json:"tiers,omitempty"`
	// Overrides is how many there are: keys can be personal data.
	Overrides     int                `json:"overrides"`
	Exempt        []policy.Exemption `json:"exempt,omitempty"`
	Cost          costJSON           `json:"cost"`
	OnUnreachable string             `json:"on_unreachable"`
	Shadow        bool               `json:"shadow"`
	Cooldown      *cooldownJSON      `json:"cooldown,omitempty"`
	// DenyStatus is left out if it depends on which limit denies.
	DenyStatus int `json:"deny_status,omitempty"`
}

type tiersJSON struct {
	By   string     `json:"by"`
	Sets []tierJSON `json:"sets"`
}

type tierJSON struct {
	Name   string             `json:"name"`
	Limits []policy.LimitSpec `json:"limits"`
}

type costJSON struct {
	Default  int64               `json:"default"`
	ByMethod []policy.MethodCost `json:"by_method,omitempty"`
	Attr     string              `json:"attr,omitempty"`
}

type cooldownJSON struct {
	For    string `json:"for"`
	Extend bool   `json:"extend"`
}

// policies serves GET /v1/policies.
func (a *API) policies(w http.ResponseWriter, _ *http.Request) {
	set := a.node.Policies().Policies()
	answer := struct {
		Policies []policyJSON `json:"policies"`
	}{make([]policyJSON, len(set))}
	for i := range set {
		answer.Policies[i] = shownPolicy(&set[i])
	}
	writeJSON(w, answer)
}

func shownPolicy(p *policy.Policy) policyJSON {
	return policyJSON{
		Name:          p.Name,
		Match:         p.Match,
		Key:           p.Key,
		Limits:        specsOf(p.Limits),
		Tiers:         shownTiers(&p.Tiers),
		Overrides:     len(p.Overrides),
		Exempt:        p.Exempt,
		Cost:          costJSON{max(p.Cost.Default, 1), p.Cost.ByMethod, p.Cost.Attr},
		OnUnreachable: p.OnUnreachable.String(),
		Shadow:        p.Shadow,
		Cooldown:      shownCooldown(p.Cooldown),
		DenyStatus:    cmp.Or(p.DenyStatus, defaultStatus(p)),
	}
}

// defaultStatus is the status of the denials by p if it sets none: that of quotas,
// or of rates, or 0 if there are both.
func defaultStatus(p *policy.Policy) int {
	quotas, others := false, false
	look := func(limits []limiter.Limit) {
		for i := range limits {
			quota := limits[i].Algorithm == limiter.Quota
			quotas, others = quotas || quota, others || !quota
		}
	}
	look(p.Limits)
	for i := range p.Tiers.Sets {
		look(p.Tiers.Sets[i].Limits)
	}
	for i := range p.Overrides {
		look(p.Overrides[i].Limits)
	}
	switch {
	case !quotas:
		return policy.DefaultDenyStatus
	case !others:
		return policy.QuotaDenyStatus
	}
	return 0
}

// shownCooldown is nil if there is none.
func shownCooldown(c policy.Cooldown) *cooldownJSON {
	if c.For == 0 {
		return nil
	}
	return &cooldownJSON{periodOf(c.For), c.Extend}
}

// shownTiers is nil if there are none.
func shownTiers(t *policy.Tiers) *tiersJSON {
	if len(t.Sets) == 0 {
		return nil
	}
	shown := &tiersJSON{By: t.By}
	for i := range t.Sets {
		shown.Sets = append(shown.Sets, tierJSON{t.Sets[i].Name, specsOf(t.Sets[i].Limits)})
	}
	return shown
}

func specsOf(limits []limiter.Limit) []policy.LimitSpec {
	specs := make([]policy.LimitSpec, len(limits))
	for i := range limits {
		specs[i] = specOf(&limits[i])
	}
	return specs
}

// specOf writes l so that reading it gives l again.
func specOf(l *limiter.Limit) policy.LimitSpec {
	spec := policy.LimitSpec{
		Name:      l.Name,
		Algorithm: l.Algorithm.String(),
		Count:     &l.Count,
	}
	if l.Algorithm == limiter.Concurrency {
		spec.TTL = periodOf(l.Period)
		return spec
	}
	spec.Period = periodOf(l.Period)
	if l.Unit != limiter.Requests {
		spec.Unit = l.Unit.String()
	}
	if l.Durable || l.Algorithm == limiter.Quota {
		spec.Durable = &l.Durable
	}
	if l.Burst > 0 {
		spec.Burst = &l.Burst
	}
	if !l.Algorithm.Windowed() {
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
