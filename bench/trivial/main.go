// Trivial is the floor that the HTTP check is measured against: a net/http
// handler that reads the same body, decides nothing, and sends an answer of
// the same size with the same headers.
package main

import (
	"flag"
	"io"
	"log"
	"net/http"
	"time"
)

// answer is a decision as /v1/check sends it.
const answer = `{"allowed":true,"policy":"default","limit":100,"remaining":99,"cost":1,"retry_after_ms":0,"reset_after_ms":66517,"delay_ms":0,"source":"owner","shadow":false,"denied_by":[],"limits":[{"name":"default","limit":100,"remaining":99,"allowed":true,"retry_after_ms":0,"reset_after_ms":66517,"next_unit_ms":66517,"window_ms":60000,"unit":"requests"}]}`

// headers are those of a decision.
var headers = map[string]string{
	"Cache-Control":       "no-store",
	"Content-Type":        "application/json",
	"Ratelimit":           `"default";r=99;t=67`,
	"Ratelimit-Limit":     "100",
	"Ratelimit-Policy":    `"default";q=100;w=60`,
	"Ratelimit-Remaining": "99",
	"Ratelimit-Reset":     "67",
}

func main() {
	listen := flag.String("listen", "127.0.0.1:7399", "address to serve on")
	flag.Parse()
	server := &http.Server{Addr: *listen, ReadHeaderTimeout: 5 * time.Second}
	server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		h := w.Header()
		for name, value := range headers {
			h[name] = []string{value}
		}
		_, _ = io.WriteString(w, answer)
	})
	log.Fatal(server.ListenAndServe())
}
