package murmurate

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/murmurate/murmurate/policy"
)

// batchWorkers bounds the checks of one batch, and the renewals of leases,
// that wait for other nodes at the same time.
const batchWorkers = 64

// CheckAll decides rs and answers in their order. One bad request does not
// spoil the others. The checks of one batch are decided in no particular
// order among themselves.
func (n *Node) CheckAll(ctx context.Context, rs []policy.Request) []policy.Outcome {
	outcomes := make([]policy.Outcome, len(rs))
	inParallel(len(rs), func(i int) {
		outcomes[i].Decision, outcomes[i].Err = n.Check(ctx, rs[i])
	})
	return outcomes
}

// inParallel does what is to be done for 0 to n-1, and returns when all is done.
func inParallel(n int, do func(i int)) {
	var next atomic.Int64
	work := func() {
		for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
			do(int(i))
		}
	}
	var workers sync.WaitGroup
	for range min(batchWorkers, n) - 1 {
		workers.Go(work)
	}
	work()
	workers.Wait()
}
