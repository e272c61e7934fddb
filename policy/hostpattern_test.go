package policy

import "testing"

func TestNormalHost(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"": "", ":80": "", "a": "a", "A.Example.COM.:80": "a.example.com", "a.": "a",
		"[2001:DB8::1]:80": "2001:db8::1", "[2001:db8::1]": "2001:db8::1", "2001:db8::1": "2001:db8::1",
		"]": "]", "[": "[", "[]": "", "a:b:c": "a:b:c",
	} {
		if got := normalHost(host); got != want {
			t.Errorf("%q: %q, want %q", host, got, want)
		}
	}
	if _, err := parseHostPattern("*.2001:db8::1"); err == nil {
		t.Error("there are hosts below an address")
	}
}
