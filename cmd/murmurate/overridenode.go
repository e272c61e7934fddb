package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/cluster"
	"github.com/murmurate/murmurate/httpapi"
	"github.com/murmurate/murmurate/policy"
)

// overridesOf are the overrides that are set on node, as HTTP shows them.
type overridesOf struct{ node *murmurate.Node }

var _ httpapi.Overrides = overridesOf{}

func (n overridesOf) SetOverride(policyName, key string, o policy.Override, expiresIn time.Duration) (httpapi.RuntimeOverride, error) {
	set, err := n.node.SetOverride(policyName, key, o, expiresIn)
	if errors.Is(err, cluster.ErrOverridesFull) {
		err = fmt.Errorf("%w: %w", httpapi.ErrOverridesFull, err)
	}
	return httpapi.RuntimeOverride(set), err
}

func (n overridesOf) Override(policyName, key string) (httpapi.RuntimeOverride, bool, error) {
	o, found, err := n.node.Override(policyName, key)
	return httpapi.RuntimeOverride(o), found, err
}

func (n overridesOf) RemoveOverride(policyName, key string) (bool, error) {
	return n.node.RemoveOverride(policyName, key)
}

func (n overridesOf) Overrides() []httpapi.RuntimeOverride {
	var all []httpapi.RuntimeOverride
	for _, o := range n.node.Overrides() {
		all = append(all, httpapi.RuntimeOverride(o))
	}
	return all
}
