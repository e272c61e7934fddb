package httpapi

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
)

// guard decides who may administer.
type guard struct {
	// digests of the tokens: equal lengths, so that comparing them takes the
	// same time whatever was sent.
	digests [][sha256.Size]byte
	open    bool
}

func newGuard(tokens []string, open bool) guard {
	g := guard{open: open && len(tokens) == 0}
	for _, t := range tokens {
		g.digests = append(g.digests, sha256.Sum256([]byte(t)))
	}
	return g
}

// protect lets through to next who may administer.
func (g guard) protect(next http.HandlerFunc) http.HandlerFunc {
	switch {
	case g.open:
		return next
	case len(g.digests) == 0:
		return func(w http.ResponseWriter, _ *http.Request) {
			writeProblem(w, newProblem(http.StatusForbidden, "administration beyond loopback needs a token: "+
				"set http.auth_tokens, and send one as Authorization: Bearer TOKEN"))
		}
	}
	return func(w http.ResponseWriter, r *http.Request) {
		// RFC 6750, section 3: the error code is for requests that brought a token.
		token := bearer(r)
		if g.knows(token) {
			next(w, r)
			return
		}
		challenge, detail := `Bearer realm="murmurate"`, "administration needs one of http.auth_tokens, sent as Authorization: Bearer TOKEN"
		if token != "" {
			challenge, detail = challenge+`, error="invalid_token"`, "the token that was sent is none of http.auth_tokens: send another"
		}
		w.Header().Set("WWW-Authenticate", challenge)
		writeProblem(w, newProblem(http.StatusUnauthorized, detail))
	}
}

// knows compares with every token, so that the time tells nothing.
func (g guard) knows(token string) bool {
	given, found := sha256.Sum256([]byte(token)), 0
	for i := range g.digests {
		found |= subtle.ConstantTimeCompare(given[:], g.digests[i][:])
	}
	return found == 1 && token != ""
}

// bearer is the token that r brings (RFC 6750, section 2.1), or empty.
func bearer(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "bearer") {
		return ""
	}
	return strings.TrimLeft(token, " ")
}

func adminElsewhere(w http.ResponseWriter, _ *http.Request) {
	writeProblem(w, newProblem(http.StatusForbidden, "administration has a listener of its own: http.admin_listen"))
}
