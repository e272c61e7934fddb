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
// address alone, a part of the key that is there twice, what can never match,
// overrides of keys that are never made, exemptions of everything, to keep
// everybody out after one denial, and limits that can never deny because a
// stricter one always does first. bits says how addresses make keys.
func (p *Policy) Warnings(bits AddressBits) []Warning {
	var warnings []Warning
	own := p.clone()
	r := compile(&own, func(string, string, ...any) {})
	warnings = append(warnings, r.unmatchable()...)
	if p.byAddressAlone() {
		warnings = append(warnings, Warning{"key", "tells clients apart by their address alone, so all behind one address share the limit: " +
			"offices, schools and mobile networks do; put first what tells them apart, such as header:X-Api-Key | ip"})
	}
	warnings = append(warnings, r.key.repeated()...)
	for i := range p.Overrides {
		if w := r.key.misses(&p.Overrides[i], bits); w != "" {
			warnings = append(warnings, Warning{indexed("overrides", i), w})
		}
	}
	for i := range r.exempt {
		if w := r.exempt[i].exemptsAll(r.match); w != "" {
			warnings = append(warnings, Warning{indexed("exempt", i), w})
		}
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

// repeated are the entries of the key that another one makes superfluous.
func (k keyMaker) repeated() []Warning {
	var warnings []Warning
	for i := range k {
		if slices.ContainsFunc(k[:i], func(other keyEntry) bool { return slices.Equal(other, k[i]) }) {
			warnings = append(warnings, Warning{indexed("key", i), "is a part of the key already and changes nothing: leave it out"})
		}
	}
	return warnings
}

// unmatchable are the conditions that never hold beside others.
func (r *rules) unmatchable() []Warning {
	var warnings []Warning
	attributes := r.plans[0].policy.Match.Attribute
	for i, f := range attributes {
		if slices.ContainsFunc(attributes[:i], func(other Field) bool {
			return other.Name == f.Name && other.Value != "" && f.Value != "" && other.Value != f.Value
		}) {
			warnings = append(warnings, Warning{indexed("match.attribute", i), "never holds, because the same attribute must have another value too: " +
				"no request has both, so make a policy for each"})
		}
	}
	return warnings
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
