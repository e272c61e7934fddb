package httpapi

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/murmurate/murmurate/policy"
)

// looseCheck is a check as encoding/json reads it.
type looseCheck struct {
	Policy *string
	Key    *string
	Limit  *policy.LimitSpec
	Cost   *int64
	Peek   *bool

	Attributes map[string]any
}

func orZero[T any](p *T) (zero T) {
	if p == nil {
		return zero
	}
	return *p
}

// FuzzDecodeCheck holds the strict decoder against encoding/json: what the
// first accepts the second reads alike, and no fault is anything but the
// client's.
func FuzzDecodeCheck(f *testing.F) {
	for _, seed := range []string{
		`{"policy":"api","key":"user:42","cost":1}`,
		` { "policy" : null , "key" : "\u0061\ud83d\ude00\\\"" , "cost" : -0 , "peek" : true } `,
		`{"key":"a","limit":{"name":"n","algorithm":"fixed_window","count":5,"period":"month","burst":null,"align":"calendar","timezone":"UTC","anchor":3}}`,
		`{"key":"\ud83d","key":1.5e3}`, `{"":[{}],"x":{"}":"]"}}`, `[]`, `"`, "{\"key\":\"\xff\"}", `{"KEY":"a"}`, ``,
		`{"attributes":{"ip":"::ffff:203.0.113.9","method":"GET","host":"h","path":"/","query":{"q":""},"headers":{"X-Api-Key":"k"},"cookies":{"s":null},"plan":"pro"},"cost":1}`,
		`{"attributes":{"":"a","ip":"fe80::1%eth0"}}`, `{"attributes":{"headers":{"x-a":"1","X-A":"2"}}}`, `{"attributes":{"\ud83d":1,"query":[{}]}}`, `{"attributes":{},"limit":{}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		c, err := decodeCheck(body)
		if err != nil {
			if p := problemOf(err); !errors.Is(err, policy.ErrInput) || p.Status != http.StatusBadRequest || p.Detail == "" {
				t.Fatalf("%q: %v is answered with %+v", body, err, p)
			}
			return
		}
		var loose looseCheck
		if err := json.Unmarshal(body, &loose); err != nil {
			t.Fatalf("%q was accepted, but: %v", body, err)
		}
		want := checkRequest{Request: policy.Request{
			Policy: orZero(loose.Policy), Key: orZero(loose.Key), Cost: orZero(loose.Cost), Peek: orZero(loose.Peek),
		}}
		if loose.Cost != nil && *loose.Cost == 0 {
			want.free, want.Peek, want.Cost = true, true, 1
		}
		if loose.Limit != nil {
			limit, err := loose.Limit.Limit()
			if err != nil || c.Limit == nil || limit.Count != c.Limit.Count || limit.Period != c.Limit.Period || limit.Burst != c.Limit.Burst || limit.Anchor != c.Limit.Anchor {
				t.Fatalf("%q: limit %+v, want %+v (%v)", body, c.Limit, limit, err)
			}
		}
		sameAttributes(t, body, c.Attributes, loose.Attributes)
		c.Limit, c.Attributes = nil, nil
		if c != want {
			t.Fatalf("%q: got %+v, want %+v", body, c, want)
		}
		if !utf8.ValidString(c.Key) || !utf8.ValidString(c.Policy) {
			t.Fatalf("%q: %+v is not UTF-8", body, c)
		}
	})
}

// sameAttributes holds the attributes that were read against those that
// encoding/json reads.
func sameAttributes(t *testing.T, body []byte, got policy.Attributes, loose map[string]any) {
	t.Helper()
	if (got == nil) != (loose == nil) {
		t.Fatalf("%q: attributes %+v, want %v", body, got, loose)
	}
	same := func(got string, value any, name string) {
		if want, _ := value.(string); got != want {
			t.Fatalf("%q: attribute %q is %q, want %q", body, name, got, want)
		}
	}
	for name, value := range loose {
		texts, _ := value.(map[string]any)
		switch name {
		case "ip":
			if _, given := value.(string); given != got.Addr().IsValid() || got.Addr().Is4In6() || got.Addr().Zone() != "" {
				t.Fatalf("%q: address %v", body, got.Addr())
			}
		case "method":
			same(got.Method(), value, name)
		case "host":
			same(got.Host(), value, name)
		case "path":
			same(got.Path(), value, name)
		case "query":
			for name, value := range texts {
				same(got.Query(name), value, name)
			}
		case "headers":
			for name, value := range texts {
				if value != nil { // of one that is null there may be another spelling
					same(got.Header(http.CanonicalHeaderKey(name)), value, name)
				}
			}
		case "cookies":
			for name, value := range texts {
				same(got.Cookie(name), value, name)
			}
		default:
			same(got.Attr(name), value, name)
		}
	}
}

// FuzzDecodeBatch: no item disturbs its neighbours, and nothing panics.
func FuzzDecodeBatch(f *testing.F) {
	for _, seed := range []string{`{"policy":"api","key":"a"}`, `null`, `[{"a":"]}"}, 1]`, `"\""`, `1e5`, `{"key":{"}":[]}}`} {
		f.Add([]byte(seed))
	}
	const good = `{"key":"good"}`
	f.Fuzz(func(t *testing.T, item []byte) {
		items, err := decodeBatch([]byte(`{"checks":[` + good + `,` + string(item) + `,` + good + `]}`))
		if err != nil || !json.Valid(item) {
			return // not one item
		}
		if len(items) != 3 || items[0].Key != "good" || items[2].Key != "good" || items[0].err != nil || items[2].err != nil {
			t.Fatalf("%q: %+v", item, items)
		}
		alone, aloneErr := decodeCheck(item)
		alone.Limit, items[1].Limit = nil, nil // compared by pointer otherwise
		alone.Attributes, items[1].Attributes = nil, nil
		if (aloneErr == nil) != (items[1].err == nil) || aloneErr == nil && alone != items[1].checkRequest {
			t.Fatalf("%q: alone %+v %v, in a batch %+v", item, alone, aloneErr, items[1])
		}
	})
}

// The other direction: whatever encoding/json writes is read.
func TestWhatTheJSONPackageWritesIsRead(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := policy.Request{
			Policy: rapid.String().Draw(t, "policy"), Key: rapid.String().Draw(t, "key"),
			Cost: rapid.Int64Min(1).Draw(t, "cost"), Peek: rapid.Bool().Draw(t, "peek"),
		}
		body, err := json.MarshalIndent(map[string]any{"policy": want.Policy, "key": want.Key, "cost": want.Cost, "peek": want.Peek},
			"", rapid.SampledFrom([]string{"", " ", "\t", "\r\n"}).Draw(t, "indent"))
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "escape") {
			body = []byte(strings.ReplaceAll(string(body), `"key"`, `"k\u0065y"`))
		}
		got, err := decodeCheck(body)
		if err != nil || got.Request != want {
			t.Fatalf("%s: got %+v, %v, want %+v", body, got, err, want)
		}
	})
}
