package cluster

import "github.com/murmurate/murmurate/limiter"

// Owner decides the calls whose partition this node owns. It knows no
// router: a call that reaches an Owner is never forwarded.
type Owner struct {
	table *limiter.Table
	clock *Clock
	view  func() *View
}

// NewOwner decides from table by clock's time. view returns the current View.
func NewOwner(table *limiter.Table, clock *Clock, view func() *View) *Owner {
	return &Owner{table: table, clock: clock, view: view}
}

// Do decides a call that another node forwarded. It returns ErrNotOwner if
// this node's View gives the call's partition to somebody else, or the
// table's error; nothing is charged then.
func (o *Owner) Do(call *limiter.Call, results []limiter.Result) error {
	if !o.view().owns(call.Subject) {
		return ErrNotOwner
	}
	return o.decide(call, results)
}

func (o *Owner) decide(call *limiter.Call, results []limiter.Result) error {
	return o.table.Do(o.clock.Now(), call, results)
}
