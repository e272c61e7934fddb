package limiter

import "testing"

func TestSubjectsAreReadAsWritten(t *testing.T) {
	t.Parallel()
	for _, s := range []Subject{{}, {Hi: 1}, {Lo: 1}, {Hi: 1<<64 - 1, Lo: 1<<64 - 1}, {Hi: 0x0123456789abcdef, Lo: 0xfedcba9876543210}} {
		if got, ok := ParseSubject(s.String()); !ok || got != s {
			t.Errorf("%v was read as %v, %v", s, got, ok)
		}
	}
	for _, text := range []string{"", "fp:", "user:42", "fp:0123", "fp:+123456789abcdef0123456789abcdef0", "fp:g123456789abcdef0123456789abcdef", "FP:00000000000000000000000000000000", " fp:00000000000000000000000000000000"} {
		if s, ok := ParseSubject(text); ok {
			t.Errorf("%q was read as %v", text, s)
		}
	}
}
