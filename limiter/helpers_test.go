package limiter_test

import (
	"slices"
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// epoch is where tests begin, unless the place in a window matters.
const epoch = int64(1_588_159_072_000_000_000)

var somebody = limiter.Subject{Hi: 1, Lo: 2}

// callOf is a call of one limit.
func callOf(op limiter.Op, subject limiter.Subject, l *limiter.Limit, cost int64) *limiter.Call {
	return &limiter.Call{Op: op, Subject: subject, Charges: []limiter.Charge{{Limit: l, Tag: l.Tag(), Cost: cost}}}
}

// do decides a call of one limit.
func do(t testing.TB, table *limiter.Table, at int64, call *limiter.Call) limiter.Result {
	t.Helper()
	results := make([]limiter.Result, len(call.Charges))
	if err := table.Do(limiter.At(at), call, results); err != nil {
		t.Fatal(err)
	}
	return results[0]
}

// take charges cost at epoch + after.
func take(t testing.TB, table *limiter.Table, l *limiter.Limit, after time.Duration, cost int64) limiter.Result {
	t.Helper()
	return do(t, table, epoch+int64(after), callOf(limiter.Take, somebody, l, cost))
}

func newTable() *limiter.Table { return limiter.NewTable(limiter.TableOptions{}) }

// spending are the algorithms whose units a take spends: all but Concurrency,
// whose slots only a lease occupies.
var spending = slices.DeleteFunc(limiter.Algorithms(), func(a limiter.Algorithm) bool { return a == limiter.Concurrency })
