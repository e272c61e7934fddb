package httpapi

import (
	"net/http"
	"path"
	"strings"
)

// cleanPathsOnly refuses paths that a ServeMux would clean and redirect to:
// the clean path of a key is that of another key.
func cleanPathsOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isClean(r.URL.EscapedPath()) {
			writeProblem(w, newProblem(http.StatusBadRequest, "the path must begin with / and have no segment that is empty, . or ..; "+
				"in a key write / as %2F, and the keys . and .. as %2E and %2E%2E"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isClean reports whether a ServeMux takes the escaped path as it is. That of
// a target without one, such as http://host, is empty and means the root.
func isClean(escaped string) bool {
	if escaped == "" {
		return true
	}
	clean := path.Clean(escaped)
	if clean != "/" && strings.HasSuffix(escaped, "/") {
		clean += "/"
	}
	return escaped[0] == '/' && clean == escaped
}
