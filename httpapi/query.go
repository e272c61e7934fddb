package httpapi

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/murmurate/murmurate/policy"
)

// parameters are those of the query of each path below /v1.
var parameters = map[string][]string{
	checkPath:     {explainQuery},
	clusterPath:   {"policy", "key"},
	keyPath:       {tierQuery},
	overridesPath: {"policy"},
	memberPath:    {forceQuery},
}

// strictQuery refuses parameters that a path does not know, as bodies refuse
// fields: one that is misspelt would go unheeded. Paths outside /v1 are asked by
// programs that add to their queries what they like.
func strictQuery(path string, next http.HandlerFunc) http.HandlerFunc {
	if !strings.HasPrefix(path, "/v1/") {
		return next
	}
	known := parameters[path]
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "" {
			if err := checkQuery(r.URL.RawQuery, path, known); err != nil {
				writeProblem(w, problemOf(err))
				return
			}
		}
		next(w, r)
	}
}

func checkQuery(raw, path string, known []string) error {
	query, err := url.ParseQuery(raw)
	if err != nil {
		return newProblem(http.StatusBadRequest, "the query cannot be read: "+err.Error())
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if !slices.Contains(known, name) {
			return unknownParameter(name, path, known)
		}
	}
	return nil
}

// unknownParameter says what to write instead. A key with a ? in it is cut off
// there, and what is left of it may be another key.
func unknownParameter(name, path string, known []string) error {
	detail := "is no parameter of this path"
	switch near := policy.Nearest(name, known); {
	case name == "":
		return fault("query", "has a parameter without a name")
	case near != "":
		detail += fmt.Sprintf("; did you mean %q?", near)
	case name == explainQuery:
		detail += ": ask for one check at a time, with POST " + checkPath + "?" + explainQuery + "=1"
	case strings.HasSuffix(path, "/{key...}"):
		detail += "; in a key write ? as %3F"
	case len(known) > 0:
		detail += ", which takes " + strings.Join(known, " and ")
	default:
		detail += ", which takes none"
	}
	return fault(clip(name), detail)
}
