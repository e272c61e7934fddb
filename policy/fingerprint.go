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
// looks like a fingerprint and is none is a slip. It may be the key of
// somebody who is limited all the same, since they choose their keys.
func CheckLookup(key string) error {
	if likeFingerprint(key) && !fingerprint(key) {
		return &InputError{Field: "key", Detail: fmt.Sprintf(
			"begins like a fingerprint and is none: write %s and 32 hexadecimal digits, such as %v", fingerprintMark, limiter.Subject{Hi: 0x0123456789abcdef, Lo: 0xfedcba9876543210})}
	}
	return CheckKey(key)
}

// fingerprint reports whether key is one.
func fingerprint(key string) bool {
	_, whole := limiter.ParseSubject(key)
	return whole
}

// likeFingerprint reports whether key is a fingerprint, begins like one, or is
// one but for its case.
func likeFingerprint(key string) bool {
	return strings.HasPrefix(key, fingerprintMark) || fingerprint(strings.ToLower(key))
}
