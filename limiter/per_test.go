package limiter

import (
	"testing"
	"time"
)

func TestLimitsMadeInCode(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ got, want Limit }{
		"second": {PerSecond(3), Limit{Algorithm: TokenBucket, Count: 3, Period: time.Second}},
		"minute": {PerMinute(3), Limit{Algorithm: TokenBucket, Count: 3, Period: time.Minute}},
		"hour":   {PerHour(3), Limit{Algorithm: TokenBucket, Count: 3, Period: time.Hour}},
		"day":    {PerDay(3), Limit{Algorithm: TokenBucket, Count: 3, Period: 24 * time.Hour}},
		"with all": {
			Per(3, 250*time.Millisecond).WithBurst(7).WithAlgorithm(LeakyBucket).WithName("slow"),
			Limit{Name: "slow", Algorithm: LeakyBucket, Count: 3, Period: 250 * time.Millisecond, Burst: 7},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if row.got != row.want {
				t.Errorf("got %+v, want %+v", row.got, row.want)
			}
			if err := row.got.Validate(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A limit is a value: deriving one from it leaves it as it was.
func TestDerivingChangesNothing(t *testing.T) {
	t.Parallel()
	base := PerMinute(100)
	_ = base.WithBurst(20).WithName("other").WithAlgorithm(SlidingLog)
	if base != PerMinute(100) {
		t.Errorf("the base became %+v", base)
	}
}
