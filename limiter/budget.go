package limiter

import "sync/atomic"

// budget is the hard bound on a table's live counters and log blocks.
type budget struct {
	used atomic.Int64
	most int64
	_    [112]byte // written at each insertion: keep the readers of others off its cache lines
}

// budgets are those of one table: of its keys, and of its open holds.
type budgets struct {
	budget
	holds budget
}

// take reserves n, or nothing. A negative n is given back.
func (b *budget) take(n int) bool {
	for {
		used := b.used.Load()
		if n > 0 && used+int64(n) > b.most {
			return false
		}
		if b.used.CompareAndSwap(used, used+int64(n)) {
			return true
		}
	}
}

// give returns n.
func (b *budget) give(n int) {
	if n > 0 {
		b.used.Add(-int64(n))
	}
}
