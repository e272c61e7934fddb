package murmurate

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// overrideValue is what is kept of an override beside whom it is for, on every
// node and on disk. Later versions may add fields; a node takes no notice of
// those that it does not know. No key is among them.
type overrideValue struct {
	// Policy is the policy's name.
	Policy string `json:"policy"`
	// Also are the subjects that the same key has where it is spelled
	// otherwise.
	Also []limiter.Subject `json:"also,omitempty"`
	// Limits, Unlimited and Blocked are those of a policy.Override.
	Limits    []limitValue `json:"limits,omitempty"`
	Unlimited bool         `json:"unlimited,omitempty"`
	Blocked   bool         `json:"blocked,omitempty"`
}

// limitValue is a limiter.Limit, with the numbers that travel between nodes
// anyway.
type limitValue struct {
	Name      string            `json:"name,omitempty"`
	Algorithm limiter.Algorithm `json:"algorithm"`
	Count     int64             `json:"count"`
	Period    time.Duration     `json:"period"` // in nanoseconds
	Burst     int64             `json:"burst,omitempty"`
	Align     limiter.Align     `json:"align,omitempty"`
	Calendar  limiter.Calendar  `json:"calendar,omitempty"`
	Zone      string            `json:"zone,omitempty"`
	Anchor    int               `json:"anchor,omitempty"`
	Unit      limiter.Unit      `json:"unit,omitempty"`
	Durable   bool              `json:"durable,omitempty"`
}

func (v *overrideValue) encode() ([]byte, error) { return json.Marshal(v) }

func decodeOverride(b []byte) (v overrideValue, o policy.Override, err error) {
	if err := json.Unmarshal(b, &v); err != nil {
		return v, o, err
	}
	o = policy.Override{Unlimited: v.Unlimited, Blocked: v.Blocked}
	for i := range v.Limits {
		l, err := v.Limits[i].limit()
		if err != nil {
			return v, o, fmt.Errorf("limit %q: %w", v.Limits[i].Name, err)
		}
		o.Limits = append(o.Limits, l)
	}
	return v, o, nil
}

func valueOf(l *limiter.Limit) limitValue {
	v := limitValue{
		Name: l.Name, Algorithm: l.Algorithm, Count: l.Count, Period: l.Period, Burst: l.Burst,
		Align: l.Align, Calendar: l.Calendar, Anchor: l.Anchor, Unit: l.Unit, Durable: l.Durable,
	}
	if l.Zone != nil {
		v.Zone = l.Zone.String()
	}
	return v
}

func (v *limitValue) limit() (limiter.Limit, error) {
	l := limiter.Limit{
		Name: v.Name, Algorithm: v.Algorithm, Count: v.Count, Period: v.Period, Burst: v.Burst,
		Align: v.Align, Calendar: v.Calendar, Anchor: v.Anchor, Unit: v.Unit, Durable: v.Durable,
	}
	if v.Zone != "" {
		zone, err := time.LoadLocation(v.Zone)
		if err != nil {
			return l, err
		}
		l.Zone = zone
	}
	return l, l.Validate()
}
