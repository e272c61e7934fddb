package config

import (
	"github.com/murmurate/murmurate/policy"
)

// Policy is a policy as it is written. What it means is said of
// [policy.Policy].
type Policy struct {
	// Name is what checks call the policy by.
	Name string `yaml:"name"`
	// Match selects the requests that the policy applies to.
	Match policy.Match `yaml:"match,omitempty"`
	// Key is what requests are told apart by. Empty: the check's key.
	Key []string `yaml:"key,omitempty"`
	// Limits are charged all or none.
	Limits []policy.LimitSpec `yaml:"limits"`
	// Tiers give some requests other limits.
	Tiers Tiers `yaml:"tiers,omitempty"`
	// Overrides give some keys other limits, or none.
	Overrides []Override `yaml:"overrides,omitempty"`
	// Exempt selects requests that are never charged.
	Exempt []policy.Exemption `yaml:"exempt,omitempty"`
	// Cost is what a check costs. The file may have the default alone.
	Cost Cost `yaml:"cost,omitempty" short:"default"`
	// Shadow decides, counts and reports, but never denies.
	Shadow bool `yaml:"shadow,omitempty"`
	// Cooldown keeps a key denied that was denied once. The file may have the
	// duration alone.
	Cooldown policy.Cooldown `yaml:"cooldown,omitempty" short:"for"`
	// OnUnreachable is local, allow or deny. Empty: local.
	OnUnreachable string `yaml:"on_unreachable,omitempty"`
	// Durable is that of the limits that do not say. Nil: true of quotas, false
	// of others.
	Durable *bool `yaml:"durable,omitempty"`
	// DenyStatus is the HTTP status of a denial. Nil: 429, of quotas 403.
	DenyStatus *int `yaml:"deny_status,omitempty"`
}

// Tiers are the tiers of a policy.
type Tiers struct {
	// By is header:NAME or attr:NAME.
	By string `yaml:"by,omitempty"`
	// Sets are the tiers.
	Sets []TierSet `yaml:"sets,omitempty"`
}

// TierSet is one tier.
type TierSet struct {
	// Name is what requests say.
	Name string `yaml:"name"`
	// Limits replace those of the policy that have the same name.
	Limits []policy.LimitSpec `yaml:"limits"`
}

// Override is for the one Key, or for all keys that begin with KeyPrefix.
type Override struct {
	Key       string `yaml:"key,omitempty"`
	KeyPrefix string `yaml:"key_prefix,omitempty"`
	// Limits replace those of the policy that have the same name.
	Limits []policy.LimitSpec `yaml:"limits,omitempty"`
	// Unlimited admits without counting.
	Unlimited bool `yaml:"unlimited,omitempty"`
	// Blocked denies.
	Blocked bool `yaml:"blocked,omitempty"`
}

// Cost is the price of a check.
type Cost struct {
	// Default is the cost of a check that does not say, at least 1. Nil: 1.
	Default *int64 `yaml:"default,omitempty"`
	// ByMethod is the cost of requests of some methods.
	ByMethod []policy.MethodCost `yaml:"by_method,omitempty"`
	// Attr is the attribute that holds the cost.
	Attr string `yaml:"attr,omitempty"`
}
