package httpapi_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/murmurate/murmurate/httpapi"
	"github.com/murmurate/murmurate/limiter"
)

// BenchmarkMiddleware serves the same handler without and with the
// middleware over a lone node, as a call and over loopback, and reports
// percentiles of the time that one request takes.
func BenchmarkMiddleware(b *testing.B) {
	node := alone(b, bucket("api", limiter.MaxCount))
	handlers := []struct {
		name    string
		handler http.Handler
	}{
		{"none", ok},
		{"middleware", httpapi.Middleware(node, byKey)(ok)},
	}
	for _, h := range handlers {
		b.Run("ServeHTTP/"+h.name, func(b *testing.B) {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.Header.Set("X-Api-Key", "secret")
			w := &discarding{header: make(http.Header)}
			percentiles(b, func() {
				clear(w.header)
				h.handler.ServeHTTP(w, r)
			})
		})
	}
	for _, h := range handlers {
		b.Run("loopback/"+h.name, func(b *testing.B) {
			s := httptest.NewServer(h.handler)
			defer s.Close()
			client := s.Client()
			r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, s.URL, nil)
			if err != nil {
				b.Fatal(err)
			}
			r.Header.Set("X-Api-Key", "secret")
			percentiles(b, func() {
				answer, err := client.Do(r)
				if err != nil {
					b.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, answer.Body)
				_ = answer.Body.Close()
			})
		})
	}
}

// discarding is a ResponseWriter that keeps only the header.
type discarding struct{ header http.Header }

func (d *discarding) Header() http.Header         { return d.header }
func (d *discarding) Write(p []byte) (int, error) { return len(p), nil }
func (d *discarding) WriteHeader(int)             {}

// percentiles measures op again and again.
func percentiles(b *testing.B, op func()) {
	var took []time.Duration
	b.ReportAllocs()
	for b.Loop() {
		begin := time.Now()
		op()
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2]), "p50-ns")
	b.ReportMetric(float64(took[len(took)*99/100]), "p99-ns")
}
