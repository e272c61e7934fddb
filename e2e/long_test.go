package e2e

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"
)

// long skips a test that takes minutes or prints figures of this machine.
// The scripts in the folder long run these.
func long(t *testing.T) {
	t.Helper()
	if os.Getenv("E2E_LONG") == "" {
		t.Skip("set E2E_LONG to run")
	}
}

// TestLongKill asks two nodes 200 times a second in all, kills the third
// without warning, and prints how long the answers took and where they came
// from, by the second. It fails on a check without a decision; the times are
// figures, not a test.
func TestLongKill(t *testing.T) {
	long(t)
	const (
		interval = time.Second / 200
		seconds  = 30
		killAt   = 10
	)
	nodes := cluster(t, 3, setup{})
	type second struct {
		owner, share, other int
		times               []time.Duration
	}
	var mu sync.Mutex
	stats := make([]second, seconds)
	var calls sync.WaitGroup
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	began := time.Now()
	for i := range seconds * 200 {
		<-ticker.C
		if i == killAt*200 {
			nodes[2].signal(syscall.SIGKILL)
		}
		at := min(int(time.Since(began).Seconds()), seconds-1)
		calls.Go(func() {
			a, err := check(nodes[i%2].http, fmt.Sprintf(`{"policy":"default","key":"k-%d"}`, i%500))
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			s := &stats[at]
			s.times = append(s.times, a.Elapsed)
			switch a.Source {
			case "owner":
				s.owner++
			case "share":
				s.share++
			default:
				s.other++
			}
		})
	}
	calls.Wait()
	fmt.Printf("n3 was killed after %d s\nsecond  owner  share  other       p50       max\n", killAt)
	for i, s := range stats {
		slices.Sort(s.times)
		if len(s.times) > 0 {
			fmt.Printf("%6d %6d %6d %6d %9v %9v\n", i, s.owner, s.share, s.other,
				s.times[len(s.times)/2].Round(time.Microsecond), s.times[len(s.times)-1].Round(time.Microsecond))
		}
	}
}
