package main

import (
	"fmt"
	"net/url"
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
		tier       string
	)
	cmd := &cobra.Command{
		Use:   "quota KEY --policy NAME",
		Short: "Show how much of its quotas KEY has used",
		Long: `Quota shows what KEY has used of the quotas of one policy, what is left, and when
the period ends, in the time zone of the quota. It charges nothing. The quotas,
and who may spend more of them, are those of the node that is asked. Where the
policy makes its key of requests, KEY also means the counter of requests that have
KEY there (header:x-api-key=KEY), and of the two the one is shown that is used more.
With --tier the limits are those of a tier of the policy. The exit code is 5 if
the node that counts KEY is out of reach.`,
		Example: `  murmurate quota customer-7 --policy plan
  murmurate quota customer-7 --policy plan --tier pro`,
		Args: arguments("KEY"),
		RunE: action(func(cmd *cobra.Command, args []string) error {
			if policyName == "" {
				return usagef("--policy NAME is needed: it says which quotas of the key to show")
			}
			if err := checkLookup("KEY", args[0]); err != nil {
				return err
			}
			target := keyPath(policyName, args[0])
			if cmd.Flags().Changed("tier") {
				target += "?" + url.Values{"tier": {tier}}.Encode()
			}
			a, err := node.get(cmd.Context(), target)
			if err != nil {
				return err
			}
			d, err := newDecision(a)
			if err != nil {
				return err
			}
			use, err := newQuotaUse(&d)
			if err != nil {
				return err
			}
			if d.Source != limiter.SourceOwner.String() && d.Source != limiter.SourceNone.String() {
				return &unreachableError{fmt.Sprintf("what KEY has used is not known: the node that counts it is out of reach (source %s); try again, or see murmurate members", d.Source)}
			}
			return sh.print(use)
		}),
	}
	node.flags(sh, cmd)
	cmd.Flags().StringVar(&policyName, "policy", "", "`NAME` of the policy (required)")
	cmd.Flags().StringVar(&tier, "tier", "", "`NAME` of the tier that the key's requests are of; unset: none")
	return cmd
}

// quotaUse is what a key has used of its quotas.
type quotaUse struct {
	Policy string      `json:"policy"`
	Source string      `json:"source"`
	Tier   string      `json:"tier,omitempty"`
	Tiers  []string    `json:"tiers,omitempty"` // that there are, if none was asked for
	Quotas []usedQuota `json:"quotas"`
}

type usedQuota struct {
	Limit  string    `json:"limit"`
	Unit   string    `json:"unit"`
	Used   *int64    `json:"used,omitempty"` // nil: unknown
	Left   int64     `json:"left"`
	Of     int64     `json:"of"`
	Resets time.Time `json:"resets_at,omitzero"` // zero: the next call opens the period, or nobody knows
}

// newQuotaUse is what d says of the quotas among its limits.
func newQuotaUse(d *decision) (quotaUse, error) {
	use := quotaUse{Policy: d.Policy, Source: d.Source, Tier: d.Tier, Tiers: d.Tiers, Quotas: []usedQuota{}}
	for _, l := range d.Limits {
		if l.Algorithm == limiter.Quota.String() {
			use.Quotas = append(use.Quotas, usedQuota{Limit: l.Name, Unit: l.Unit, Used: l.Used, Left: l.Remaining, Of: l.Limit, Resets: l.Resets})
		}
	}
	if len(d.Limits) > 0 && len(use.Quotas) == 0 {
		return use, fmt.Errorf("policy %q has no quota; murmurate check KEY --policy %[1]s --peek shows its limits", d.Policy)
	}
	return use, nil
}

func (u quotaUse) text(w *strings.Builder) {
	if len(u.Quotas) == 0 {
		fmt.Fprintf(w, "nothing is counted for this key (policy %s, source %s)\n", u.Policy, u.Source)
		return
	}
	rows := [][]string{{"QUOTA", "USED", "LEFT", "OF", "UNIT", "RESETS"}}
	for _, q := range u.Quotas {
		used, resets := "unknown", "unknown"
		if q.Used != nil {
			used, resets = strconv.FormatInt(*q.Used, 10), "with the next call"
		}
		if !q.Resets.IsZero() {
			resets = q.Resets.Format(time.RFC3339)
		}
		rows = append(rows, []string{
			q.Limit, used, strconv.FormatInt(q.Left, 10), strconv.FormatInt(q.Of, 10), q.Unit, resets,
		})
	}
	table(w, rows)
	if len(u.Tiers) > 0 {
		fmt.Fprintf(w, "these are the limits of requests without a tier; the policy has tiers: --tier %s\n", strings.Join(u.Tiers, " or "))
	}
}
