package limiter

import (
	"fmt"
	"strconv"
	"strings"
)

// Subject is the keyed fingerprint of (namespace, key): who is limited,
// without the key itself. All limits of one policy on one key share it, so
// they live together and are decided in one step.
type Subject struct{ Hi, Lo uint64 }

const (
	subjectPrefix = "fp:"
	halfDigits    = 16 // of each of the two numbers
)

// String returns the form that people see instead of the key: "fp:" and 32
// hexadecimal digits.
func (s Subject) String() string { return fmt.Sprintf("%s%016x%016x", subjectPrefix, s.Hi, s.Lo) }

// ParseSubject reads what String writes. ok is false for anything else.
func ParseSubject(text string) (s Subject, ok bool) {
	digits, marked := strings.CutPrefix(text, subjectPrefix)
	if !marked || len(digits) != 2*halfDigits {
		return Subject{}, false
	}
	hi, errHi := strconv.ParseUint(digits[:halfDigits], 16, 64)
	lo, errLo := strconv.ParseUint(digits[halfDigits:], 16, 64)
	if errHi != nil || errLo != nil {
		return Subject{}, false
	}
	return Subject{Hi: hi, Lo: lo}, true
}
