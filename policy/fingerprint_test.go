package policy

import (
	"errors"
	"strings"
	"testing"

	"github.com/murmurate/murmurate/limiter"
)

func TestKeysToLookUp(t *testing.T) {
	t.Parallel()
	whole := limiter.Subject{Hi: 1, Lo: 2}.String()
	for _, key := range []string{whole, strings.ToUpper(whole[3:]), "FP:zz", "fp", " fp:", "user:fp:zz", "fp=1"} {
		if err := CheckLookup(key); err != nil {
			t.Errorf("%q: %v", key, err)
		}
	}
	for _, key := range []string{"FP:" + whole[3:], strings.ToUpper(whole), "Fp:" + whole[3:], "fp:", "fp:zz", "fp:0123", whole[:len(whole)-1], whole + "0", whole[:len(whole)-1] + "g", "fp:" + whole} {
		err := CheckLookup(key)
		if !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), "key: ") || !strings.Contains(err.Error(), "32 hexadecimal digits") {
			t.Errorf("%q: %v", key, err)
		}
		if err := CheckKey(key); err != nil {
			t.Errorf("%q is a key to be limited: %v", key, err)
		}
	}
	if err := CheckLookup(""); err == nil || !strings.Contains(err.Error(), "empty") {
		t.Errorf("the empty key: %v", err)
	}
}

// The configuration has keys, of which it cannot tell the fingerprints apart.
func TestFingerprintsInTheConfiguration(t *testing.T) {
	t.Parallel()
	whole := limiter.Subject{Hi: 1, Lo: 2}.String()
	for _, c := range []struct {
		o    Override
		want string // what the fault begins with
	}{
		{Override{Key: whole}, "overrides[0].key: must be the key itself, not a fingerprint"},
		{Override{Key: "FP:" + whole[3:]}, "overrides[0].key: must be the key itself"},
		{Override{Key: "fp:12"}, "overrides[0].key: must be the key itself"},
		{Override{KeyPrefix: whole}, "overrides[0].key_prefix: must be the beginning of keys"},
		{Override{KeyPrefix: "fp:1"}, ""},
		{Override{Key: "header:x-a=fp:12"}, ""},
	} {
		c.o.Blocked = true
		err := (&Policy{Name: "p", Key: []string{"header:X-A"}, Limits: []limiter.Limit{perMinute("", 1)}, Overrides: []Override{c.o}}).Validate()
		if (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %s", c.o, err, c.want)
		}
	}
}
