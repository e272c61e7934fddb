package cluster

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/dchest/siphash"
	"pgregory.net/rapid"

	"github.com/murmurate/murmurate/limiter"
)

func identity(t *testing.T, key string) Identity {
	t.Helper()
	id, err := NewIdentity([]byte(key))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestSubjectSeparatesNamespaceAndKey(t *testing.T) {
	t.Parallel()
	id := identity(t, "0123456789abcdef")
	if id.Subject("a_b", "c") == id.Subject("a", "_bc") || id.Subject("ab", "") == id.Subject("a", "b") {
		t.Error("two pairs run together")
	}
}

func TestSubjectsDifferAsTheirInputsDo(t *testing.T) {
	t.Parallel()
	id := identity(t, "0123456789abcdef")
	rapid.Check(t, func(t *rapid.T) {
		n1, k1 := rapid.String().Draw(t, "n1"), rapid.String().Draw(t, "k1")
		n2, k2 := rapid.String().Draw(t, "n2"), rapid.String().Draw(t, "k2")
		same := n1 == n2 && k1 == k2
		if (id.Subject(n1, k1) == id.Subject(n2, k2)) != same {
			t.Fatalf("(%q, %q) and (%q, %q)", n1, k1, n2, k2)
		}
	})
}

func TestIdentityDependsOnItsKey(t *testing.T) {
	t.Parallel()
	a, b := identity(t, "0123456789abcdef"), identity(t, "0123456789abcdeF")
	if a.Subject("n", "k") == b.Subject("n", "k") || a.Check() == b.Check() {
		t.Error("two identity keys give the same fingerprints")
	}
}

// A change of this form would reset every counter of a running cluster.
func TestSubjectForm(t *testing.T) {
	t.Parallel()
	const key = "0123456789abcdef"
	k0, k1 := binary.LittleEndian.Uint64([]byte(key)), binary.LittleEndian.Uint64([]byte(key[8:]))
	for _, long := range []string{"user:42", strings.Repeat("k", 1024)} {
		hi, lo := siphash.Hash128(k0, k1, []byte("\x03\x00api"+long))
		if got := identity(t, key).Subject("api", long); got != (limiter.Subject{Hi: hi, Lo: lo}) {
			t.Errorf("key of %d bytes: got %v", len(long), got)
		}
	}
}

func TestIdentityKeyTooShort(t *testing.T) {
	t.Parallel()
	if _, err := NewIdentity(make([]byte, 15)); err == nil {
		t.Error("15 bytes were taken")
	}
}
