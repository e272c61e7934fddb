package policy

import (
	"slices"

	"github.com/murmurate/murmurate/limiter"
)

// Warning is something that works as it is written and is likely not meant.
type Warning struct {
	// Field is the path of the field in its policy, such as "limits[1]".
	Field string
	// Detail says what happens and what to change.
	Detail string
}

// Warnings says what p, which is valid, likely does not mean: to limit by the
// address alone, to keep everybody out after one denial, and limits that can
// never deny because a stricter one always does first.
func (p *Policy) Warnings() []Warning {
	var warnings []Warning
	if p.byAddressAlone() {
		warnings = append(warnings, Warning{"key", "tells clients apart by their address alone, so all behind one address share the limit: " +
			"offices, schools and mobile networks do; put first what tells them apart, such as header:X-Api-Key | ip"})
	}
	if p.coolsEverybody() {
		warnings = append(warnings, Warning{"cooldown", "keeps everybody out after one denial, because all share the key global: " +
			"leave it out, or give the policy a key that tells clients apart"})
	}
	warnings = append(warnings, p.idleLimits(p.Limits, "limits", nil)...)
	for i := range p.Tiers.Sets {
		set := &p.Tiers.Sets[i]
		warnings = append(warnings, p.idleLimits(set.Limits, indexed("tiers.sets", i)+".limits", replaced(p, set.Limits))...)
	}
	return warnings
}

// byAddressAlone reports whether nothing but the address tells the clients of
// one route apart.
func (p *Policy) byAddressAlone() bool {
	return slices.Contains(p.Key, string(KeyIP)) && !slices.ContainsFunc(p.Key, func(entry string) bool {
		return !slices.Contains([]string{string(KeyIP), string(KeyPath), string(KeyMethod), string(KeyHost)}, entry)
	})
}

// idleLimits are those of limits that can never deny beside all, which hold
// them, or nil for limits themselves. Of two that are equally strict the
// second is idle.
func (p *Policy) idleLimits(limits []limiter.Limit, path string, all []limiter.Limit) []Warning {
	if all == nil {
		all = limits
	}
	var warnings []Warning
	for i := range limits {
		l := &limits[i]
		own := slices.IndexFunc(all, func(other limiter.Limit) bool { return p.limitName(&other) == p.limitName(l) })
		for j := range all {
			stricter := &all[j]
			if j == own || !neverDenies(l, stricter) || j > own && neverDenies(stricter, l) {
				continue
			}
			warnings = append(warnings, Warning{indexed(path, i), "can never deny, because limit \"" + p.limitName(stricter) +
				"\" always does first: lower its count, or remove it"})
			break
		}
	}
	return warnings
}
