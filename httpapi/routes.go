package httpapi

import (
	"net/http"
	"slices"
	"strings"
)

// Paths that are named in more than one place.
const (
	checkPath   = "/v1/check"
	clusterPath = "/v1/cluster"
)

// anyMethod is the method of routes that answer every one.
const anyMethod = "ANY"

// route is one endpoint.
type route struct {
	method string
	path   string // a pattern of http.ServeMux
	about  string // one line for the index
	admin  bool   // changes what others rely on: needs the guard's consent
	serve  http.HandlerFunc
	// explained, if not nil, serves calls with ?explain=1, which tell of other
	// people's rules: they need the guard's consent.
	explained http.HandlerFunc
}

func (a *API) routes() []route {
	routes := []route{
		{anyMethod, gatewayPath, "decide for a gateway about a request of its client: 200, or the denial; ?deny_status=403 for nginx", false, a.gateway, nil},
		{anyMethod, gatewayPath + "/*", "as /gateway, with the path and query of the client's request in place of *", false, a.gateway, nil},
		{http.MethodPost, checkPath, `decide and charge, such as {"policy":"default","key":"user:42"}; ?explain=1 says which policies apply to attributes, and why (administration)`, false, a.check, a.explainedCheck},
		{http.MethodPost, "/v1/check/batch", `decide up to 1,000: {"checks":[...]}`, false, a.checkBatch, nil},
		{http.MethodPost, "/v1/acquire", `occupy a slot of a concurrency limit: {"policy":"uploads","key":"user:42"}, with "ttl_ms" if it shall lapse earlier`, false, a.acquire, nil},
		{http.MethodPost, "/v1/renew", `keep a slot for longer: {"lease":"..."}`, false, a.renew, nil},
		{http.MethodPost, "/v1/release", `free a slot: {"lease":"..."}`, false, a.release, nil},
		{http.MethodPost, "/v1/settle", `charge the real cost in place of the estimate: {"receipt":"...","cost":812}`, false, a.settle, nil},
		{http.MethodGet, keyPath, "the counters of a key, without charging; ?tier= for those of a tier", false, a.peekKey, nil},
		{http.MethodDelete, keyPath, "reset the counters of a key (administration)", true, a.resetKey, nil},
		{http.MethodGet, "/v1/policies", "the policies in force", false, a.policies, nil},
		{http.MethodGet, "/openapi.json", "this interface, as OpenAPI 3.1", false, openAPI, nil},
		{http.MethodGet, "/livez", "whether the process answers", false, livez, nil},
		{http.MethodGet, "/readyz", "whether the node is ready; ?verbose lists each condition", false, a.readyz, nil},
	}
	if a.cluster != nil {
		routes = append(routes, route{http.MethodGet, clusterPath, "the members; ?policy=&key= adds the owner of that key", false, a.clusterStatus, nil})
	}
	if a.evict != nil {
		routes = append(routes, route{http.MethodDelete, memberPath, "give the keys of a member that is gone for good to the others; ?force=1 (administration)", true, a.evictMember, nil})
	}
	if a.overrides != nil {
		routes = append(routes,
			route{http.MethodGet, overridesPath, "the overrides that were set at run time; ?policy= (administration)", true, a.listOverrides, nil},
			route{http.MethodGet, overridePath, "the one of a key (administration)", true, a.getOverride, nil},
			route{http.MethodPut, overridePath, `set it, such as {"limits":[{"name":"minute","rate":"600/min"}],"expires_in":"24h"}, {"unlimited":true} or {"blocked":true} (administration)`, true, a.setOverride, nil},
			route{http.MethodDelete, overridePath, "remove it (administration)", true, a.removeOverride, nil})
	}
	if a.metrics != nil {
		routes = append(routes, route{http.MethodGet, "/metrics", "metrics for Prometheus", false, a.metrics.ServeHTTP, nil})
	}
	return routes
}

// Handler serves everything, administration included.
func (a *API) Handler() http.Handler {
	return a.mux(func(r route) http.HandlerFunc {
		if r.admin {
			return a.guard.protect(r.serve)
		}
		return r.orExplained(a.guard.protect)
	})
}

// Public serves everything but administration, which it refuses. It is for
// the common listener when administration has one of its own.
func (a *API) Public() http.Handler {
	return a.mux(func(r route) http.HandlerFunc {
		if r.admin {
			return adminElsewhere
		}
		return r.orExplained(func(http.HandlerFunc) http.HandlerFunc { return adminElsewhere })
	})
}

// orExplained serves r, and what it explains as protected.
func (r *route) orExplained(protect func(http.HandlerFunc) http.HandlerFunc) http.HandlerFunc {
	if r.explained == nil {
		return r.serve
	}
	explained := protect(r.explained)
	return func(w http.ResponseWriter, q *http.Request) {
		switch explain, err := wantsExplanation(q); {
		case err != nil:
			writeProblem(w, problemOf(err))
		case explain:
			explained(w, q)
		default:
			r.serve(w, q)
		}
	}
}

// mux answers what no route answers with a problem too.
func (a *API) mux(serve func(route) http.HandlerFunc) http.Handler {
	mux, routes := http.NewServeMux(), a.routes()
	routes = append(routes, route{http.MethodGet, "/{$}", "", false, index(routes), nil})
	methods := make(map[string][]string)
	for _, r := range routes {
		if r.method == anyMethod {
			continue // is served before the mux
		}
		mux.HandleFunc(r.method+" "+r.path, strictQuery(r.path, serve(r)))
		methods[r.path] = append(methods[r.path], r.method)
		if r.method == http.MethodGet { // the mux answers HEAD with it
			methods[r.path] = append(methods[r.path], http.MethodHead)
		}
	}
	for path, allowed := range methods {
		mux.HandleFunc(path, wrongMethod(allowed))
	}
	mux.HandleFunc("/v1/keys/{policy}", noSuchPath) // and no redirect to the empty key
	mux.HandleFunc("/v1/overrides/{policy}", noSuchPath)
	mux.HandleFunc("/", noSuchPath)
	return a.gatewayFirst(cleanPathsOnly(mux))
}

func noSuchPath(w http.ResponseWriter, _ *http.Request) {
	writeProblem(w, newProblem(http.StatusNotFound, "there is no such path; GET / lists the endpoints"))
}

func wrongMethod(allowed []string) http.HandlerFunc {
	slices.Sort(allowed)
	allow := strings.Join(allowed, ", ")
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Allow", allow)
		writeProblem(w, newProblem(http.StatusMethodNotAllowed, "this path answers "+allow))
	}
}

// index says what this is, for whoever opens the port with a browser.
func index(routes []route) http.HandlerFunc {
	type endpoint struct {
		Endpoint string `json:"endpoint"`
		About    string `json:"about"`
	}
	answer := struct {
		Name      string     `json:"name"`
		About     string     `json:"about"`
		Endpoints []endpoint `json:"endpoints"`
	}{Name: "murmurate", About: "a distributed rate limiter"}
	for _, r := range routes {
		answer.Endpoints = append(answer.Endpoints, endpoint{r.method + " " + r.path, r.about})
	}
	return func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, answer) }
}
