package policy

import (
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

func TestMisspeltAttributes(t *testing.T) {
	t.Parallel()
	s := mustSet(t, tiered())
	for name, meant := range map[string]string{
		"pth": "path", "PTH": "path", "ptah": "path", "paths": "path", "hots": "host", "hosts": "host", "hst": "host",
		"metod": "method", "methud": "method", "methods": "method", "qury": "query", "qiery": "query", "heders": "headers",
		"header": "headers", "headres": "headers", "cookies2": "cookies", "cokies": "cookies",
		"id": "", "vip": "", "zip": "", "pi": "", "op": "", "cost": "", "post": "", "math": "", // words of their own
		"path": "", "ip": "", "pathname": "", "holders": "", "plan": "", "user": "", "": "", "request_path": "",
	} {
		if got := s.MisspeltAttribute(name); got != meant {
			t.Errorf("%q: %q, want %q", name, got, meant)
		}
	}
}

// What a policy looks at, in whichever place, is not misspelt.
func TestAttributesInUse(t *testing.T) {
	t.Parallel()
	limits := []limiter.Limit{perMinute("", 10)}
	tiers := Tiers{By: "header:X-Plan | attr:metod", Sets: []TierSet{{Name: "pro", Limits: []limiter.Limit{{Algorithm: limiter.SlidingLog, Count: 20, Period: time.Minute}}}}}
	for name, p := range map[string]Policy{
		"pth":     {Match: Match{Attribute: []Field{{Name: "pth"}}}},
		"hosts":   {Exempt: []Exemption{{Match: Match{Attribute: []Field{{Name: "hosts", Value: "x"}}}}}},
		"headres": {Key: []string{"ip", "cookie:x | attr:headres"}},
		"metod":   {Tiers: tiers},
		"qury":    {Cost: Cost{Attr: "qury"}},
	} {
		p.Name, p.Limits = "p", limits
		s := mustSet(t, Policy{Name: "other", Limits: limits}, p)
		if meant := s.MisspeltAttribute(name); meant != "" {
			t.Errorf("%s is taken for %s", name, meant)
		}
		if s.MisspeltAttribute("cokies") == "" {
			t.Errorf("beside %s nothing is misspelt any more", name)
		}
	}
}
