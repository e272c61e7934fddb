package httpapi

import (
	"net/http"
	"time"

	"github.com/murmurate/murmurate/policy"
)

// CostAfter is what a request has cost, in units, at least 0. status and
// header are those of the answer, and bytes the length of its body as the
// handler wrote it. elapsed is the time that the handler took. The header must
// not be changed or kept.
type CostAfter func(status int, header http.Header, bytes int64, elapsed time.Duration) int64

// Settler settles for a [Middleware] that is told costs afterwards.
type Settler interface {
	// SettleSoon charges what a request has really cost in place of the
	// estimate, once for each receipt. It does not wait for other nodes for
	// long, and what goes wrong is for it to tell.
	SettleSoon(receipt string, actual int64)
}

// serveAndSettle has next serve r, and settles what that has cost, also if
// next panics.
func (g *gate) serveAndSettle(w http.ResponseWriter, r *http.Request, next http.Handler, receipt string) {
	m := &meter{ResponseWriter: w}
	returned, began := false, time.Now()
	defer func() {
		if m.status == 0 {
			m.status = http.StatusOK
			if !returned {
				m.status = http.StatusInternalServerError
			}
		}
		cost := g.after(m.status, m.Header(), m.bytes, time.Since(began))
		if cost < 0 {
			g.negative.Do(func() {
				g.log.ErrorContext(r.Context(), "the function of WithCostAfter returned a negative cost; the estimate stays charged", "cost", cost)
			})
			return
		}
		g.settler.SettleSoon(receipt, cost)
	}()
	next.ServeHTTP(m.writer(), r)
	returned = true
}

// unserved gives back what a request was charged that is not served.
func (g *gate) unserved(d *policy.Decision) {
	if d.Receipt != "" {
		g.settler.SettleSoon(d.Receipt, 0)
	}
}
