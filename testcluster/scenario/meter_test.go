package scenario

import (
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// TestMeter admits calls one after the other, the last of which may be one
// too many.
func TestMeter(t *testing.T) {
	t.Parallel()
	type call struct {
		from, to time.Duration // since the epoch
		cost     int64
	}
	at := func(d time.Duration, cost int64) call { return call{d, d, cost} }
	s := time.Second
	for name, c := range map[string]struct {
		meter meter
		calls []call
		ok    bool
	}{
		"a bucket's burst":                 {meter{limit: &limiter.Limit{Algorithm: limiter.TokenBucket, Count: 10, Period: s, Burst: 5}, times: 1}, []call{at(0, 5), at(s/2, 5)}, true},
		"one too many":                     {meter{limit: &limiter.Limit{Algorithm: limiter.TokenBucket, Count: 10, Period: s, Burst: 5}, times: 1}, []call{at(0, 5), at(s/2, 6)}, false},
		"after a rest":                     {meter{limit: &limiter.Limit{Algorithm: limiter.TokenBucket, Count: 10, Period: s, Burst: 5}, times: 1}, []call{at(0, 5), at(10*s, 5), at(10*s, 1)}, false},
		"too many in a middle":             {meter{limit: &limiter.Limit{Algorithm: limiter.TokenBucket, Count: 1, Period: s, Burst: 2}, times: 1}, []call{at(0, 1), at(60*s, 2), at(60*s+s/2, 1)}, false},
		"twice":                            {meter{limit: &limiter.Limit{Algorithm: limiter.TokenBucket, Count: 1, Period: s, Burst: 2}, times: 2}, []call{at(0, 4)}, true},
		"a queue serves one":               {meter{limit: &limiter.Limit{Algorithm: limiter.LeakyBucket, Count: 1, Period: s, Burst: 2}, times: 1}, []call{at(0, 3)}, true},
		"and no more":                      {meter{limit: &limiter.Limit{Algorithm: limiter.LeakyBucket, Count: 1, Period: s, Burst: 2}, times: 1}, []call{at(0, 3), at(s/2, 1)}, false},
		"extra":                            {meter{limit: &limiter.Limit{Algorithm: limiter.LeakyBucket, Count: 1, Period: s, Burst: 2}, times: 1, extra: 1}, []call{at(0, 3), at(s/2, 1)}, true},
		"two windows meet":                 {meter{limit: &limiter.Limit{Algorithm: limiter.FixedWindow, Count: 3, Period: s}, times: 1}, []call{at(s-1, 3), at(s, 3)}, true},
		"one window":                       {meter{limit: &limiter.Limit{Algorithm: limiter.FixedWindow, Count: 3, Period: s}, times: 1}, []call{at(0, 3), at(s-1, 1)}, false},
		"over an edge, it could be either": {meter{limit: &limiter.Limit{Algorithm: limiter.FixedWindow, Count: 3, Period: s}, times: 1}, []call{at(s, 3), {s - 1, s, 3}}, true},
		"opened windows":                   {meter{limit: &limiter.Limit{Algorithm: limiter.FixedWindow, Count: 3, Period: s, Align: limiter.AlignFirst}, times: 1}, []call{at(0, 6), at(s-1, 1)}, false},
		"a log":                            {meter{limit: &limiter.Limit{Algorithm: limiter.SlidingLog, Count: 3, Period: s}, times: 1}, []call{at(s/2, 3), at(s+s/2, 3)}, true},
		"a log too early":                  {meter{limit: &limiter.Limit{Algorithm: limiter.SlidingLog, Count: 3, Period: s}, times: 1}, []call{at(s/2, 3), at(s+s/2-1, 1)}, false},
		"a sliding window":                 {meter{limit: &limiter.Limit{Algorithm: limiter.SlidingWindow, Count: 4, Period: s}, times: 1}, []call{at(0, 4), at(s+s/2, 2)}, true},
		"a sliding window, one too many":   {meter{limit: &limiter.Limit{Algorithm: limiter.SlidingWindow, Count: 4, Period: s}, times: 1}, []call{at(0, 4), at(s+s/2, 3)}, false},
		"calls that took time":             {meter{limit: &limiter.Limit{Algorithm: limiter.TokenBucket, Count: 1, Period: s}, times: 1}, []call{at(0, 1), {0, s, 1}}, true},
		"calls that took less time":        {meter{limit: &limiter.Limit{Algorithm: limiter.TokenBucket, Count: 1, Period: s}, times: 1}, []call{at(0, 1), {0, s - time.Millisecond, 1}}, false},
	} {
		var err error
		for i, call := range c.calls {
			if err = c.meter.add(time.Unix(0, int64(call.from)), time.Unix(0, int64(call.to)), call.cost); err != nil && i < len(c.calls)-1 {
				t.Errorf("%s: call %d: %v", name, i+1, err)
			}
		}
		if (err == nil) != c.ok {
			t.Errorf("%s: the last call gives %v", name, err)
		}
	}
}
