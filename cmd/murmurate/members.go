package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

func newMembers(sh *shell) *cobra.Command {
	var node client
	cmd := &cobra.Command{
		Use:   "members",
		Short: "List the nodes of the cluster",
		Long: `Members lists the nodes of the cluster as the asked node sees them; it marks
itself with a star.`,
		Example: `  murmurate members
  murmurate members --server http://10.0.0.7:7380 -o json`,
		Args: arguments(),
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			status, err := node.cluster(cmd.Context(), nil)
			if err != nil {
				return err
			}
			return sh.print(memberList{status})
		}),
	}
	node.flags(sh, cmd)
	cmd.AddCommand(newEvict(sh))
	return cmd
}

// clusterStatus is the answer to GET /v1/cluster.
type clusterStatus struct {
	Self      string         `json:"self"`
	Digest    string         `json:"digest"`
	Members   []memberStatus `json:"members"`
	Owner     string         `json:"owner"`      // of the key that was asked for
	MadeOwner string         `json:"made_owner"` // of the key as the policy makes it, if it does

	raw json.RawMessage // as the node sent it
}

type memberStatus struct {
	ID        string  `json:"id"`
	Address   string  `json:"address"`
	State     string  `json:"state"`
	Reachable bool    `json:"reachable"`
	Version   string  `json:"version"`
	Owned     float64 `json:"owned"` // share of all keys, 0 to 1
	Keys      *int    `json:"keys"`  // nil: only the member itself knows
}

// cluster asks how the node sees its cluster.
func (c *client) cluster(ctx context.Context, query url.Values) (clusterStatus, error) {
	target := "/v1/cluster"
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	a, err := c.get(ctx, target)
	if err != nil {
		return clusterStatus{}, err
	}
	return newClusterStatus(a)
}

func newClusterStatus(a answer) (clusterStatus, error) {
	status := clusterStatus{raw: a.body}
	if err := json.Unmarshal(a.body, &status); err != nil {
		return clusterStatus{}, fmt.Errorf("the answer is not the state of a cluster: %w", err)
	}
	return status, nil
}

// MarshalJSON passes on what the node sent, fields unknown here included.
func (s clusterStatus) MarshalJSON() ([]byte, error) { return s.raw, nil } //nolint:unparam // as json.Marshaler has it

// name is the member's id, with a star for the one that was asked.
func (s *clusterStatus) name(m memberStatus) string {
	if m.ID == s.Self {
		return m.ID + " *"
	}
	return m.ID
}

// memberList is a clusterStatus with the members in view.
type memberList struct{ clusterStatus }

func (l memberList) text(w *strings.Builder) {
	rows := [][]string{{"ID", "ADDRESS", "STATE", "REACHABLE", "VERSION", "OWNED", "KEYS"}}
	for _, m := range l.Members {
		rows = append(rows, []string{l.name(m), m.Address, m.State, yesNo(m.Reachable), m.Version, percent(m.Owned), m.keys()})
	}
	table(w, rows)
}

func (m *memberStatus) keys() string {
	if m.Keys == nil {
		return "-"
	}
	return strconv.Itoa(*m.Keys)
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func percent(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }
