package policy

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/murmurate/murmurate/limiter"
)

func TestOverridesThatMatchNothing(t *testing.T) {
	t.Parallel()
	const (
		brings  = "; as it stands it is only for checks that bring such a key themselves"
		ips     = "ip=203.0.113.9/32 or ip=2001:db8:1:2::/64"
		ipKeys  = "is for no key that an address makes, which looks like " + ips + ", compared as text: write an address or a network of that size, or in the configuration the beginning of one as key_prefix" + brings
		parts   = "is for no key that the policy makes, which has 2 parts: write header:x-api-key=VALUE&path:tenant=VALUE, where an address is " + ips + ", or in the configuration the beginning of it as key_prefix" + brings
		like    = "is for no key that the policy makes, which looks like header:x-api-key=VALUE, where an address is " + ips + brings
		likeTwo = "is for no key that the policy makes, which looks like header:x-api-key=VALUE&path:tenant=VALUE, where an address is " + ips + brings
		global  = "is for none, because all share the one key global: write that, or give the policy another key"
		mistake = "is for a request whose header:X-Api-Key reads like an address, not for the address: write it like " + ips
		slip    = "is for a request whose header:X-Api-Key begins with the name header:X-Api-Key: write header:x-api-key=VALUE"
		slipIP  = "is for a request whose header:X-Api-Key begins with the name ip: write ip=VALUE"
	)
	address, either, two := []string{"ip"}, []string{"header:X-Api-Key | ip"}, []string{"header:X-Api-Key | ip", "path:tenant"}
	for _, c := range []struct {
		key  []string
		o    Override
		want string
	}{
		{address, Override{Key: "203.0.113.9"}, ""},
		{address, Override{Key: "203.0.113.9/32"}, ""},
		{address, Override{Key: "ip=203.0.113.9"}, ""},
		{address, Override{Key: "ip"}, ""}, // as a part without value is made
		{address, Override{Key: "unknown"}, ""},
		{address, Override{Key: "203.0.113.0/24"}, ipKeys},
		{address, Override{Key: "2001:DB8:1:2::/64"}, ""},
		{address, Override{Key: "2001:db8:1:2::1"}, ipKeys},
		{address, Override{Key: "2001:db8:1:2::1/64"}, ipKeys},
		{address, Override{Key: "2001:db8::/48"}, ipKeys},
		{address, Override{Key: "header:x-api-key=k"}, ipKeys},
		{address, Override{KeyPrefix: "203.0."}, ""},
		{address, Override{KeyPrefix: "ip=203.0.113.9"}, ""},
		{address, Override{KeyPrefix: "203.0.113.9/3"}, ""},
		{address, Override{KeyPrefix: "203.0.113.0/24"}, ipKeys},
		{address, Override{KeyPrefix: "2001:db8:"}, ""},
		{address, Override{KeyPrefix: "2001:DB8:"}, ipKeys},
		{address, Override{KeyPrefix: "2001:db8:1:2::/"}, ""},
		{address, Override{KeyPrefix: "2001:db8:1:2:3::/"}, ipKeys},

		{either, Override{Key: "partner-1"}, ""},
		{either, Override{Key: "header:X-API-Key=partner-1"}, ""},
		{either, Override{Key: "ip=203.0.113.9"}, ""},
		{either, Override{Key: "203.0.113.9"}, mistake},
		{either, Override{Key: "10.0.0.0/8"}, mistake},
		{either, Override{Key: "ip=2001:db8:1:2::1"}, like},
		{either, Override{Key: "ip=203.0.113.0/24"}, like},
		{either, Override{Key: "X-Api-Key:foo"}, slip},
		{either, Override{Key: "Header:x-api-key=foo"}, slip},
		{either, Override{Key: "IP=203.0.113.9"}, slipIP},
		{either, Override{Key: "X-Api-Key"}, ""},
		{either, Override{Key: "X-Api-Key-2:foo"}, ""},
		{either, Override{KeyPrefix: "header:x-api"}, ""},
		{either, Override{KeyPrefix: "test-"}, ""},
		{either, Override{Key: "header:x-api-key"}, like}, // without a header it is the address
		{either, Override{Key: "cookie:session=s"}, like},
		{either, Override{Key: "ip=203.0.113.9&path:tenant=acme"}, like},

		{two, Override{Key: "header:x-api-key=k&path:tenant=acme"}, ""},
		{two, Override{Key: "ip=203.0.113.9&path:tenant"}, ""},
		{two, Override{KeyPrefix: "header:x-api-key=k&"}, ""},
		{two, Override{KeyPrefix: "header:x-api-key=k&path:tenant=a"}, ""},
		{two, Override{Key: "k"}, parts},
		{two, Override{KeyPrefix: "test-"}, parts},
		{two, Override{Key: "header:x-api-key=k"}, likeTwo},
		{two, Override{Key: "path:tenant=acme&header:x-api-key=k"}, likeTwo},
		{two, Override{KeyPrefix: "ip=2001:db8::/48&path:tenant=acme"}, likeTwo},

		{[]string{"global"}, Override{Key: "global"}, ""},
		{[]string{"global"}, Override{KeyPrefix: "glob"}, ""},
		{[]string{"global"}, Override{Key: "partner-1"}, global},
		{[]string{"attr:user | global"}, Override{Key: "global"}, ""},
		{nil, Override{Key: "anything"}, ""},
	} {
		c.o.Blocked = true
		p := Policy{Name: "p", Match: Match{Path: "/{tenant}/**"}, Key: c.key, Limits: []limiter.Limit{perMinute("", 1)}, Overrides: []Override{c.o}}
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, w := range p.Warnings(AddressBits{IPv4: 32, IPv6: 64}) {
			if detail, ok := strings.CutPrefix(w.Field+": "+w.Detail, "overrides[0]: "); ok {
				got = detail
			}
		}
		if got != c.want {
			t.Errorf("%v of %q: %q, want %q", c.o, c.key, got, c.want)
		}
	}
}

// An address without its size is the key that it makes.
func TestOverrideOfAnAddress(t *testing.T) {
	t.Parallel()
	s := mustSet(t, Policy{Name: "p", Key: []string{"ip"}, Limits: []limiter.Limit{perMinute("", 1)}, Overrides: []Override{
		{Key: "203.0.113.9", Blocked: true}, {Key: "ip=203.0.113.10", Blocked: true},
	}})
	for ip, want := range map[string]bool{"203.0.113.9": true, "203.0.113.10": true, "203.0.113.90": false, "203.0.113.1": false} {
		if got := apply(t, s, request{ip: ip}, MatchOptions{}); got.Blocked != want {
			t.Errorf("%s: blocked %t, want %t", ip, got.Blocked, want)
		}
	}
	for _, key := range []string{"203.0.113.9", "ip=203.0.113.9"} {
		if keys, err := s.OverrideKeys("p", key); err != nil || !slices.Contains(keys, "ip=203.0.113.9/32") {
			t.Errorf("at run time %s is %q, %v", key, keys, err)
		}
	}
}

// What a policy makes of any request is a key that it makes, and so is every
// beginning of it: nobody is warned of an override that has an effect.
func TestKeysThatAreMade(t *testing.T) {
	t.Parallel()
	entry := rapid.SampledFrom([]string{"ip", "header:X-A", "header:X-A | ip", "ip | cookie:c", "query:q | header:x-b | method", "path", "path:x", "host", "attr:=", "attr:a | global"})
	text := rapid.SampledFrom([]string{"", "a", "a&b", "header:x-a=", "%", "10.0.0.1", "ü", "\xff", "a=b"})
	bits := AddressBits{IPv4: 24, IPv6: 48}
	rapid.Check(t, func(t *rapid.T) {
		p := Policy{Name: "p", Match: Match{Path: "/{x}/**"}, Limits: []limiter.Limit{perMinute("", 1)},
			Key: rapid.SliceOfN(entry, 1, 3).Draw(t, "key")}
		r := compile(&p, func(field, format string, _ ...any) { t.Fatal(field, format) })
		addr, size := netip.MustParseAddr(rapid.SampledFrom([]string{"203.0.113.9", "2001:db8:1:2::3", "::1"}).Draw(t, "ip")), 48
		if addr.Is4() {
			size = 24
		}
		key := netip.PrefixFrom(addr, size).Masked().String()
		if rapid.Bool().Draw(t, "nowhere") {
			key = "unknown"
		}
		v := see(&constant{request{
			method: "GET", host: text.Draw(t, "host"), path: "/" + text.Draw(t, "path") + "/y",
			header: fields{"X-A": text.Draw(t, "a"), "X-B": text.Draw(t, "b")}, cookie: fields{"c": text.Draw(t, "c")},
			query: fields{"q": text.Draw(t, "q")}, attrs: fields{"=": text.Draw(t, "="), "a": text.Draw(t, "attr")},
		}, addr, key})
		_ = r.match.fails(&v)
		made := r.key.of(&v)
		if !r.key.makes(made, true, bits) {
			t.Fatalf("%q is made by %q", made, p.Key)
		}
		for n := range made {
			if !r.key.makes(made[:n], false, bits) {
				t.Fatalf("%q begins with %q", made, made[:n])
			}
		}
	})
}
