package policy

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// sizeUnits are the decimal suffixes of a size.
var sizeUnits = map[byte]int64{'k': 1_000, 'M': 1_000_000, 'G': 1_000_000_000}

// ParseSize reads a number of units as people write it: a whole number, not
// negative, with an optional decimal suffix k, M or G, such as "250" or
// "10M". A number beyond int64 is math.MaxInt64: what it is the size of has a
// bound below that, and whoever judges it can name it. The error says what
// would be right, without naming a field.
func ParseSize(s string) (int64, error) {
	digits, unit := s, int64(1)
	if s != "" {
		if u, ok := sizeUnits[s[len(s)-1]]; ok {
			digits, unit = s[:len(s)-1], u
		}
	}
	switch {
	case strings.HasPrefix(digits, "-"):
		return 0, fmt.Errorf("must not be negative, got %q", clip(s))
	case !isDigits(digits):
		return 0, fmt.Errorf("must be a whole number such as 250, 10k, 5M or 1G, got %q", clip(s))
	case len(digits) > 1 && digits[0] == '0':
		return 0, fmt.Errorf("must not begin with 0, got %q", clip(s))
	}
	n, _ := strconv.ParseInt(digits, 10, 64) // of too many digits, n is math.MaxInt64
	if n > math.MaxInt64/unit {
		return math.MaxInt64, nil
	}
	return n * unit, nil
}

// isDigits reports whether s is one ASCII digit or more.
func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// clip shortens what a caller sent, so that an answer never repeats a
// megabyte of it.
func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}
