package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/murmurate/murmurate/policy"
)

// question is the body of POST /v1/check.
type question struct {
	Policy string `json:"policy"`
	Key    string `json:"key"`
	Cost   *int64 `json:"cost,omitempty"` // nil: the policy's default
	Peek   bool   `json:"peek,omitempty"`
}

func newCheck(sh *shell) *cobra.Command {
	var (
		node client
		q    question
		cost int64
	)
	cmd := &cobra.Command{
		Use:   "check KEY",
		Short: "Ask whether KEY may go on, and charge it",
		Long: `Check asks a running node whether KEY may go on under a policy, and charges it
if so. The exit code is 0 if it may and 3 if it is denied, for use in scripts.
With --peek nothing is charged, and KEY may be a fingerprint (fp:HEX).

It counts KEY as given and knows nothing of a request. Where the policy makes its
key of one, a gateway or the middleware counts it elsewhere (for the header
X-Api-Key as header:x-api-key=KEY), by its tier, and not at all if it is exempt.`,
		Example: `  murmurate check user:42
  murmurate check user:42 --policy api --cost 5
  murmurate check nightly-job --policy jobs && ./nightly-job`,
		Args: arguments("KEY"),
		RunE: action(func(cmd *cobra.Command, args []string) error {
			q.Key = args[0]
			if cmd.Flags().Changed("cost") {
				q.Cost = &cost
			}
			valid := checkCharged
			if q.Peek || q.Cost != nil && cost == 0 { // which charges nothing either
				valid = checkLookup
			}
			if err := valid("KEY", q.Key); err != nil {
				return err
			}
			a, err := node.do(cmd.Context(), http.MethodPost, "/v1/check", q)
			if err != nil {
				return err
			}
			d, err := newDecision(a)
			if err != nil {
				return err
			}
			if err := sh.print(d); err != nil {
				return err
			}
			if !d.Allowed {
				return errDenied
			}
			return nil
		}),
	}
	node.flags(sh, cmd)
	cmd.Flags().StringVar(&q.Policy, "policy", policy.DefaultName, "`NAME` of the policy that applies")
	cmd.Flags().Int64Var(&cost, "cost", 1, "`N` units to charge; unset: what the policy says")
	cmd.Flags().BoolVar(&q.Peek, "peek", false, "ask without charging")
	return cmd
}

// decision is what a node answered to a check.
type decision struct {
	Allowed      bool           `json:"allowed"`
	Policy       string         `json:"policy"`
	Limit        int64          `json:"limit"`
	Remaining    int64          `json:"remaining"`
	RetryAfterMS int64          `json:"retry_after_ms"`
	ResetAfterMS int64          `json:"reset_after_ms"`
	DelayMS      int64          `json:"delay_ms"`
	Source       string         `json:"source"`
	Shadow       bool           `json:"shadow"`
	DeniedBy     []string       `json:"denied_by"`
	Limits       []limitOutcome `json:"limits"`
	// The following are only of /v1/keys.

	Tier  string   `json:"tier"`
	Tiers []string `json:"tiers"`

	raw json.RawMessage // as the node sent it
}

// limitOutcome is one limit's part in a decision.
type limitOutcome struct {
	Name         string `json:"name"`
	Limit        int64  `json:"limit"`
	Remaining    int64  `json:"remaining"`
	RetryAfterMS int64  `json:"retry_after_ms"`
	ResetAfterMS int64  `json:"reset_after_ms"`
	Unit         string `json:"unit"`
	// The following are only of /v1/keys.

	Algorithm string    `json:"algorithm"`
	Used      *int64    `json:"used"`      // nil: unknown
	Resets    time.Time `json:"resets_at"` // zero: it does not, or the next call opens the window
}

func newDecision(a answer) (decision, error) {
	d := decision{raw: a.body}
	if err := json.Unmarshal(a.body, &d); err != nil {
		return decision{}, fmt.Errorf("the answer is not a decision: %w", err)
	}
	return d, nil
}

// MarshalJSON passes on what the node sent, fields unknown here included.
func (d decision) MarshalJSON() ([]byte, error) { return d.raw, nil } //nolint:unparam // as json.Marshaler has it

func (d decision) text(w *strings.Builder) {
	switch {
	case !d.Allowed:
		fmt.Fprintf(w, "denied by %s: retry %s", strings.Join(d.DeniedBy, ", "), after(d.RetryAfterMS))
	case d.Shadow && len(d.DeniedBy) > 0:
		fmt.Fprintf(w, "allowed in shadow, would be denied by %s", strings.Join(d.DeniedBy, ", "))
	default:
		fmt.Fprintf(w, "allowed: %d left of %d", d.Remaining, d.Limit)
	}
	if d.DelayMS > 0 {
		fmt.Fprintf(w, ", wait %v first", millis(d.DelayMS))
	}
	d.details(w)
}

// details ends the line of the outcome, and shows each limit if there are
// several.
func (d decision) details(w *strings.Builder) {
	fmt.Fprintf(w, " (policy %s, source %s)\n", d.Policy, d.Source)
	if len(d.Limits) < 2 {
		return
	}
	rows := [][]string{{"LIMIT", "LEFT", "OF", "RETRY", "FULL"}}
	for _, l := range d.Limits {
		rows = append(rows, []string{
			l.Name, strconv.FormatInt(l.Remaining, 10), strconv.FormatInt(l.Limit, 10),
			after(l.RetryAfterMS), after(l.ResetAfterMS),
		})
	}
	table(w, rows)
}

func millis(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }

// after says when something happens that is ms milliseconds away.
func after(ms int64) string {
	switch {
	case ms < 0:
		return "never"
	case ms == 0:
		return "now"
	}
	return "in " + millis(ms).String()
}
