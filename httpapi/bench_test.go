package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/murmurate/murmurate/policy"
)

// benchBody is the body of a check, and benchAnswer that of its decision.
const benchBody = `{"policy":"default","key":"user:42","cost":1}`

// sink is a ResponseWriter that keeps only the header.
type sink struct{ header http.Header }

func (s *sink) Header() http.Header         { return s.header }
func (s *sink) Write(b []byte) (int, error) { return len(b), nil }
func (s *sink) WriteHeader(int)             {}

// benchmark serves one request again and again.
func benchmark(b *testing.B, h http.Handler, path, body string) {
	w := &sink{make(http.Header)}
	content := bytes.NewReader([]byte(body))
	r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, path, content)
	if err != nil {
		b.Fatal(err)
	}
	r.Body = io.NopCloser(content)
	b.ReportAllocs()
	for b.Loop() {
		content.Reset([]byte(body))
		clear(w.header)
		h.ServeHTTP(w, r)
	}
}

// quickNode decides the same each time.
type quickNode struct {
	*fakeNode
	decision policy.Decision
}

func newQuick(b *testing.B, body string) *quickNode {
	fake := newFake(b, policy.Default(), api())
	c, err := decodeCheck([]byte(body))
	if err != nil {
		b.Fatal(err)
	}
	d, err := fake.Check(b.Context(), c.Request)
	if err != nil {
		b.Fatal(err)
	}
	return &quickNode{fake, d}
}

func (n *quickNode) Check(context.Context, policy.Request) (policy.Decision, error) {
	return n.decision, nil
}

func BenchmarkCheckHandler(b *testing.B) {
	for name, body := range map[string]string{
		"one limit":    benchBody,
		"two limits":   `{"policy":"api","key":"user:42","cost":1}`,
		"inline limit": `{"key":"user:42","limit":{"algorithm":"token_bucket","rate":"100/1m","burst":20}}`,
	} {
		b.Run(name, func(b *testing.B) {
			benchmark(b, New(Options{Node: newQuick(b, body), Fields: bothDialects}).Handler(), "/v1/check", body)
		})
	}
}

// BenchmarkTrivialHandler is the floor: it reads the same body, decodes it
// with encoding/json, and writes the same answer without deciding anything.
func BenchmarkTrivialHandler(b *testing.B) {
	answer := appendDecision(nil, &newQuick(b, benchBody).decision)
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct{ Policy, Key string }
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer)
	})
	benchmark(b, h, "/v1/check", benchBody)
}

func BenchmarkDecodeCheck(b *testing.B) {
	body := []byte(benchBody)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := decodeCheck(body); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendDecision(b *testing.B) {
	n, buf := newQuick(b, benchBody), make([]byte, 0, 4096)
	b.ReportAllocs()
	for b.Loop() {
		buf = appendDecision(buf[:0], &n.decision)
	}
}

func BenchmarkFields(b *testing.B) {
	n := newQuick(b, benchBody)
	f, h, limits := newFieldWriter(bothDialects, n.Policies), make(http.Header), fieldsOf(nil, &n.decision)
	b.ReportAllocs()
	for b.Loop() {
		f.writeLimits(h, "default", limits)
	}
}

func BenchmarkClientAddressKey(b *testing.B) {
	for _, bb := range []struct{ name, header, line string }{
		{"direct", "X-Forwarded-For", ""},
		{"X-Forwarded-For", "X-Forwarded-For", "6.6.6.6, 198.51.100.7, 10.9.9.9"},
		{"Forwarded", "Forwarded", `for=6.6.6.6, for="[2001:db8:1:2::17]:4711";proto=https, for=10.9.9.9`},
	} {
		b.Run(bb.name, func(b *testing.B) {
			c := newAddress(b, ClientAddressOptions{TrustedProxies: []string{"10.0.0.0/8"}, Header: bb.header})
			r := &http.Request{RemoteAddr: "10.1.2.3:80", Header: http.Header{bb.header: {bb.line}}}
			b.ReportAllocs()
			for b.Loop() {
				c.Key(r)
			}
		})
	}
}
