package config

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/murmurate/murmurate/policy"
)

// parse reads one value as written in a file, a variable or a flag. The
// value is nil if there is an error, which says what would be right.
func (s *schema) parse(written string) (value any, err error) {
	switch s.kind {
	case number:
		value, err = policy.ParseSize(written)
	case truth:
		value, err = parseTruth(written)
	case duration:
		value, err = parseDuration(written)
	default:
		value = written
	}
	if err != nil {
		return nil, err
	}
	return value, nil
}

// parseAll reads what a variable or a flag holds: for a list, elements
// between commas or line ends.
func (s *schema) parseAll(written string) (any, error) {
	if s.kind != list {
		return s.parse(written)
	}
	elements := []any{}
	for _, w := range strings.FieldsFunc(written, func(r rune) bool { return r == ',' || r == '\n' }) {
		if w = strings.TrimSpace(w); w == "" {
			continue
		}
		e, err := s.elem.parse(w)
		if err != nil {
			return nil, err
		}
		elements = append(elements, e)
	}
	return elements, nil
}

func parseTruth(written string) (bool, error) {
	switch written {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, fmt.Errorf("must be true or false, got %q", written)
}

func parseDuration(written string) (time.Duration, error) {
	d, err := time.ParseDuration(written)
	if _, bare := time.ParseDuration(written + "s"); err != nil && bare == nil {
		return 0, fmt.Errorf("needs a unit: write %[1]sms or %[1]ss", written)
	}
	if err != nil {
		return 0, fmt.Errorf("must be a duration such as 50ms or 1.5s, got %q", written)
	}
	if d == 0 && written == "0" {
		return 0, errors.New("needs a unit: write 0s")
	}
	return d, nil
}
