package httpapi

import (
	_ "embed"
	"net/http"
)

// openAPIDocument describes every route, for people and generators (OpenAPI
// 3.1). It leaves the objects of answers open, since fields may be added; a
// test takes it by its word, both ways.
//
//go:embed openapi.json
var openAPIDocument []byte

// openAPI serves GET /openapi.json.
func openAPI(w http.ResponseWriter, _ *http.Request) {
	h := w.Header()
	h["Content-Type"] = jsonType
	h["Cache-Control"] = noStore
	_, _ = w.Write(openAPIDocument) // the client has gone: nobody to tell
}
