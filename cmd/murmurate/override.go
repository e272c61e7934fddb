package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/murmurate/murmurate/policy"
)

func newOverride(sh *shell) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "override",
		Short: "Give single keys other limits while the nodes run",
		Long: `Override gives a key other limits than its policy has, or none, or blocks it. An
override holds on every node, wins over those of the configuration, and lasts
until it expires or is removed. It is administration: a node that listens beyond
loopback asks for a token. KEY is the key, or the fingerprint (fp:HEX) that is
shown instead of it.`,
	}
	onlyCommands(cmd)
	cmd.AddCommand(newOverrideSet(sh), newOverrideList(sh), newOverrideRemove(sh))
	return cmd
}

// overrideBody is the body of PUT /v1/overrides/{policy}/{key}.
type overrideBody struct {
	Limits    []policy.LimitSpec `json:"limits,omitempty"`
	Unlimited bool               `json:"unlimited,omitempty"`
	Blocked   bool               `json:"blocked,omitempty"`
	ExpiresIn string             `json:"expires_in,omitempty"`
}

func newOverrideSet(sh *shell) *cobra.Command {
	var (
		on     keyOnNode
		body   overrideBody
		limits []string
	)
	cmd := &cobra.Command{
		Use:   "set KEY --policy NAME (--limit LIMIT... | --unlimited | --blocked)",
		Short: "Set the override of KEY",
		Long: `Set gives KEY an override in one policy, in place of the one that it has.

A LIMIT is NAME=RATE, or the RATE alone where the policy has one limit without a
name. It takes the place of the policy's limit of that name and counts as that
one does; the others stay. After commas it can have burst=N, and algorithm, align,
timezone and anchor where they are to differ from that one's. Without burst a token
bucket holds the count, and in a leaky bucket nobody may wait, whatever burst the
policy has.

KEY is written as in the configuration: with several parts or places as the policy
makes it, such as header:x-api-key=VALUE&path:tenant=VALUE, ip=203.0.113.9, or
ip=2001:db8:1:2::/64. What works and is likely not meant, such as a key that no
request of the policy has, is a warning on standard error.`,
		Example: `  murmurate override set partner-1 --policy api --limit minute=600/min
  murmurate override set partner-1 --policy api --limit burst=200/s,burst=400 --limit day=1M/day --expires 7d
  murmurate override set nightly-job --policy api --unlimited --expires 24h
  murmurate override set fp:9a1c0f5be2d34786a0b1c2d3e4f50617 --policy api --blocked`,
		Args: arguments("KEY"),
		RunE: action(func(cmd *cobra.Command, args []string) error {
			path, err := on.path(args[0])
			if err != nil {
				return err
			}
			if err := body.fill(limits); err != nil {
				return err
			}
			a, err := on.node.do(cmd.Context(), http.MethodPut, path, body)
			if err != nil {
				return err
			}
			return sh.printOverride("set", a)
		}),
	}
	on.flags(sh, cmd)
	cmd.Flags().StringArrayVar(&limits, "limit", nil, "a `LIMIT` such as minute=600/min or burst=200/s,burst=400; can be repeated")
	cmd.Flags().BoolVar(&body.Unlimited, "unlimited", false, "admit without counting")
	cmd.Flags().BoolVar(&body.Blocked, "blocked", false, "deny")
	cmd.Flags().StringVar(&body.ExpiresIn, "expires", "", "remove it after a `TIME` such as 30m, 24h or 7d; unset: never")
	return cmd
}

// fill judges the flags, and reads the limits.
func (b *overrideBody) fill(limits []string) error {
	effects := 0
	for _, given := range []bool{len(limits) > 0, b.Unlimited, b.Blocked} {
		if given {
			effects++
		}
	}
	if effects != 1 {
		return usagef("give one of --limit, --unlimited and --blocked: what the key is to have")
	}
	if b.ExpiresIn != "" {
		if _, err := policy.ParsePeriod(b.ExpiresIn); err != nil {
			return usagef("--expires %v", err)
		}
	}
	for _, text := range limits {
		spec, err := parseLimit(text)
		if err != nil {
			return usagef("--limit %s: %v", text, err)
		}
		b.Limits = append(b.Limits, spec)
	}
	return nil
}

func newOverrideList(sh *shell) *cobra.Command {
	var (
		node       client
		policyName string
	)
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the overrides that are set",
		Long: `List shows the overrides that were set while the nodes run. Keys are shown as
fingerprints. Those of the configuration are not among them. One whose policy or
limits are not there (any more) is not in force; it is again when they are back.`,
		Example: `  murmurate override list
  murmurate override list --policy api -o json`,
		Args: arguments(),
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			list, err := node.overrides(cmd.Context(), policyName)
			if err != nil {
				return err
			}
			return sh.print(list)
		}),
	}
	node.flags(sh, cmd)
	cmd.Flags().StringVar(&policyName, "policy", "", "only those of the policy of this `NAME`")
	return cmd
}

func newOverrideRemove(sh *shell) *cobra.Command {
	var on keyOnNode
	cmd := &cobra.Command{
		Use:     "rm KEY --policy NAME",
		Aliases: []string{"remove"},
		Short:   "Remove the override of KEY",
		Long: `Rm removes the override of KEY that was set while the nodes run. What the
configuration says of the key holds again.`,
		Example: "  murmurate override rm partner-1 --policy api",
		Args:    arguments("KEY"),
		RunE: action(func(cmd *cobra.Command, args []string) error {
			path, err := on.path(args[0])
			if err != nil {
				return err
			}
			a, err := on.node.do(cmd.Context(), http.MethodDelete, path, nil)
			if err != nil {
				return err
			}
			return sh.printOverride("removed", a)
		}),
	}
	on.flags(sh, cmd)
	return cmd
}

// keyOnNode is where the override of a key is: at which node to ask, and in
// which policy.
type keyOnNode struct {
	node       client
	policyName string
}

func (k *keyOnNode) flags(sh *shell, cmd *cobra.Command) {
	k.node.flags(sh, cmd)
	cmd.Flags().StringVar(&k.policyName, "policy", "", "`NAME` of the policy (required)")
}

// path is that of the override of key.
func (k *keyOnNode) path(key string) (string, error) {
	if k.policyName == "" {
		return "", usagef("--policy NAME is needed: it says which limits of the key are meant")
	}
	if err := checkLookup("KEY", key); err != nil {
		return "", err
	}
	return "/v1/overrides/" + pathSegment(k.policyName) + "/" + pathSegment(key), nil
}

// overrides asks for those of a policy, or for all if it is empty.
func (c *client) overrides(ctx context.Context, policyName string) (overrideList, error) {
	target := "/v1/overrides"
	if policyName != "" {
		target += "?" + url.Values{"policy": {policyName}}.Encode()
	}
	a, err := c.get(ctx, target)
	if err != nil {
		return overrideList{}, err
	}
	list := overrideList{raw: a.body}
	if err := json.Unmarshal(a.body, &list); err != nil || list.Overrides == nil {
		return overrideList{}, errors.Join(errors.New("the answer is not a list of overrides"), err)
	}
	return list, nil
}

// printOverride prints what was done with the override that a node answered.
func (sh *shell) printOverride(done string, a answer) error {
	o := changedOverride{done: done, raw: a.body}
	if err := json.Unmarshal(a.body, &o.overrideStatus); err != nil || o.Fingerprint == "" {
		return errors.Join(errors.New("the answer is not an override"), err)
	}
	for _, warning := range o.Warnings {
		if _, err := fmt.Fprintln(sh.stderr, "warning:", warning); err != nil {
			return err
		}
	}
	return sh.print(o)
}

// changedOverride is an override that was set or removed.
type changedOverride struct {
	overrideStatus
	done string
	raw  json.RawMessage // as the node sent it
}

// MarshalJSON passes on what the node sent, fields unknown here included.
func (o changedOverride) MarshalJSON() ([]byte, error) { return o.raw, nil } //nolint:unparam // as json.Marshaler has it

func (o changedOverride) text(w *strings.Builder) {
	fmt.Fprintf(w, "%s: %s for %s (policy %s, expires %s)\n", o.done, o.effect(), o.Fingerprint, o.Policy, o.expires())
}
