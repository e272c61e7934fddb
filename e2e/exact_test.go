package e2e

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// roomy keeps a busy machine from turning slowness into shares.
const roomy = "MURMURATE_CLUSTER_DEADLINE=1s"

// addresses returns the client address of every request of the access log.
func addresses(t *testing.T) []string {
	t.Helper()
	file, err := os.Open("testdata/access.log.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	log, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		address, _, _ := strings.Cut(lines.Text(), " ")
		found = append(found, address)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return found
}

// inParallel calls do(0..n-1) with at most width under way.
func inParallel(n, width int, do func(i int)) {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range width {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	workers.Wait()
}

// TestReplayedTrafficIsExact replays a real access log, spread over three
// nodes: each address is admitted as often as it asked, up to its limit, and
// not once more.
func TestReplayedTrafficIsExact(t *testing.T) {
	t.Parallel()
	nodes := cluster(t, 3, setup{env: []string{roomy}})
	log := addresses(t)
	if len(log) != 10_000 {
		t.Fatalf("the access log has %d requests, not 10,000", len(log))
	}
	requests := make(map[string]int)
	for _, address := range log {
		requests[address]++
	}
	for _, limit := range []struct {
		spec  string
		count int
	}{
		{`{"name":"log-fixed","algorithm":"fixed_window","rate":"20/24h","align":"first"}`, 20},
		{`{"name":"log-log","algorithm":"sliding_log","rate":"7/24h"}`, 7},
		{`{"name":"log-bucket","algorithm":"token_bucket","rate":"20/24h"}`, 20},
	} {
		want := 0
		for _, n := range requests {
			want += min(n, limit.count)
		}
		var admitted, elsewhere atomic.Int64
		inParallel(len(log), 32, func(i int) {
			body := fmt.Sprintf(`{"key":%q,"limit":%s}`, log[i], limit.spec)
			a, err := check(nodes[i%len(nodes)].http, body)
			switch {
			case err != nil:
				t.Error(err)
			case a.Source != "owner":
				elsewhere.Add(1)
			case a.Allowed:
				admitted.Add(1)
			}
		})
		if got := admitted.Load(); got != int64(want) || elsewhere.Load() != 0 {
			t.Errorf("%s: admitted %d of %d, want %d; %d decisions were not the owner's", limit.spec, got, len(log), want, elsewhere.Load())
		}
	}
}

// TestBuiltInPolicy is a newcomer's first minute: a lone node without any
// configuration grants 100 a minute, then says when to come back.
func TestBuiltInPolicy(t *testing.T) {
	t.Parallel()
	lone := start(t, setup{name: "lone"})
	began := time.Now().Truncate(time.Minute)
	const body = `{"policy":"default","key":"me"}`
	admitted := 0
	a := lone.check(body)
	for ; a.Allowed; a = lone.check(body) {
		if admitted++; a.Header.Get("RateLimit") == "" || a.Header.Get("RateLimit-Policy") != `"default";q=100;w=60` {
			t.Fatalf("call %d: headers %v", admitted, a.Header)
		}
	}
	if sameMinute := time.Now().Truncate(time.Minute).Equal(began); sameMinute && admitted != 100 {
		t.Errorf("admitted %d within a minute", admitted)
	}
	retry, err := strconv.Atoi(a.Header.Get("Retry-After"))
	if a.Status != http.StatusTooManyRequests || err != nil || retry < 1 || !strings.HasPrefix(a.Header.Get("RateLimit"), `"default";r=0;t=`) {
		t.Errorf("denied with %d, headers %v", a.Status, a.Header)
	}
}

func TestParallelChecksOverThreeNodes(t *testing.T) {
	t.Parallel()
	nodes := cluster(t, 3, setup{env: []string{roomy}})
	for round := range 5 {
		body := fmt.Sprintf(`{"key":"crowd-%d","limit":{"algorithm":"fixed_window","rate":"40/1h","align":"first"}}`, round)
		var admitted atomic.Int64
		inParallel(500, 64, func(i int) {
			a, err := check(nodes[i%3].http, body)
			if err != nil {
				t.Error(err)
			} else if a.Allowed {
				admitted.Add(1)
			}
		})
		if admitted.Load() != 40 {
			t.Errorf("round %d: admitted %d of 500 at a limit of 40", round, admitted.Load())
		}
	}
}

func TestRemainingFallsByOneWhicheverNodeIsAsked(t *testing.T) {
	t.Parallel()
	nodes := cluster(t, 3, setup{env: []string{roomy}})
	for i := range 30 {
		a := nodes[i%3].check(`{"key":"one-by-one","limit":{"algorithm":"token_bucket","rate":"30/24h"}}`)
		if !a.Allowed || a.Remaining != int64(29-i) {
			t.Fatalf("call %d: allowed %v with %d remaining, want %d", i+1, a.Allowed, a.Remaining, 29-i)
		}
	}
}

// TestSmallLimitsOverManyNodes: a limit smaller than the number of nodes
// still admits what it says.
func TestSmallLimitsOverManyNodes(t *testing.T) {
	t.Parallel()
	nodes := cluster(t, 7, setup{env: []string{roomy}})
	t.Run("1 per minute over 7", func(t *testing.T) {
		admitted := 0
		for i := range 21 {
			if nodes[i%7].check(`{"key":"rare","limit":{"algorithm":"token_bucket","rate":"1/min"}}`).Allowed {
				admitted++
			}
		}
		if admitted != 1 {
			t.Errorf("admitted %d of 21 at once, want 1", admitted)
		}
	})
	t.Run("3 per second over 5", func(t *testing.T) {
		threePerSecond(t, nodes[:5])
	})
}

// threePerSecond asks for four seconds and counts by the second. A call that
// was under way when a second ended may belong to either.
func threePerSecond(t *testing.T, nodes []*node) {
	t.Helper()
	const body = `{"key":"few","limit":{"algorithm":"fixed_window","rate":"3/1s"}}`
	type second struct{ asked, admitted, unsure int }
	seconds := make(map[int64]*second)
	at := func(s int64) *second {
		if seconds[s] == nil {
			seconds[s] = &second{}
		}
		return seconds[s]
	}
	until := time.Now().Add(4 * time.Second)
	for i := 0; time.Now().Before(until); i++ {
		before := time.Now().Unix()
		a := nodes[i%len(nodes)].check(body)
		after := time.Now().Unix()
		at(before).asked++
		switch {
		case a.Allowed && before == after:
			at(before).admitted++
		case a.Allowed:
			at(before).unsure++
			at(after).unsure++
		}
	}
	for s, count := range seconds {
		if count.admitted > 3 {
			t.Errorf("second %d: admitted %d, want at most 3", s, count.admitted)
		}
		if count.asked > 20 && count.admitted+count.unsure < 3 {
			t.Errorf("second %d: admitted %d (%d unsure) of %d, want 3", s, count.admitted, count.unsure, count.asked)
		}
	}
	if len(seconds) < 4 {
		t.Errorf("asked in %d seconds only", len(seconds))
	}
}
