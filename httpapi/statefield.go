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
		add(params, "r", clamp(l.remaining), "t", seconds, timed)
		if f.twice {
			add(params, "a", clamp(l.remaining), "w", seconds, timed)
		}
		list = append(list, httpsfv.Item{Value: l.name, Params: params})
	}
	return marshal(list)
}

// add adds what remains and, for a limit that is a matter of time, when there
// will be more.
func add(params *httpsfv.Params, remaining string, n int64, next string, seconds int64, timed bool) {
	params.Add(remaining, n)
	if timed {
		params.Add(next, seconds)
	}
}
