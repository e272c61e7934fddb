package httpapi

import "net/http"

// answerFirst has next answer r, and takes in r's body only then: otherwise
// HTTP/1 keeps the answer back until the body is there. next must say how long
// its answer is, as it is sent before next's caller knows that it is whole.
//
// The body is read to its end here, and not left to the server. After a
// handler in full duplex that one begins, at the end of the body, to watch for
// the client to leave, and then trips over its own watching: it drops the
// connection that the gateway means to use again.
func answerFirst(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
	if r.ContentLength == 0 {
		next(w, r)
		return
	}
	control := http.NewResponseController(w)
	_ = control.EnableFullDuplex() // who cannot (HTTP/2) does not need to
	next(w, r)
	_ = control.Flush()
	if r.Body.Close() != nil {
		// Where the body ends is not known, and so not where a next request
		// would begin.
		panic(http.ErrAbortHandler)
	}
}
