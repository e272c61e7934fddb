// Guard is an HTTP service that asks Murmurate before it answers: 5 requests
// per 10 seconds for each API key. It shows what a program in any language
// has to do: one POST, then pass on the status and the headers.
//
//	go run ./cmd/murmurate serve
//	go run ./examples/guard
//	curl -i -H 'X-Api-Key: alice' localhost:8080/hello
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"log"
	"net/http"
	"strings"
	"time"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8080", "address to serve on")
	limiter := flag.String("limiter", "http://127.0.0.1:7380", "URL of a Murmurate node")
	flag.Parse()

	mux := http.NewServeMux()
	mux.HandleFunc("GET /hello", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "hello\n")
	})
	server := &http.Server{Addr: *listen, Handler: guard(*limiter, mux), ReadHeaderTimeout: 5 * time.Second}
	log.Printf("serving on %s, limited by %s", *listen, *limiter)
	log.Fatal(server.ListenAndServe())
}

// check is the body of POST /v1/check with a limit of the caller's own.
type check struct {
	Key   string `json:"key"`
	Limit limit  `json:"limit"`
}

type limit struct {
	Name      string `json:"name"`
	Algorithm string `json:"algorithm"`
	Rate      string `json:"rate"`
}

// guard asks before every request, and answers a denial itself.
func guard(limiter string, next http.Handler) http.Handler {
	client := &http.Client{Timeout: time.Second}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("X-Api-Key")
		if key == "" {
			http.Error(w, "send an X-Api-Key header", http.StatusUnauthorized)
			return
		}
		body, err := json.Marshal(check{Key: key, Limit: limit{Name: "hello", Algorithm: "token_bucket", Rate: "5/10s"}})
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		ask, err := http.NewRequestWithContext(r.Context(), http.MethodPost, limiter+"/v1/check", bytes.NewReader(body))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		answer, err := client.Do(ask)
		if err != nil {
			log.Printf("serving unlimited: %v", err)
			next.ServeHTTP(w, r)
			return
		}
		defer func() { _ = answer.Body.Close() }()
		_, _ = io.Copy(io.Discard, answer.Body) // so that the connection is used again

		for name, values := range answer.Header {
			if strings.HasPrefix(name, "Ratelimit") || name == "Retry-After" {
				w.Header()[name] = values
			}
		}
		if answer.StatusCode != http.StatusOK {
			http.Error(w, "slow down", answer.StatusCode)
			return
		}
		next.ServeHTTP(w, r)
	})
}
