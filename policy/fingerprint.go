package policy

import (
	"fmt"
	"strings"

	"github.com/murmurate/murmurate/limiter"
)

// fingerprintMark begins the text of every [limiter.Subject].
const fingerprintMark = "fp:"

// CheckLookup returns an InputError unless key can be looked up or reset: as a
// key ([CheckKey]), or as the fingerprint that is shown instead of one. What
// begins like a fingerprint and is none is a slip. It may be the key of
// somebody who is limited all the same, since they choose their keys.
func CheckLookup(key string) error {
	if _, whole := limiter.ParseSubject(key); strings.HasPrefix(key, fingerprintMark) && !whole {
		return &InputError{Field: "key", Detail: fmt.Sprintf(
			"begins like a fingerprint and is none: write %s and 32 hexadecimal digits, such as %v", fingerprintMark, limiter.Subject{Hi: 0x0123456789abcdef, Lo: 0xfedcba9876543210})}
	}
	return CheckKey(key)
}
