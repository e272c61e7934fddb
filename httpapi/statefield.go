package httpapi

import (
	"sync"

	"github.com/dunglas/httpsfv"
)

// stateField makes RateLimit: every limit that was evaluated.
type stateField struct {
	twice bool // name the parameters as revision 12 of the draft does, too
	// The parameters of a member are used again and again: they are maps, and
	// making those for every answer costs more than all the rest of it. They
	// keep their order, so members with and without times do not share them.
	timed, timeless *sync.Pool
}

func newStateField(twice bool) stateField {
	pool := func() *sync.Pool { return &sync.Pool{New: func() any { return httpsfv.NewParams() }} }
	return stateField{twice, pool(), pool()}
}

func (f *stateField) of(limits []limitFields) string {
	list := make(httpsfv.List, 0, len(limits))
	for i := range limits {
		l := &limits[i]
		if l.uncounted {
			continue
		}
		seconds, timed := l.until()
		pool := f.timeless
		if timed {
			pool = f.timed
		}
		params := pool.Get().(*httpsfv.Params)
		defer pool.Put(params)
		params.Add("r", clamp(l.remaining))
		if timed {
			params.Add("t", seconds)
		}
		if f.twice {
			repeat(params, "r", "a")
			repeat(params, "t", "w")
		}
		list = append(list, httpsfv.Item{Value: l.name, Params: params})
	}
	return marshal(list)
}

// repeat adds the value of a parameter under another name too.
func repeat(params *httpsfv.Params, name, as string) {
	if value, ok := params.Get(name); ok {
		params.Add(as, value)
	}
}
