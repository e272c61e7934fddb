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
	for _, key := range []string{"fp:", "fp:zz", "fp:0123", whole[:len(whole)-1], whole + "0", whole[:len(whole)-1] + "g", "fp:" + whole} {
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
