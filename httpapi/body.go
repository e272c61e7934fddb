package httpapi

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"sync"
)

const (
	// maxBody bounds the body of a request.
	maxBody = 1 << 20
	// maxPooled bounds the memory that a request leaves behind for the next.
	// A batch of 1,000 needs more, which is then garbage.
	maxPooled = 64 << 10
)

// exchange is the memory of one request and its answer.
type exchange struct {
	request bytes.Buffer
	answer  []byte
}

var exchanges = sync.Pool{New: func() any { return new(exchange) }}

func newExchange() *exchange { return exchanges.Get().(*exchange) }

// release gives x back. Nothing may point into its buffers any more.
func (x *exchange) release() {
	if x.request.Cap() > maxPooled || cap(x.answer) > maxPooled {
		return
	}
	x.request.Reset()
	x.answer = x.answer[:0]
	exchanges.Put(x)
}

// read reads the whole body. Its error is a *problem.
func (x *exchange) read(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.ContentLength > maxBody { // answered before a client that expects 100 (Continue) sends it
		return nil, errBodySize
	}
	_, err := x.request.ReadFrom(http.MaxBytesReader(w, r.Body, maxBody))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return nil, errBodySize
	}
	if err != nil {
		return nil, newProblem(http.StatusBadRequest, "the body ended early: "+err.Error())
	}
	return x.request.Bytes(), nil
}

// decodeBody reads the body of r by decode. If that fails it has answered, and
// ok is false.
func decodeBody[T any](x *exchange, w http.ResponseWriter, r *http.Request, decode func([]byte) (T, error)) (v T, ok bool) {
	body, err := x.read(w, r)
	if err == nil {
		v, err = decode(body)
	}
	if err != nil {
		writeProblem(w, problemOf(err))
	}
	return v, err == nil
}

var errBodySize = newProblem(http.StatusRequestEntityTooLarge,
	fmt.Sprintf("the body must be at most %d bytes; send fewer checks at once", maxBody))
