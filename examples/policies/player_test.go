package presets

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/httpapi"
)

// player makes the calls that the comments of the presets show.
type player struct {
	t     *testing.T
	nodes []*murmurate.Node
	doors []http.Handler // of nodes
	calls atomic.Int64
}

func newPlayer(t *testing.T, nodes ...*murmurate.Node) *player {
	p := &player{t: t, nodes: nodes}
	for _, n := range nodes {
		p.doors = append(p.doors, httpapi.New(httpapi.Options{Node: n}).Handler())
	}
	return p
}

// object is a JSON object. As attributes it says what a request is.
type object map[string]any

// with is o with one more member.
func (o object) with(name string, value any) object {
	more := object{name: value}
	for n, v := range o {
		if n != name {
			more[n] = v
		}
	}
	return more
}

// answer is what a call is answered.
type answer struct {
	Status       int
	Allowed      bool
	Policy       string
	DeniedBy     []string `json:"denied_by"`
	RetryAfterMS int64    `json:"retry_after_ms"`
	Receipt      string
	Lease        string
	retryAfter   string // the header field
}

// post makes a call at the next node.
func (p *player) post(path string, body object) answer {
	p.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		p.t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(p.t.Context(), http.MethodPost, path, bytes.NewReader(text))
	w := httptest.NewRecorder()
	p.doors[int(p.calls.Add(1))%len(p.doors)].ServeHTTP(w, r)
	a := answer{Status: w.Code, retryAfter: w.Header().Get("Retry-After")}
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil {
		p.t.Fatalf("%s answers %s", path, w.Body)
	}
	if w.Header().Get("Content-Type") != "application/json" {
		p.t.Errorf("%s of %s: %s", path, text, w.Body)
	}
	return a
}

// check asks for a request that says attributes of itself.
func (p *player) check(attributes object) answer {
	p.t.Helper()
	return p.post("/v1/check", object{"attributes": attributes})
}

// estimate is check with a receipt for what the request will really cost.
func (p *player) estimate(attributes object) answer {
	p.t.Helper()
	return p.post("/v1/check", object{"attributes": attributes, "receipt": true})
}

// acquire is check for a request that has a slot until it ends.
func (p *player) acquire(attributes object) answer {
	p.t.Helper()
	return p.post("/v1/acquire", object{"attributes": attributes})
}

// release ends a request that has a slot.
func (p *player) release(lease string) {
	p.t.Helper()
	if a := p.post("/v1/release", object{"lease": lease}); a.Status != http.StatusOK {
		p.t.Errorf("releasing is answered with %d", a.Status)
	}
}

// look asks one policy, without charging it yet.
func (p *player) look(policy string, attributes object) answer {
	p.t.Helper()
	return p.post("/v1/check", object{"policy": policy, "attributes": attributes, "cost": 0, "receipt": true})
}

// settle says what the request with the receipt has really cost.
func (p *player) settle(receipt string, cost int64) {
	p.t.Helper()
	if a := p.post("/v1/settle", object{"receipt": receipt, "cost": cost}); a.Status != http.StatusOK {
		p.t.Errorf("settling is answered with %d", a.Status)
	}
}

// admitted fails the test unless a was.
func (p *player) admitted(what string, a answer) {
	p.t.Helper()
	if !a.Allowed || a.Status != http.StatusOK {
		p.t.Errorf("%s: not admitted: %+v", what, a)
	}
}

// denied fails the test unless the named policy denied a with 429 or another
// status.
func (p *player) denied(what string, a answer, policy string, status int) {
	p.t.Helper()
	if a.Allowed || a.Status != status || a.Policy != policy {
		p.t.Errorf("%s: not denied by %s with %d: %+v", what, policy, status, a)
	}
}

// admits is how many of so many requests pass at once.
func (p *player) admits(attempts int, attributes object) int {
	p.t.Helper()
	passed := 0
	for range attempts {
		if p.check(attributes).Allowed {
			passed++
		}
	}
	return passed
}

// passesAfter fails the test unless the call that ask makes passes after wait
// for the first time.
func (p *player) passesAfter(wait time.Duration, what string, ask func() answer) {
	p.t.Helper()
	time.Sleep(wait - time.Nanosecond)
	if ask().Allowed {
		p.t.Errorf("%s: passes before %v", what, wait)
	}
	time.Sleep(time.Nanosecond)
	p.admitted(what, ask())
}
