package limiter

import "time"

// Per is a token bucket that refills count units evenly over each period and
// holds as many. A limit out of range is refused where it is used.
func Per(count int64, period time.Duration) Limit {
	return Limit{Algorithm: TokenBucket, Count: count, Period: period}
}

// PerSecond is Per(count, time.Second).
func PerSecond(count int64) Limit { return Per(count, time.Second) }

// PerMinute is Per(count, time.Minute).
func PerMinute(count int64) Limit { return Per(count, time.Minute) }

// PerHour is Per(count, time.Hour).
func PerHour(count int64) Limit { return Per(count, time.Hour) }

// PerDay is Per(count, 24*time.Hour).
func PerDay(count int64) Limit { return Per(count, 24*time.Hour) }

// WithBurst returns l with another Burst.
func (l Limit) WithBurst(units int64) Limit {
	l.Burst = units
	return l
}

// WithAlgorithm returns l counted by a. A Burst that a does not have is
// refused where the limit is used.
func (l Limit) WithAlgorithm(a Algorithm) Limit {
	l.Algorithm = a
	return l
}

// WithName returns l with another Name. Limits made in code that should not
// share a counter for the same key need names of their own, unless their
// algorithms or periods differ.
func (l Limit) WithName(name string) Limit {
	l.Name = name
	return l
}
