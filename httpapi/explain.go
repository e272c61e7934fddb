package httpapi

import (
	"encoding/json"
	"net/http"

	"github.com/murmurate/murmurate/policy"
)

// explainQuery is the parameter that asks for an explanation.
const explainQuery = "explain"

// explained is one policy of an explained check.
type explained struct {
	Policy string `json:"policy"`
	// Applies says whether the policy matched.
	Applies bool `json:"applies"`
	// Because is why it did not, or what is wrong.
	Because string `json:"because,omitempty"`
	// Key is the fingerprint of the key, and KeyFrom what it was made of.
	Key     string   `json:"key,omitempty"`
	KeyFrom []string `json:"key_from,omitempty"`
	Cost    int64    `json:"cost,omitempty"`
	// Rule is the exemption or override that decided.
	Rule        string `json:"rule,omitempty"`
	Exempt      bool   `json:"exempt,omitempty"`
	Unlimited   bool   `json:"unlimited,omitempty"`
	Blocked     bool   `json:"blocked,omitempty"`
	Tier        string `json:"tier,omitempty"`
	UnknownTier bool   `json:"unknown_tier,omitempty"`
}

// undecidedCheck is the answer to an explained check that some policy cannot
// decide. Like an item of a batch it has the error in place of the decision.
type undecidedCheck struct {
	Error   *problem        `json:"error"`
	Explain json.RawMessage `json:"explain"`
}

// wantsExplanation reports whether r asks for one. A check that was meant to be
// explained would be charged, and its caller none the wiser.
func wantsExplanation(r *http.Request) (bool, error) {
	if r.URL.RawQuery == "" {
		return false, nil
	}
	switch values, given := r.URL.Query()[explainQuery]; {
	case !given:
		return false, nil
	case len(values) == 1 && (values[0] == "1" || values[0] == "true"):
		return true, nil
	}
	return false, fault(explainQuery, "must be 1 or true, once, or left out")
}

// explanation is what every policy says of r, as JSON.
func (a *API) explanation(r *policy.Request) ([]byte, error) {
	if a.explain == nil || r.Attributes == nil || r.Policy != "" || r.Limit != nil {
		return nil, fault("attributes", "must be given, without policy and limit, for explain=1: it says which policies they match")
	}
	if err := r.Validate(); err != nil {
		return nil, err
	}
	all := a.explain(*r)
	list := make([]explained, len(all))
	for i := range all {
		e := &all[i]
		list[i] = explained{Policy: e.Policy, Applies: e.NoMatch == "" && e.Err == nil, Because: e.NoMatch}
		if e.Err != nil {
			list[i].Because = e.Err.Error()
		}
		if !list[i].Applies {
			continue
		}
		l, applied := &list[i], &e.Applied
		l.Key, l.KeyFrom, l.Cost, l.Rule, l.Tier = applied.Key, e.KeyFrom, applied.Cost, e.Rule, applied.Tier
		l.Exempt, l.Unlimited, l.Blocked, l.UnknownTier = applied.Exempt, applied.Unlimited, applied.Blocked, applied.UnknownTier
	}
	return json.Marshal(list)
}
