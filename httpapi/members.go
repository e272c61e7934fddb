package httpapi

import (
	"errors"
	"net/http"
)

const memberPath = "/v1/members/{id}"

// forceQuery is the parameter that overrules ErrNotEvicted where that can be.
const forceQuery = "force"

// Why a member is not evicted.
var (
	// ErrNoMember: there is no such member.
	ErrNoMember = errors.New("no such member")
	// ErrNotEvicted: the member lives, or too few others are within reach.
	ErrNotEvicted = errors.New("not evicted")
)

// evictMember serves DELETE /v1/members/{id}, and answers with the cluster as
// it is then.
func (a *API) evictMember(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	force := false
	switch query := r.URL.Query(); {
	case !query.Has(forceQuery):
	case query.Get(forceQuery) == "1":
		force = true
	default:
		writeProblem(w, problemOf(fault(forceQuery, "must be 1 or left out")))
		return
	}
	switch err := a.evict(id, force); {
	case errors.Is(err, ErrNoMember):
		writeProblem(w, newProblem(http.StatusNotFound, err.Error()))
	case errors.Is(err, ErrNotEvicted):
		writeProblem(w, newProblem(http.StatusConflict, err.Error()))
	case err != nil:
		writeProblem(w, problemOf(err))
	default:
		a.log.Info("member evicted", "member", id, "force", force)
		a.clusterStatus(w, r)
	}
}
