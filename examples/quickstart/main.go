// Quickstart is the shortest program with a limit: 100 requests a minute for
// each API key, counted in this process, or over all instances once they
// Join each other.
//
//	go run ./examples/quickstart
//	curl -i -H 'X-Api-Key: alice' localhost:8080/
package main

import (
	"context"
	"io"
	"log"
	"net/http"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/httpapi"
)

func main() {
	app := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello\n") })

	node, err := murmurate.Start(context.Background(), murmurate.Options{})
	if err != nil {
		log.Fatal(err)
	}
	limited := httpapi.Middleware(node, httpapi.ByHeader("X-Api-Key"))(app)
	log.Print("serving on 127.0.0.1:8080")
	log.Fatal(http.ListenAndServe("127.0.0.1:8080", limited)) //nolint:gosec // the shortest, not the hardest
}
