package main

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/cluster"
	"github.com/murmurate/murmurate/httpapi"
)

func newEvict(sh *shell) *cobra.Command {
	var (
		node  client
		force bool
	)
	cmd := &cobra.Command{
		Use:   "evict ID",
		Short: "Give the keys of a node that is gone for good to the others",
		Long: `Evict takes the place of a node away that will not come back, so that the others
own its keys at once. They do so by themselves when more than half of them have
not reached it for cluster.evict_after. A node that comes back all the same claims
its place anew.

A node that is alive is not evicted: stop it with SIGTERM. Neither does a node evict
that reaches fewer than half of the others, as it may be the one that is cut off;
--force is for the survivors of a cluster that has lost most of its nodes. Keys that
get another owner are counted from nothing there. It is administration: a node that
listens beyond loopback asks for a token.`,
		Example: `  murmurate members evict n3
  murmurate members evict n3 --force --server http://10.0.0.7:7380 --token-file admin.token`,
		Args: arguments("ID"),
		RunE: action(func(cmd *cobra.Command, args []string) error {
			target := "/v1/members/" + pathSegment(args[0])
			if force {
				target += "?force=1"
			}
			a, err := node.do(cmd.Context(), http.MethodDelete, target, nil)
			if err != nil {
				return err
			}
			status, err := newClusterStatus(a)
			if err != nil {
				return err
			}
			return sh.print(evicted{memberList{status}, args[0]})
		}),
	}
	node.flags(sh, cmd)
	cmd.Flags().BoolVar(&force, "force", false, "even if the asked node reaches fewer than half of the others")
	return cmd
}

// evicted is the cluster without a member.
type evicted struct {
	memberList
	id string
}

func (e evicted) text(w *strings.Builder) {
	fmt.Fprintf(w, "evicted: %s\n", e.id)
	e.memberList.text(w)
}

// evictFrom serves evictions from node's cluster.
func evictFrom(node *murmurate.Node) func(id string, force bool) error {
	return func(id string, force bool) error {
		err := node.Evict(id, force)
		switch {
		case errors.Is(err, cluster.ErrNoMember):
			return fmt.Errorf("%w: %w", httpapi.ErrNoMember, err)
		case errors.Is(err, cluster.ErrMemberAlive), errors.Is(err, cluster.ErrMinority):
			return fmt.Errorf("%w: %w", httpapi.ErrNotEvicted, err)
		}
		return err
	}
}
