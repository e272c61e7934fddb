package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/murmurate/murmurate/policy"
)

// overrideStatus is one override that is set.
type overrideStatus struct {
	Policy      string             `json:"policy"`
	Fingerprint string             `json:"fingerprint"`
	Limits      []policy.LimitSpec `json:"limits"`
	Unlimited   bool               `json:"unlimited"`
	Blocked     bool               `json:"blocked"`
	InForce     bool               `json:"in_force"`
	ExpiresInMS int64              `json:"expires_in_ms"` // 0: never
	SetOn       string             `json:"set_on"`
	Warnings    []string           `json:"warnings"`
}

// effect says what the key has; limits as --limit takes them.
func (o *overrideStatus) effect() string {
	switch {
	case o.Unlimited:
		return "unlimited"
	case o.Blocked:
		return "blocked"
	}
	limits := make([]string, len(o.Limits))
	for i := range o.Limits {
		limits[i] = formatLimit(&o.Limits[i])
	}
	return strings.Join(limits, " ")
}

// expires says when it ends.
func (o *overrideStatus) expires() string {
	if o.ExpiresInMS == 0 {
		return "never"
	}
	return "in " + max(millis(o.ExpiresInMS).Round(time.Second), time.Second).String()
}

// overrideList is the answer to GET /v1/overrides.
type overrideList struct {
	Overrides []overrideStatus `json:"overrides"`

	raw json.RawMessage // as the node sent it
}

// MarshalJSON passes on what the node sent, fields unknown here included.
func (l overrideList) MarshalJSON() ([]byte, error) { return l.raw, nil } //nolint:unparam // as json.Marshaler has it

func (l overrideList) text(w *strings.Builder) {
	if len(l.Overrides) == 0 {
		fmt.Fprintln(w, "no overrides")
		return
	}
	rows := [][]string{{"POLICY", "KEY", "OVERRIDE", "IN FORCE", "EXPIRES", "SET ON"}}
	for i := range l.Overrides {
		o := &l.Overrides[i]
		rows = append(rows, []string{o.Policy, o.Fingerprint, o.effect(), yesNo(o.InForce), o.expires(), cmp.Or(o.SetOn, "-")})
	}
	table(w, rows)
}
