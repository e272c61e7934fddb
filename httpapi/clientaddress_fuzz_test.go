package httpapi

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// FuzzClientAddress: whatever the peer and the header are, there is one of the
// two kinds of key; a peer that is not trusted says nothing by its header;
// what stands left of an entry that proxies wrote changes nothing; and
// X-Forwarded-For means what a naive reading of it says.
func FuzzClientAddress(f *testing.F) {
	for _, header := range []string{
		"6.6.6.6, 198.51.100.7, 10.9.9.9", " , 198.51.100.7:80 ,, 10.9.9.9 ", "[::ffff:102:304]:1, nonsense", "fe80::1%eth0",
		`for="[2001:db8::1]:4711";proto=https, for=10.8.8.8`, `for="\1\"0,";by="\\",,for=_x;`, `for="`, `"\`, `for=10.1.1.1;For=a`,
	} {
		f.Add("10.1.2.3:80", header, "")
		f.Add("[::ffff:10.1.2.3]:80", "10.1.1.1", header)
		f.Add("203.0.113.9:1", header, header)
	}
	f.Add("@", "10.1.1.1", "for=10.1.1.1")
	readers := map[string]*ClientAddress{}
	for _, name := range []string{"X-Forwarded-For", "Forwarded"} {
		readers[name] = newAddress(f, ClientAddressOptions{TrustedProxies: []string{"10.0.0.0/8", "fd00::/8"}, Header: name})
	}
	f.Fuzz(func(t *testing.T, remote, first, second string) {
		for name, c := range readers {
			lines := []string{first, second}
			r := &http.Request{RemoteAddr: remote, Header: http.Header{name: lines}}
			addr, ok := c.Of(r)
			key := c.Key(r)
			if prefix, err := netip.ParsePrefix(key); !ok && key != "unknown" ||
				ok && (err != nil || prefix != prefix.Masked() || !prefix.Contains(addr) || addr.Is4In6() || addr.Zone() != "") {
				t.Fatalf("%s %q from %q: client %v %t, key %s (%v)", name, lines, remote, addr, ok, key, err)
			}
			bare := &http.Request{RemoteAddr: remote}
			if peer, _ := c.Of(bare); !c.trusts(peer) && c.Key(bare) != key {
				t.Fatalf("%s %q from %q, which is not trusted: key %s", name, lines, remote, key)
			}
			if name == "X-Forwarded-For" && ok && addr != naiveClient(c, r) {
				t.Fatalf("%q from %q: client %v, want %v", lines, remote, addr, naiveClient(c, r))
			}
			for _, appended := range [][]string{{first, second + proxied[name]}, {first, second, proxied[name]}} {
				r := &http.Request{RemoteAddr: "10.1.2.3:80", Header: http.Header{name: appended}}
				if got := c.Key(r); got != "198.51.100.7/32" {
					t.Fatalf("%s %q: key %s", name, appended, got)
				}
			}
		}
	})
}

// proxied is what two proxies append to what a client sent.
var proxied = map[string]string{
	"X-Forwarded-For": ", 198.51.100.7:80, 10.8.8.8",
	"Forwarded":       `, for="198.51.100.7:80";by="\",\\", for=10.8.8.8`,
}

// naiveClient reads X-Forwarded-For by splitting it all.
func naiveClient(c *ClientAddress, r *http.Request) netip.Addr {
	client, _ := parseNode(r.RemoteAddr)
	entries := strings.Split(strings.Join(r.Header["X-Forwarded-For"], ","), ",")
	for _, entry := range slices.Backward(entries) {
		addr, ok := parseNode(strings.Trim(entry, " \t"))
		switch {
		case !c.trusts(client):
			return client
		case ok:
			client = addr
		case strings.Trim(entry, " \t") != "":
			return client
		}
	}
	return client
}

// Both fields, written in any of their ways, name the same client.
func TestForwardedNamesWhomXForwardedForNames(t *testing.T) {
	t.Parallel()
	byX := newAddress(t, behindProxies)
	byForwarded := newAddress(t, ClientAddressOptions{TrustedProxies: behindProxies.TrustedProxies, Header: "Forwarded"})
	other := rapid.SampledFrom([]string{"", ";", ";proto=https", `;by="10.1.1.1:80"`, `;host="a,\"b;for=6.6.6.6\\"`, `; x="\\\"," ;`})
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.SliceOfN(rapid.SampledFrom([]string{
			"10.1.1.1", "10.1.1.2:80", "[::ffff:10.1.1.3]:1", "198.51.100.7", "[2001:db8::1]", "[2001:db8::2]:9", "unknown", "_hidden", "-",
		}), 0, 8).Draw(t, "nodes")
		x, forwarded := http.Header{}, http.Header{}
		for i := 0; i < len(nodes); {
			var xs, fs []string // of one line
			for range min(rapid.IntRange(1, 3).Draw(t, "entries"), len(nodes)-i) {
				node := nodes[i]
				written := `="` + node + `"`
				if rapid.Bool().Draw(t, "escaped") {
					written = `="\` + node[:1] + `\` + node[1:] + `"`
				}
				if len(node) == 1 || strings.Trim(node, ".0123456789") == "" && rapid.Bool().Draw(t, "token") {
					written = "=" + node
				}
				name := rapid.SampledFrom([]string{"for", "For", "FOR"}).Draw(t, "name")
				before := strings.TrimPrefix(other.Draw(t, "before")+";", ";")
				xs, fs = append(xs, node), append(fs, before+name+written+other.Draw(t, "after"))
				i++
			}
			between := rapid.SampledFrom([]string{",", ", ", " ,\t", ", ,"}).Draw(t, "between")
			x.Add("X-Forwarded-For", strings.Join(xs, between))
			forwarded.Add("Forwarded", strings.Join(fs, between))
		}
		want, _ := byX.Of(&http.Request{RemoteAddr: "10.1.2.3:80", Header: x})
		if got, _ := byForwarded.Of(&http.Request{RemoteAddr: "10.1.2.3:80", Header: forwarded}); got != want {
			t.Fatalf("%q: %v\n%q: %v", x["X-Forwarded-For"], want, forwarded["Forwarded"], got)
		}
	})
}
