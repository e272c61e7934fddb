package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/murmurate/murmurate/limiter"
)

func newQuota(sh *shell) *cobra.Command {
	var (
		node       client
		policyName string
	)
	cmd := &cobra.Command{
		Use:   "quota KEY --policy NAME",
		Short: "Show how much of its quotas KEY has used",
		Long: `Quota shows what KEY has used of the quotas of one policy, what is left, and when
the period ends. It charges nothing. The quotas, and who may spend more of them,
are those of the node that is asked.`,
		Example: "  murmurate quota customer-7 --policy plan",
		Args:    arguments("KEY"),
		RunE: action(func(cmd *cobra.Command, args []string) error {
			if policyName == "" {
				return usagef("--policy NAME is needed: it says which quotas of the key to show")
			}
			if err := checkLookup("KEY", args[0]); err != nil {
				return err
			}
			names, err := node.quotas(cmd.Context(), policyName)
			if err != nil {
				return err
			}
			a, err := node.get(cmd.Context(), keyPath(policyName, args[0]))
			if err != nil {
				return err
			}
			d, err := newDecision(a)
			if err != nil {
				return err
			}
			return sh.print(newQuotaUse(&d, names, time.Now()))
		}),
	}
	node.flags(sh, cmd)
	cmd.Flags().StringVar(&policyName, "policy", "", "`NAME` of the policy (required)")
	return cmd
}

// quotas are the limits of a policy that are quotas, as decisions name them.
func (c *client) quotas(ctx context.Context, policyName string) ([]string, error) {
	a, err := c.get(ctx, "/v1/policies")
	if err != nil {
		return nil, err
	}
	var answer struct{ Policies []listedPolicy }
	if err := json.Unmarshal(a.body, &answer); err != nil {
		return nil, fmt.Errorf("the answer is no list of policies: %w", err)
	}
	at := slices.IndexFunc(answer.Policies, func(p listedPolicy) bool { return p.Name == policyName })
	if at < 0 {
		return nil, nil // the node says what there is
	}
	p := answer.Policies[at]
	var names []string
	for _, l := range p.Limits {
		switch {
		case l.Algorithm != limiter.Quota.String():
		case len(p.Limits) == 1 && l.Name == p.Name:
			names = append(names, p.Name)
		default:
			names = append(names, p.Name+"/"+l.Name)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("policy %q has no quota; murmurate check KEY --policy %[1]s --peek shows its limits", policyName)
	}
	return names, nil
}

// listedPolicy is what matters here of a policy in /v1/policies.
type listedPolicy struct {
	Name   string
	Limits []struct{ Name, Algorithm string }
}

// quotaUse is what a key has used of its quotas.
type quotaUse struct {
	Policy string      `json:"policy"`
	Source string      `json:"source"`
	Quotas []usedQuota `json:"quotas"`
}

type usedQuota struct {
	Limit  string    `json:"limit"`
	Unit   string    `json:"unit"`
	Used   int64     `json:"used"`
	Left   int64     `json:"left"`
	Of     int64     `json:"of"`
	Resets time.Time `json:"resets_at,omitzero"` // zero: nothing is used
}

// newQuotaUse is what d, as of now, says of the limits with the given names.
func newQuotaUse(d *decision, names []string, now time.Time) quotaUse {
	use := quotaUse{Policy: d.Policy, Source: d.Source, Quotas: []usedQuota{}}
	for _, l := range d.Limits {
		if !slices.Contains(names, l.Name) {
			continue
		}
		q := usedQuota{Limit: l.Name, Unit: l.Unit, Used: max(l.Limit-l.Remaining, 0), Left: l.Remaining, Of: l.Limit}
		if l.ResetAfterMS > 0 {
			q.Resets = now.Add(millis(l.ResetAfterMS)).UTC().Round(time.Second)
		}
		use.Quotas = append(use.Quotas, q)
	}
	return use
}

func (u quotaUse) text(w *strings.Builder) {
	if len(u.Quotas) == 0 {
		fmt.Fprintf(w, "nothing is counted for this key (policy %s, source %s)\n", u.Policy, u.Source)
		return
	}
	rows := [][]string{{"QUOTA", "USED", "LEFT", "OF", "UNIT", "RESETS"}}
	for _, q := range u.Quotas {
		resets := "unused"
		if !q.Resets.IsZero() {
			resets = q.Resets.Format(time.RFC3339)
		}
		rows = append(rows, []string{
			q.Limit, strconv.FormatInt(q.Used, 10), strconv.FormatInt(q.Left, 10), strconv.FormatInt(q.Of, 10), q.Unit, resets,
		})
	}
	table(w, rows)
}
