package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"
)

func newHealthcheck(sh *shell) *cobra.Command {
	var node client
	cmd := &cobra.Command{
		Use:   "healthcheck",
		Short: "Ask whether a node is ready, for container health checks",
		Long: `Healthcheck asks a node whether it is ready to be sent requests. The exit code
is 0 if it is, and 5 if it is not or does not answer.`,
		Example: `  murmurate healthcheck
  HEALTHCHECK CMD ["murmurate", "healthcheck"]`,
		Args: arguments(),
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			a, err := node.do(cmd.Context(), http.MethodGet, "/readyz", nil)
			if refused, ok := errors.AsType[*problem](err); ok {
				return &unreachableError{refused.Detail}
			}
			if err != nil {
				return err
			}
			var h health
			if err := json.Unmarshal(a.body, &h); err != nil {
				return fmt.Errorf("the answer is not a state of health: %w", err)
			}
			return sh.print(h)
		}),
	}
	node.flags(sh, cmd)
	return cmd
}

// health is the answer of a node that is ready.
type health struct {
	Ready  bool   `json:"ready"`
	Detail string `json:"detail"` // "ready", or ready with a reservation
}

func (h health) text(w *strings.Builder) { fmt.Fprintln(w, h.Detail) }
