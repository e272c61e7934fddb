package cluster

import "github.com/murmurate/murmurate/limiter"

// Owner decides the calls whose partition this node owns. It knows no
// router: a call that reaches an Owner is never forwarded.
type Owner struct {
	table   *limiter.Table
	clock   *Clock
	view    func() *View
	journal Journal // nil: there is no place for durable counters
}

// NewOwner decides from table by clock's time. view returns the current View.
// Without a journal, which may be nil, durable limits are not decided.
func NewOwner(table *limiter.Table, clock *Clock, view func() *View, journal Journal) *Owner {
	return &Owner{table: table, clock: clock, view: view, journal: journal}
}

// Do decides a call that another node forwarded. It returns ErrNotOwner if
// this node's View gives the call's partition to somebody else, or the
// table's error, or [ErrNotKept] for want of a journal; nothing is charged
// then.
//
// The answer may be given once kept, if it is not nil, has returned nil: the
// call charged a durable counter. Do itself does not wait.
func (o *Owner) Do(call *limiter.Call, results []limiter.Result) (kept Kept, err error) {
	if !o.view().owns(call.Subject) {
		return nil, ErrNotOwner
	}
	return o.do(call, results)
}

func (o *Owner) do(call *limiter.Call, results []limiter.Result) (kept Kept, err error) {
	keeps := durable(call)
	if keeps && o.journal == nil {
		return nil, errNoJournal
	}
	if err := o.table.Do(o.clock.Now(), call, results); err != nil || !keeps {
		return nil, err
	}
	return o.keep(call, results), nil
}
