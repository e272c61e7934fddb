package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
)

// addressCase is one row of testdata/client_ip.json.
type addressCase struct {
	Why            string
	RemoteAddr     string   `json:"remote_addr"`
	XForwardedFor  []string `json:"x_forwarded_for"`
	Forwarded      []string
	Header         string
	TrustedProxies []string `json:"trusted_proxies"`
	Client, Key    string
}

func (c *addressCase) request() *http.Request {
	r := &http.Request{RemoteAddr: c.RemoteAddr, Header: make(http.Header)}
	for _, line := range c.XForwardedFor {
		r.Header.Add("X-Forwarded-For", line)
	}
	for _, line := range c.Forwarded {
		r.Header.Add("Forwarded", line)
	}
	return r
}

func newAddress(t testing.TB, o ClientAddressOptions) *ClientAddress {
	t.Helper()
	if len(o.TrustedProxies) == 0 {
		o.TrustedProxies = []string{NoProxies}
	}
	c, err := NewClientAddress(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// keyOf is the key of a request that a proxy at 10.1.2.3 passes on with the
// given lines of X-Forwarded-For.
func keyOf(c *ClientAddress, lines ...string) string {
	return c.Key((&addressCase{RemoteAddr: "10.1.2.3:80", XForwardedFor: lines}).request())
}

var behindProxies = ClientAddressOptions{TrustedProxies: []string{"10.0.0.0/8"}}

func TestClientAddressOfTheCases(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/client_ip.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []addressCase }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) == 0 {
		t.Fatal("no cases")
	}
	for _, tt := range file.Cases {
		t.Run(tt.Why, func(t *testing.T) {
			t.Parallel()
			c := newAddress(t, ClientAddressOptions{TrustedProxies: tt.TrustedProxies, Header: tt.Header})
			r := tt.request()
			client, unknown := "unknown", uint64(1)
			if addr, ok := c.Of(r); ok {
				client, unknown = addr.String(), 0
			}
			if key := c.Key(r); client != tt.Client || key != tt.Key || c.Unknown() != unknown {
				t.Errorf("client %s, key %s, %d unknown, want %s, %s, %d", client, key, c.Unknown(), tt.Client, tt.Key, unknown)
			}
		})
	}
}

// scenario 41: all IPv4 addresses that arrive mapped into IPv6 shared one
// bucket, that of their /64.
func TestMappedAddressHasItsOwnKey(t *testing.T) {
	t.Parallel()
	direct := newAddress(t, ClientAddressOptions{})
	for remote, want := range map[string]string{
		"[::ffff:1.2.3.4]:443":     "1.2.3.4/32",
		"[::ffff:1.2.3.5]:443":     "1.2.3.5/32",
		"[::ffff:102:304%eth0]:43": "1.2.3.4/32",
		"1.2.3.4:443":              "1.2.3.4/32",
	} {
		if got := direct.Key(&http.Request{RemoteAddr: remote}); got != want {
			t.Errorf("%s: key %s, want %s", remote, got, want)
		}
	}
	for _, trusted := range []string{"10.0.0.0/8", "10.1.2.3", "::ffff:10.1.2.3", "::ffff:10.0.0.0/104"} {
		c := newAddress(t, ClientAddressOptions{TrustedProxies: []string{trusted}})
		for _, proxy := range []string{"10.1.2.3:80", "[::ffff:10.1.2.3]:80"} {
			r := &http.Request{RemoteAddr: proxy, Header: http.Header{"X-Forwarded-For": {"::ffff:1.2.3.4"}}}
			if got := c.Key(r); got != "1.2.3.4/32" {
				t.Errorf("behind %s, where %s is trusted: key %s, want 1.2.3.4/32", proxy, trusted, got)
			}
		}
	}
}

// scenario 42: a client that rotates the addresses of its /64 escaped.
func TestAddressesOfOneNetworkShareAKey(t *testing.T) {
	t.Parallel()
	direct, proxied := newAddress(t, ClientAddressOptions{}), newAddress(t, behindProxies)
	narrow := newAddress(t, ClientAddressOptions{TrustedProxies: []string{NoProxies}, IPv4Prefix: 24, IPv6Prefix: 48})
	for i := range 1000 {
		addr := fmt.Sprintf("2001:db8:1:2:%x:%x::%x", i, 7*i, 31*i)
		remote := &http.Request{RemoteAddr: "[" + addr + "]:443"}
		for name, got := range map[string]string{"direct": direct.Key(remote), "behind a proxy": keyOf(proxied, addr)} {
			if got != "2001:db8:1:2::/64" {
				t.Fatalf("%s %s: key %s", addr, name, got)
			}
		}
		if got := narrow.Key(remote); got != "2001:db8:1::/48" {
			t.Fatalf("%s: key %s", addr, got)
		}
	}
	if got := direct.Key(&http.Request{RemoteAddr: "[2001:db8:1:3::1]:443"}); got != "2001:db8:1:3::/64" {
		t.Errorf("the next network: key %s", got)
	}
	if got := narrow.Key(&http.Request{RemoteAddr: "203.0.113.9:1"}); got != "203.0.113.0/24" {
		t.Errorf("a prefix of IPv4: key %s", got)
	}
}

// scenario 43: a client that forges the header chose its own bucket, and
// without trusted proxies all clients shared the proxy's.
func TestForgedHeaderDoesNotChooseTheKey(t *testing.T) {
	t.Parallel()
	if _, err := NewClientAddress(ClientAddressOptions{}); err == nil {
		t.Error("trusted proxies were guessed")
	}
	c := newAddress(t, behindProxies)
	for _, forged := range []string{"6.6.6.6", "10.6.6.6", "10.6.6.6, 6.6.6.6", "nonsense", ",,,", `"`, "unknown", "::1"} {
		direct := addressCase{RemoteAddr: "203.0.113.9:4711", XForwardedFor: []string{forged}}
		if got := c.Key(direct.request()); got != "203.0.113.9/32" {
			t.Errorf("%q sent by a client that is no proxy: key %s", forged, got)
		}
		for _, lines := range [][]string{{forged + ", 198.51.100.7"}, {forged, "198.51.100.7"}, {forged, "198.51.100.7, 10.9.9.9"}} {
			if got := keyOf(c, lines...); got != "198.51.100.7/32" {
				t.Errorf("%q sent through proxies: key %s", lines, got)
			}
		}
	}
	if a, b := keyOf(c, "198.51.100.7"), keyOf(c, "198.51.100.8"); a == b {
		t.Errorf("two clients behind a proxy share the key %s", a)
	}
}

// scenario 44: a port in the forwarded address made a bucket for every
// connection.
func TestPortDoesNotMakeAKey(t *testing.T) {
	t.Parallel()
	direct, c := newAddress(t, ClientAddressOptions{}), newAddress(t, behindProxies)
	quoted := newAddress(t, ClientAddressOptions{TrustedProxies: behindProxies.TrustedProxies, Header: "Forwarded"})
	for port := range 1 << 16 {
		v4, v6 := fmt.Sprintf("198.51.100.7:%d", port), fmt.Sprintf("[2001:db8:1:2::9]:%d", port)
		for addr, want := range map[string]string{v4: "198.51.100.7/32", v6: "2001:db8:1:2::/64"} {
			forwarded := addressCase{RemoteAddr: "10.1.2.3:80", Forwarded: []string{`for="` + addr + `"`}}
			for _, got := range []string{direct.Key(&http.Request{RemoteAddr: addr}), keyOf(c, addr), quoted.Key(forwarded.request())} {
				if got != want {
					t.Fatalf("%s: key %s, want %s", addr, got, want)
				}
			}
		}
	}
}

func TestRequestsWithoutAnAddress(t *testing.T) {
	t.Parallel()
	// Not even a range of all addresses trusts what is none.
	c := newAddress(t, ClientAddressOptions{TrustedProxies: []string{"0.0.0.0/0", "::/0"}})
	remotes := []string{"@", "", "/run/app.sock", "example.com:80", "300.1.1.1:80", "1.2.3.4:", "1.2.3.4:x", "1.2.3.4:99999", "[::1", "::1]:80", "[1.2.3.4]:80", "1.2.3.4%eth0", "fe80::1%"}
	for i, remote := range remotes {
		r := (&addressCase{RemoteAddr: remote, XForwardedFor: []string{"6.6.6.6"}}).request()
		if addr, ok := c.Of(r); ok {
			t.Errorf("%q: client %s", remote, addr)
		}
		if got := c.Key(r); got != "unknown" || c.Unknown() != uint64(i+1) {
			t.Errorf("%q: key %s, %d unknown", remote, got, c.Unknown())
		}
	}
	for _, remote := range []string{"1.2.3.4", "::1", "[::1]", "[fe80::1%eth0]:80"} {
		if _, ok := c.Of(&http.Request{RemoteAddr: remote}); !ok {
			t.Errorf("%q: no address", remote)
		}
	}
}

func TestFaultsOfClientAddressOptions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		why     string
		options ClientAddressOptions
		want    []string
	}{
		{"no word on proxies", ClientAddressOptions{TrustedProxies: []string{}}, []string{
			`TrustedProxies: must be stated: the addresses or CIDRs of the proxies in front, or "none" where clients connect directly`}},
		{"no proxies beside some", ClientAddressOptions{TrustedProxies: []string{"10.0.0.1", NoProxies}}, []string{
			`TrustedProxies[1]: "none" stands alone: remove it, or all the others`}},
		{"everything", ClientAddressOptions{TrustedProxies: []string{"10.0.0.0/33", "proxy", "", "10.1.2.3/8", "fe80::1%eth0", "::ffff:10.1.0.0/104"},
			Header: "x-real-ip", IPv4Prefix: 33, IPv6Prefix: -1}, []string{
			`TrustedProxies[0]: must be an address without zone, or a CIDR such as 10.0.0.0/8, got "10.0.0.0/33"`,
			`TrustedProxies[1]: must be an address without zone, or a CIDR such as 10.0.0.0/8, got "proxy"`,
			`TrustedProxies[2]: must be an address without zone, or a CIDR such as 10.0.0.0/8, got ""`,
			"TrustedProxies[3]: 10.1.2.3/8 is not where its range begins: write 10.0.0.0/8 for the range, or 10.1.2.3 for the one address",
			`TrustedProxies[4]: must be an address without zone, or a CIDR such as 10.0.0.0/8, got "fe80::1%eth0"`,
			"TrustedProxies[5]: ::ffff:10.1.0.0/104 is not where its range begins: write ::ffff:10.0.0.0/104 for the range, or ::ffff:10.1.0.0 for the one address",
			`Header: must be "x-forwarded-for" or "forwarded", got "x-real-ip"`,
			"IPv4Prefix: must be 1 to 32, or 0 for 32, got 33",
			"IPv6Prefix: must be 1 to 128, or 0 for 64, got -1"}},
	} {
		c, err := NewClientAddress(tt.options)
		if err == nil || c != nil || err.Error() != strings.Join(tt.want, "\n") {
			t.Errorf("%s: got %v, %v", tt.why, c, err)
		}
	}
}
