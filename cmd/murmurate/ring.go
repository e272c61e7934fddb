package main

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/murmurate/murmurate/policy"
)

func newRing(sh *shell) *cobra.Command {
	var (
		node            client
		key, policyName string
	)
	cmd := &cobra.Command{
		Use:   "ring",
		Short: "Show which node counts which share of the keys",
		Long: `Ring shows how the keys are spread over the nodes, and the digest of that
assignment: nodes that print the same digest agree on the owner of every key.
With --key it names the node that counts one key. A policy with a key of its own
counts requests under the key that it makes of them, which is another one: both
are named then.`,
		Example: `  murmurate ring
  murmurate ring --key user:42 --policy api`,
		Args: arguments(),
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("key") {
				if cmd.Flags().Changed("policy") {
					return usagef("--policy goes with --key: it says whose counter of the key is meant")
				}
				status, err := node.cluster(cmd.Context(), nil)
				if err != nil {
					return err
				}
				return sh.print(ringShares{status})
			}
			if err := checkLookup("--key", key); err != nil {
				return err
			}
			status, err := node.cluster(cmd.Context(), url.Values{"policy": {policyName}, "key": {key}})
			if err != nil {
				return err
			}
			return sh.print(keyOwner{status})
		}),
	}
	node.flags(sh, cmd)
	cmd.Flags().StringVar(&key, "key", "", "name the owner of `KEY`")
	cmd.Flags().StringVar(&policyName, "policy", policy.DefaultName, "`NAME` of the policy that counts the key")
	return cmd
}

// ringShares is a clusterStatus with the assignment of keys in view.
type ringShares struct{ clusterStatus }

func (r ringShares) text(w *strings.Builder) {
	rows := [][]string{{"ID", "OWNED"}}
	for _, m := range r.Members {
		rows = append(rows, []string{r.name(m), percent(m.Owned)})
	}
	table(w, rows)
	fmt.Fprintf(w, "digest %s\n", r.Digest)
}

// keyOwner is a clusterStatus with the owner of one key in view.
type keyOwner struct{ clusterStatus }

func (o keyOwner) text(w *strings.Builder) {
	switch {
	case o.Owner == "":
		fmt.Fprintln(w, "no owner is known yet")
	case o.MadeOwner == "":
		fmt.Fprintln(w, o.Owner)
	default:
		table(w, [][]string{
			{"COUNTER", "OWNER"},
			{"of checks that give this key", o.Owner},
			{"of requests that the policy makes it of", o.MadeOwner},
		})
	}
}
