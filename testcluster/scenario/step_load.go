package scenario

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// load makes checks at a steady rate beside the steps that follow. A check
// does not wait for the one before.
type load struct {
	target
	every time.Duration
	time  time.Duration
	keys  int
}

func parseLoad(w *words) step {
	l := &load{target: parseTarget(w, true), keys: w.number("keys", 0, 0)}
	rate := w.option("rate", "")
	perSecond, ok := strings.CutSuffix(rate, "/s")
	n, err := strconv.Atoi(perSecond)
	if !ok || err != nil || n < 1 || n > 1_000_000 {
		w.refuse("rate must be checks per second such as 100/s, got %q", rate)
		n = 1
	}
	l.every = time.Second / time.Duration(n)
	l.time = w.duration("for", w.option("for", ""))
	return l
}

func (l *load) run(r *run) (answer, error) {
	p, err := r.policy(l.policy)
	if err != nil {
		return nil, err
	}
	if _, err := r.candidates(l.via); err != nil {
		return nil, err
	}
	request := l.request(r)
	tally := r.tally // later loads have another
	r.loads.Go(func() {
		begun := time.Now()
		for i := 0; time.Duration(i)*l.every < l.time && !r.over(); i++ {
			time.Sleep(time.Until(begun.Add(time.Duration(i) * l.every)))
			nodes, err := r.candidates(l.via)
			if err != nil { // nobody is there to be asked
				continue
			}
			one := request
			if l.keys > 0 {
				one.Key = fmt.Sprint(request.Key, i%l.keys)
			}
			m := nodes[i%len(nodes)]
			r.loads.Go(func() { tally.add(r.ask(m, limiter.Take, p, one)) })
		}
	})
	return nil, nil
}

// over reports whether the run has ended.
func (r *run) over() bool {
	select {
	case <-r.ending:
		return true
	default:
		return false
	}
}

// awaitLoads waits for the loads to end and says what became of their checks.
type awaitLoads struct{}

func (awaitLoads) run(r *run) (answer, error) {
	r.loads.Wait()
	a := r.tally.answer()
	r.tally = newTally()
	return a, nil
}
