package httpapi

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// The problem types of a denial, as draft-ietf-httpapi-ratelimit-headers
// registers them.
const (
	quotaExceeded   = "https://iana.org/assignments/http-problem-types#quota-exceeded"
	abnormalUsage   = "https://iana.org/assignments/http-problem-types#abnormal-usage-detected"
	reducedCapacity = "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity"
)

// shownLimits are the limits of decisions as the fields of one answer show
// them. Only those of a denial count as violated. A limit that was asked under
// several keys is shown once, as it is closest to denying.
func shownLimits(decisions []policy.Decision) []limitFields {
	var all policy.Decision
	for i := range decisions {
		d := &decisions[i]
		for _, l := range d.Limits {
			l.Allowed = l.Allowed || d.Allowed
			same := slices.IndexFunc(all.Limits, func(other policy.LimitResult) bool { return other.Name == l.Name })
			switch {
			case same < 0:
				all.Limits = append(all.Limits, l)
			case policy.Closer(&l.Result, &all.Limits[same].Result):
				all.Limits[same] = l
			}
		}
	}
	return fieldsOf(nil, &all)
}

// deny answers a denied request. The RateLimit fields are set already.
func (g *gate) deny(w http.ResponseWriter, r *http.Request, d *policy.Decision, limits []limitFields) {
	h := w.Header()
	g.writer.writeRetryAfter(h, limits)
	h["Cache-Control"] = noStore
	if g.denied != nil {
		g.denied.ServeHTTP(w, r)
		return
	}
	refuse(w, r, denialOf(d, limits))
}

// denialOf is what the client is told. A denial for want of capacity is not
// the client's doing, though it may be its many requests that use up a share.
func denialOf(d *policy.Decision, limits []limitFields) *problem {
	p := &problem{Type: quotaExceeded, Title: "Quota Exceeded", Status: statusOf(d)}
	for i := range limits {
		if !limits[i].allowed {
			p.Violated = append(p.Violated, limits[i].name)
		}
	}
	p.Detail = "limit exceeded: " + strings.Join(p.Violated, ", ")
	switch {
	case usedUp(limits):
		p.Title, p.Policy = "Plan Quota Used Up", d.Policy
		p.Detail = "the plan's quota is used up: " + strings.Join(p.Violated, ", ")
	case slices.ContainsFunc(limits, func(l limitFields) bool { return l.cooling && !l.allowed }):
		p.Type, p.Title = abnormalUsage, "Abnormal Usage Detected"
		p.Detail = "limit exceeded, and cooling down: " + strings.Join(p.Violated, ", ")
	}
	if d.Source >= limiter.SourceShare {
		p.Type, p.Title = reducedCapacity, "Temporary Reduced Capacity"
		p.Detail = "the capacity to count is reduced for now, so less is admitted: " + strings.Join(p.Violated, ", ")
	}
	if seconds := retryAfter(limits); seconds != never {
		p.Detail += "; try again in " + spoken(seconds)
	} else {
		p.Detail += "; waiting does not help: the request costs more than that limit can ever hold, or its key is blocked"
	}
	return p
}

// usedUp reports whether a quota is what stands longest in the way.
func usedUp(limits []limitFields) bool {
	longest := closest(limits)
	return longest != nil && !longest.allowed && longest.plan
}

// misuseOf says what to change after the node found a check to be wrong,
// which a request cannot mend. It does not repeat what the request held.
func misuseOf(err error) string {
	if input, ok := errors.AsType[*policy.InputError](err); ok {
		return input.Error()
	}
	return "the node refuses the checks of this middleware as invalid"
}

// misused answers for a middleware that cannot decide because of how the
// program uses it, and tells the log of the first time. To let requests pass
// instead would be to lose the limit without anybody noticing.
func (g *gate) misused(w http.ResponseWriter, r *http.Request, fault string) {
	g.logged.Do(func() {
		g.log.ErrorContext(r.Context(), "the rate limit middleware answers with 500 until its use is mended", "fault", fault)
	})
	refuse(w, r, newProblem(http.StatusInternalServerError, fault))
}

// refuse answers r with p, and HEAD without a body.
func refuse(w http.ResponseWriter, r *http.Request, p *problem) {
	body := writeProblemHead(w, p)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the client has gone: nobody to tell
	}
}
