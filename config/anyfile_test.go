package config

import (
	"fmt"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"github.com/murmurate/murmurate/limiter"
)

// anySettings are values for settings that can stand together.
var anySettings = map[string]map[string][]any{
	"node": {"name": {"", "n1", "node_1.example"}},
	"http": {
		"listen": {":8080", "localhost:0", "[::1]:80"}, "admin_listen": {"", "127.0.0.1:7390"},
		"headers": {[]string{}, []string{"none"}, []string{"x", "ietf12", "ietf", "legacy"}}, "retry_after": {"date", "seconds"},
		"trusted_proxies": {[]string{"10.0.0.0/8", "2001:db8::1"}}, "client_ip_header": {"forwarded", "x-forwarded-for"},
		"ipv4_prefix": {1, 24}, "ipv6_prefix": {"48", 128}, "auth_tokens": {[]string{"0123456789abcdef"}},
	},
	"cluster": {
		"gossip": {"127.0.0.1:0", "[::1]:99"}, "peer": {"127.0.0.1:0", "[::ffff:127.0.0.1]:98"}, "advertise": {"", "203.0.113.7", "2001:db8::7"},
		"join": {[]string{"n2", "10.0.0.1:7381", "::1"}}, "label": {"blue", 5}, "secret": {"sixteen bytes..."}, "identity_key": {"sixteen more...."},
		"insecure": {true, false}, "deadline": {"1ms", "1500us", "1.5s", "10s"}, "evict_after": {"1s", "5m", "1h30m"},
	},
	"limiter": {"max_keys": {1, "10k", "1G"}},
	"log":     {"level": {"debug", "info", "warn", "error"}, "format": {"text", "json"}},
}

// anyFile is a configuration file without faults.
func anyFile(r *rapid.T) []byte {
	file := make(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(anySettings)) {
		file[name] = some(r, name, anySettings[name])
	}
	var policies []any
	for i := range rapid.IntRange(0, 3).Draw(r, "policies") {
		p := some(r, "policy", anyPolicy)
		p["name"] = fmt.Sprintf("policy-%d.a_b", i)
		p["limits"] = []any{anyLimit(r, "one"), anyLimit(r, "other"), anySlots(r)}
		if rapid.Bool().Draw(r, "tiers") {
			p["tiers"] = map[string]any{"by": "attr:plan", "sets": []any{map[string]any{"name": "pro", "limits": []any{anyLimit(r, "one"), anySlots(r)}}}}
		}
		if rapid.Bool().Draw(r, "overrides") {
			p["overrides"] = []any{
				map[string]any{"key": "a&b=c", "unlimited": true}, map[string]any{"key": 5, "blocked": true},
				map[string]any{"key_prefix": "test-", "limits": []any{anyLimit(r, "other")}},
			}
		}
		policies = append(policies, p)
	}
	file["policies"] = policies
	text, err := yaml.Marshal(file)
	if err != nil {
		r.Fatal(err)
	}
	return text
}

// anyPolicy holds values for what a policy may have besides its limits.
var anyPolicy = map[string][]any{
	"match": {map[string]any{
		"host": "*.example.com", "path": "/v1/{tenant}/**", "method": []string{"GET", "POST"},
		"header": []any{map[string]any{"name": "X-Beta", "value": "yes"}}, "attribute": []any{map[string]any{"name": "region"}},
	}, map[string]any{"query": []any{map[string]any{"name": "q", "value": 1}}}, map[string]any{}},
	"key":            {[]string{"global"}, []string{"header:X-Api-Key|cookie:session | ip", "query:a", "method"}, []string{"attr:user", "path", "host"}},
	"exempt":         {[]any{map[string]any{"cidr": "10.0.0.0/8"}, map[string]any{"path": "/static/**", "method": []string{"GET"}}}},
	"cost":           {1, "1", map[string]any{"default": 2}, map[string]any{"by_method": []any{map[string]any{"method": "POST", "cost": 2}}, "attr": "units"}},
	"shadow":         {true, false},
	"on_unreachable": {"local", "allow", "deny"},
	"deny_status":    {400, 503, "599"},
}

// some draws some of the names, each with one of its values.
func some(r *rapid.T, what string, values map[string][]any) map[string]any {
	drawn := make(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if rapid.Bool().Draw(r, what+"."+name) {
			drawn[name] = rapid.SampledFrom(values[name]).Draw(r, name)
		}
	}
	return drawn
}

// anySlots is a limit that only another one of its kind can take the place of.
func anySlots(r *rapid.T) map[string]any {
	limit := map[string]any{"name": "slots", "algorithm": "concurrency", "count": rapid.SampledFrom([]any{1, "10k"}).Draw(r, "slots")}
	if rapid.Bool().Draw(r, "has a ttl") {
		limit["ttl"] = rapid.SampledFrom([]string{"1ms", "90s", "1d"}).Draw(r, "ttl")
	}
	return limit
}

// anyLimit admits a cost of 2.
func anyLimit(r *rapid.T, name string) map[string]any {
	spending := slices.DeleteFunc(algorithms(), func(name string) bool { return name == "concurrency" })
	algorithm := rapid.SampledFrom(spending).Draw(r, "algorithm")
	limit := map[string]any{"name": name, "algorithm": algorithm}
	count := rapid.SampledFrom([]any{2, 100, "3k"}).Draw(r, "count")
	period := rapid.SampledFrom([]string{"s", "min", "h", "day", "month", "year", "250ms", "1h30m", "7d", "1d12h"}).Draw(r, "period")
	if rapid.Bool().Draw(r, "apart") {
		limit["count"], limit["period"] = count, period
	} else {
		limit["rate"] = fmt.Sprintf("%v/%s", count, period)
	}
	switch algorithm {
	case "token_bucket", "leaky_bucket":
		limit["burst"] = rapid.SampledFrom([]any{2, "5k"}).Draw(r, "burst")
	case "quota":
		limit["durable"], limit["unit"] = false, rapid.SampledFrom(limiter.UnitNames()).Draw(r, "unit")
	case "fixed_window":
		if period == "month" {
			limit["anchor"], limit["timezone"] = 31, "America/Sao_Paulo"
		} else {
			limit["align"] = rapid.SampledFrom([]string{"epoch", "first"}).Draw(r, "align")
		}
	}
	return limit
}
