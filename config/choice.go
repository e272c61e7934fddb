package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/murmurate/murmurate/policy"
)

// choose returns an error unless value is one of choices.
func choose(value string, choices ...string) error {
	if slices.Contains(choices, value) {
		return nil
	}
	last := len(choices) - 1
	return fmt.Errorf("must be %s or %s, got %q%s", strings.Join(choices[:last], ", "), choices[last],
		printable(value), didYouMean(value, choices))
}

// didYouMean ends a message with the candidate that name was likely meant to
// be, or is empty.
func didYouMean(name string, candidates []string) string {
	if near := policy.Nearest(name, candidates); near != "" {
		return fmt.Sprintf(" (did you mean %q?)", near)
	}
	return ""
}
