package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/murmurate/murmurate/policy"
)

// limitOptions are what may follow the rate of a limit.
var limitOptions = []string{"burst", "algorithm", "align", "timezone", "anchor"}

// limitOption is where one of them is in s: a text, or a number.
func limitOption(s *policy.LimitSpec, name string) (text *string, number **int64) {
	switch name {
	case "burst":
		return nil, &s.Burst
	case "algorithm":
		return &s.Algorithm, nil
	case "align":
		return &s.Align, nil
	case "timezone":
		return &s.Timezone, nil
	case "anchor":
		return nil, &s.Anchor
	}
	return nil, nil
}

// parseLimit reads a limit as a flag has it: [NAME=]RATE[,OPTION=VALUE...].
func parseLimit(text string) (policy.LimitSpec, error) {
	var s policy.LimitSpec
	parts := strings.Split(text, ",")
	s.Rate = parts[0]
	if name, rate, named := strings.Cut(parts[0], "="); named {
		s.Name, s.Rate = name, rate
		if !policy.ValidName(name) {
			return s, fmt.Errorf("the name %s", policy.NameRule)
		}
	}
	if _, err := policy.ParseRate(s.Rate); err != nil {
		return s, fmt.Errorf("the rate %w", err)
	}
	for _, part := range parts[1:] {
		if err := setLimitOption(&s, part); err != nil {
			return s, err
		}
	}
	return s, nil
}

func setLimitOption(s *policy.LimitSpec, part string) error {
	name, value, _ := strings.Cut(part, "=")
	switch text, number := limitOption(s, name); {
	case text == nil && number == nil:
		if near := policy.Nearest(name, limitOptions); near != "" {
			return fmt.Errorf("there is no %q; did you mean %q?", name, near)
		}
		return errors.New("after the rate there can be " + strings.Join(limitOptions, ", ") + ", each with =VALUE; give every limit a --limit of its own")
	case value == "":
		return fmt.Errorf("%s needs a value, after =", name)
	case text != nil:
		*text = value
	default:
		n, err := policy.ParseSize(value)
		if err != nil {
			return fmt.Errorf("%s %w", name, err)
		}
		*number = &n
	}
	return nil
}

// formatLimit writes s so that parseLimit reads it again.
func formatLimit(s *policy.LimitSpec) string {
	var w strings.Builder
	if s.Name != "" {
		w.WriteString(s.Name + "=")
	}
	if s.Count != nil {
		w.WriteString(strconv.FormatInt(*s.Count, 10) + "/" + s.Period)
	} else {
		w.WriteString(s.Rate)
	}
	for _, name := range limitOptions {
		switch text, number := limitOption(s, name); {
		case text != nil && *text != "":
			w.WriteString("," + name + "=" + *text)
		case number != nil && *number != nil:
			w.WriteString("," + name + "=" + strconv.FormatInt(**number, 10))
		}
	}
	return w.String()
}
