package httpapi

import (
	"net/http"
	"strings"
	"testing"
)

func TestForwardedGrammar(t *testing.T) {
	t.Parallel()
	c := newAddress(t, ClientAddressOptions{TrustedProxies: []string{"10.0.0.0/8"}, Header: "forwarded"})
	const proxy = "10.1.2.3"
	for _, tt := range []struct {
		why   string
		lines []string
		want  string
	}{
		{"token", []string{`for=198.51.100.7`}, "198.51.100.7"},
		{"quoted", []string{`for="198.51.100.7"`}, "198.51.100.7"},
		{"quoted port", []string{`for="198.51.100.7:80"`}, "198.51.100.7"},
		{"obfuscated port", []string{`for="198.51.100.7:_x.9-A_"`}, "198.51.100.7"},
		{"escapes", []string{`for="\198.\5\1.100\.7"`}, "198.51.100.7"},
		{"escapes around IPv6", []string{`for="\[2001:db8::\1\]\:80"`}, "2001:db8::1"},
		{"IPv6 without a port", []string{`for="[2001:db8::1]"`}, "2001:db8::1"},
		{"IPv6 with a zone", []string{`for="[fe80::1%25eth0]:80"`}, "fe80::1"},
		{"IPv6 without quotes", []string{`for=[2001:db8::1]:80`}, "2001:db8::1"},
		{"IPv6 without brackets", []string{`for="2001:db8::1"`}, "2001:db8::1"},
		{"port without quotes", []string{`for=198.51.100.7:80`}, "198.51.100.7"},
		{"mapped", []string{`for="[::ffff:198.51.100.7]"`}, "198.51.100.7"},
		{"any case", []string{`FoR=198.51.100.7`}, "198.51.100.7"},
		{"first of several parameters", []string{`for=198.51.100.7;by=10.1.2.3;proto=https`}, "198.51.100.7"},
		{"last of several parameters", []string{`host="a;b,c=d";proto=https;for=198.51.100.7`}, "198.51.100.7"},
		{"empty parameters", []string{`;;for=198.51.100.7;;proto=http;`}, "198.51.100.7"},
		{"space around semicolons", []string{"for=198.51.100.7 ;\tproto=http ; by=\"x\" ;"}, "198.51.100.7"},
		{"parameters of the future", []string{`for=198.51.100.7;secret="for=6.6.6.6"`}, "198.51.100.7"},
		{"comma in quotes", []string{`for=198.51.100.7;by="a, for=6.6.6.6"`}, "198.51.100.7"},
		{"escaped quote in quotes", []string{`for=198.51.100.7;by="a\", for=6.6.6.6"`}, "198.51.100.7"},
		{"escaped backslash ends quotes", []string{`for=6.6.6.6, for=198.51.100.7;by="\\"`}, "198.51.100.7"},
		{"backslashes before a quote in quotes", []string{`by="\\\", x\\";for=198.51.100.7`}, "198.51.100.7"},
		{"elements of a line", []string{`for=6.6.6.6, for=198.51.100.7,for=10.1.1.1`}, "198.51.100.7"},
		{"elements of lines", []string{`for=6.6.6.6`, `for=198.51.100.7`, `for=10.1.1.1, for=10.1.1.2`}, "198.51.100.7"},
		{"empty elements", []string{``, `for=198.51.100.7, ,`, ` , , for=10.1.1.1,`, ``}, "198.51.100.7"},
		{"all trusted", []string{`for=10.1.1.1`, `for=10.1.1.2`}, "10.1.1.1"},

		{"open quotes to the left", []string{`for=", for=198.51.100.7`}, "198.51.100.7"},
		{"open quotes in a line before", []string{`for=6.6.6.6;by="`, `for=198.51.100.7;by="x"`}, "198.51.100.7"},
		{"backslash to the left", []string{`for="\, for="198.51.100.7"`}, "198.51.100.7"},

		{"unknown", []string{`for=6.6.6.6, for=unknown, for=10.1.1.1`}, "10.1.1.1"},
		{"obfuscated", []string{`for=6.6.6.6, for="_gazonk", for=10.1.1.1`}, "10.1.1.1"},
		{"nobody", []string{`for=6.6.6.6, proto=https, for=10.1.1.1`}, "10.1.1.1"},
		{"open quotes", []string{`for=6.6.6.6, for="198.51.100.7`}, proxy},
		{"open quotes after quotes", []string{`for="6.6.6.6", for="198.51.100.7`}, proxy},
		{"closing quote alone", []string{`for=6.6.6.6, for=198.51.100.7"`}, proxy},
		{"quotes that end in a backslash", []string{`for=6.6.6.6, for="198.51.100.7\"`}, proxy},
		{"quotes within a value", []string{`for=198.51."100.7"`}, proxy},
		{"value after quotes", []string{`for="198.51.100.7"x`}, proxy},
		{"escapes without quotes", []string{`for=\198.51.100.7`}, proxy},
		{"backslash at the end", []string{`for=198.51.100.7\`}, proxy},
		{"no value", []string{`for=`}, proxy},
		{"no value before another", []string{`for=;proto=http`}, proxy},
		{"empty quotes", []string{`for=""`}, proxy},
		{"no name", []string{`=198.51.100.7`}, proxy},
		{"only a name", []string{`for`}, proxy},
		{"only an address, as in X-Forwarded-For", []string{`198.51.100.7`}, proxy},
		{"only a semicolon", []string{`for=6.6.6.6, ;`}, proxy},
		{"space before the equals sign", []string{`for =198.51.100.7`}, proxy},
		{"space after the equals sign", []string{`for= 198.51.100.7`}, proxy},
		{"twice", []string{`for=198.51.100.7;for=6.6.6.6`}, proxy},
		{"twice the same", []string{`for=198.51.100.7;For=198.51.100.7`}, proxy},
		{"fault in another parameter", []string{`for=198.51.100.7;proto`}, proxy},
		{"obfuscated port without a name", []string{`for="198.51.100.7:_"`}, proxy},
		{"obfuscated port of other characters", []string{`for="198.51.100.7:_a!"`}, proxy},
		{"colon without a port", []string{`for="[2001:db8::1]:"`}, proxy},
		{"text after the bracket", []string{`for="[2001:db8::1]80"`}, proxy},
	} {
		r := &http.Request{RemoteAddr: proxy + ":80", Header: http.Header{"Forwarded": tt.lines, "X-Forwarded-For": {"6.6.6.6"}}}
		if got, ok := c.Of(r); !ok || got.String() != tt.want {
			t.Errorf("%s: %q: client %v, want %s", tt.why, tt.lines, got, tt.want)
		}
	}
}

// The longest header that a server accepts is read once, without an
// allocation for each of its entries.
func TestLongHeadersAreReadOnce(t *testing.T) {
	// Not parallel: it counts allocations.
	const entries = 50_000
	for _, tt := range []struct{ why, header, line, want string }{
		{"trusted addresses", "X-Forwarded-For", "10.0.0.7" + strings.Repeat(",10.1.1.1", entries), "10.0.0.7"},
		{"nothing", "X-Forwarded-For", strings.Repeat(", ", entries), "10.1.2.3"},
		{"trusted elements", "Forwarded", "for=10.0.0.7" + strings.Repeat(`,for="[::ffff:10.1.1.1]:80"`, entries), "10.0.0.7"},
		{"parameters", "Forwarded", "for=10.0.0.7" + strings.Repeat(`;by="a,b"`, entries), "10.0.0.7"},
		{"backslashes", "Forwarded", `for=10.0.0.7;by="` + strings.Repeat(`\\`, entries) + `"`, "10.0.0.7"},
		{"quotes", "Forwarded", strings.Repeat(`"`, 2*entries+1), "10.1.2.3"},
		{"escaped quotes", "Forwarded", strings.Repeat(`\"`, entries), "10.1.2.3"},
	} {
		c := newAddress(t, ClientAddressOptions{TrustedProxies: []string{"10.0.0.0/8"}, Header: tt.header})
		r := &http.Request{RemoteAddr: "10.1.2.3:80", Header: http.Header{tt.header: {tt.line}}}
		if got, ok := c.Of(r); !ok || got.String() != tt.want {
			t.Errorf("%s: client %v, want %s", tt.why, got, tt.want)
		}
		const few = 3 // for the error of the one entry that is no address
		if n := testing.AllocsPerRun(1, func() { c.Of(r) }); n > few {
			t.Errorf("%s: %v allocations", tt.why, n)
		}
	}
}
