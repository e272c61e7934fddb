package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"
)

func newReset(sh *shell) *cobra.Command {
	var (
		node       client
		policyName string
	)
	cmd := &cobra.Command{
		Use:   "reset KEY --policy NAME",
		Short: "Make the counters of KEY as if unused",
		Long: `Reset makes the counters of KEY in one policy as if unused, on whichever node
they are: those of checks that give KEY, and those of requests of which the policy
makes its key, such as header:x-api-key=KEY. It is administration: a node that
listens beyond loopback asks for a token.`,
		Example: "  murmurate reset user:42 --policy api --token-file admin.token",
		Args:    arguments("KEY"),
		RunE: action(func(cmd *cobra.Command, args []string) error {
			if policyName == "" {
				return usagef("--policy NAME is needed: it says which counters of the key to reset")
			}
			if err := checkLookup("KEY", args[0]); err != nil {
				return err
			}
			a, err := node.do(cmd.Context(), http.MethodDelete, keyPath(policyName, args[0]), nil)
			if err != nil {
				return err
			}
			d, err := newDecision(a)
			if err != nil {
				return err
			}
			return sh.print(resetKey{d})
		}),
	}
	node.flags(sh, cmd)
	cmd.Flags().StringVar(&policyName, "policy", "", "`NAME` of the policy (required)")
	return cmd
}

// resetKey is the decision that a check would meet after the reset.
type resetKey struct{ decision }

func (r resetKey) text(w *strings.Builder) {
	fmt.Fprintf(w, "reset: %d left of %d", r.Remaining, r.Limit)
	r.details(w)
}

// keyPath is the path of the counters of key.
func keyPath(policyName, key string) string {
	return "/v1/keys/" + pathSegment(policyName) + "/" + pathSegment(key)
}

// pathSegment escapes s so that it stays one segment: "." and ".." would be
// taken for directories.
func pathSegment(s string) string {
	if s == "." || s == ".." {
		return strings.ReplaceAll(s, ".", "%2E")
	}
	return url.PathEscape(s)
}
