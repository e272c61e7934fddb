package transport

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

func TestCallsAreAnswered(t *testing.T) {
	t.Parallel()
	h := handlerFunc(func(call *limiter.Call, results []limiter.Result) Code {
		for i := range results {
			if results[i] != (limiter.Result{}) {
				return CodeInvalid
			}
			results[i] = limiter.Result{Allowed: true, Limit: call.Charges[i].Limit.Count, Remaining: call.Charges[i].Cost}
		}
		return Code(call.Subject.Lo)
	})
	_, c := pair(t, ServerOptions{Handler: h}, ClientOptions{})
	for _, code := range Codes() {
		for range 2 {
			ca := call(uint64(code), 9)
			ca.Charges = append(ca.Charges, ca.Charges[0])
			before := limiter.Result{Limit: 77}
			results := []limiter.Result{before, before}
			err := c.Do(t.Context(), time.Now().Add(time.Minute), ca, results)
			if code == CodeOK {
				want := limiter.Result{Allowed: true, Limit: 100, Remaining: 9}
				if err != nil || results[0] != want || results[1] != want {
					t.Errorf("%v, %+v", err, results)
				}
				continue
			}
			var refused *RefusedError
			if !errors.As(err, &refused) || refused.Code != code {
				t.Errorf("%v: got %v", code, err)
			}
			if results[0] != before {
				t.Errorf("%v: results were touched", code)
			}
		}
	}
}

func TestCallsThatAreNeverSent(t *testing.T) {
	t.Parallel()
	count := &counter{}
	_, c := pair(t, ServerOptions{Handler: count}, ClientOptions{})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	one := make([]limiter.Result, 1)
	later := time.Now().Add(time.Minute)
	if err := c.Do(ended, later, call(1, 1), one); !errors.Is(err, context.Canceled) {
		t.Errorf("context ended: %v", err)
	}
	if err := c.Do(t.Context(), time.Now(), call(1, 1), one); !errors.Is(err, ErrDeadline) {
		t.Errorf("deadline passed: %v", err)
	}
	if err := c.Do(t.Context(), later, call(1, 1), nil); err == nil {
		t.Error("no room for the result: accepted")
	}
	local := call(1, 1)
	local.Charges[0].Limit.Zone = time.Local
	if err := c.Do(t.Context(), later, local, one); err == nil {
		t.Error("local zone: accepted")
	}
	if count.total() != 0 {
		t.Errorf("%d charged", count.total())
	}
}

func TestManyCallersAtOnce(t *testing.T) {
	t.Parallel()
	count := &counter{}
	_, c := pair(t, ServerOptions{Handler: count}, ClientOptions{})
	const callers, each = 32, 100
	var wg sync.WaitGroup
	for caller := range callers {
		wg.Go(func() {
			for i := range each {
				r, err := ask(c, time.Minute, call(uint64(caller), 1))
				if err != nil || r.Remaining != int64(i)+1 {
					t.Errorf("caller %d got %d, %v, want %d", caller, r.Remaining, err, i+1)
				}
			}
		})
	}
	wg.Wait()
	if s := c.Stats(); s.Calls != callers*each || s.Frames > s.Calls || s.Frames == 0 || s.Sessions != 1 || s.Late != 0 {
		t.Errorf("stats: %+v", s)
	}
}

// TestFiveThousandAtOnce: more calls than one frame holds are split, and all
// are answered.
func TestFiveThousandAtOnce(t *testing.T) {
	t.Parallel()
	count := &counter{}
	_, c := pair(t, ServerOptions{Handler: count}, ClientOptions{})
	var wg sync.WaitGroup
	for i := range 5000 {
		wg.Go(func() {
			if _, err := ask(c, time.Minute, call(uint64(i), 1)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if count.total() != 5000 {
		t.Errorf("%d charged", count.total())
	}
}

// TestTimedOutCallsAreNotSentAgain: 100 calls of cost 1 that all time out
// are charged at most 100 together, and none of them later.
func TestTimedOutCallsAreNotSentAgain(t *testing.T) {
	t.Parallel()
	count := &counter{}
	release := make(chan struct{})
	slow := handlerFunc(func(call *limiter.Call, results []limiter.Result) Code {
		<-release
		return count.count(call, results)
	})
	_, c := pair(t, ServerOptions{Handler: slow}, ClientOptions{})
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			_, err := ask(c, 20*time.Millisecond, call(1, 1))
			if !errors.Is(err, ErrDeadline) && !errors.Is(err, ErrDown) {
				t.Errorf("got %v", err)
			}
		})
	}
	wg.Wait()
	close(release)
	eventually(t, "recovery", func() bool {
		_, err := ask(c, time.Minute, call(2, 1))
		return err == nil
	})
	if n := count.of(limiter.Subject{Lo: 1}); n > 100 {
		t.Errorf("100 calls raised the counter by %d", n)
	}
}

// TestCallersLeaveWhileAnswersArrive is for the race detector.
func TestCallersLeaveWhileAnswersArrive(t *testing.T) {
	t.Parallel()
	_, c := pair(t, ServerOptions{}, ClientOptions{})
	var wg sync.WaitGroup
	for caller := range 16 {
		wg.Go(func() {
			for i := range 200 {
				ctx, cancel := context.WithCancel(t.Context())
				if i%3 == 0 {
					go cancel()
				}
				ca := call(uint64(caller), 1)
				results := make([]limiter.Result, 1)
				_ = c.Do(ctx, time.Now().Add(time.Duration(i)*5*time.Microsecond), ca, results)
				ca.Charges[0].Limit.Count, results[0].Limit = -1, -1 // both are the caller's again
				cancel()
			}
		})
	}
	wg.Wait()
}

// TestBrokenMidBatch: whatever was on the way fails at once with an error
// that says whether it may have been charged, and nothing is sent again.
func TestBrokenMidBatch(t *testing.T) {
	t.Parallel()
	count := &counter{}
	var calls atomic.Int64
	release := make(chan struct{})
	h := handlerFunc(func(call *limiter.Call, results []limiter.Result) Code {
		code := count.count(call, results)
		if calls.Add(1) == 10 {
			<-release
		}
		return code
	})
	m := newMemory()
	startServer(t, ServerOptions{Listener: m, Handler: h})
	c := startClient(t, ClientOptions{DialContext: m.dial})
	eventually(t, "a session", c.Reachable)
	var wg sync.WaitGroup
	var broken atomic.Int64
	for i := range 50 {
		wg.Go(func() {
			_, err := ask(c, time.Minute, call(uint64(i), 1))
			switch {
			case errors.Is(err, ErrBroken):
				broken.Add(1)
			case err != nil && !errors.Is(err, ErrDown):
				t.Errorf("got %v", err)
			}
		})
	}
	eventually(t, "the tenth call", func() bool { return calls.Load() == 10 })
	m.cut()
	wg.Wait()
	close(release)
	if broken.Load() == 0 {
		t.Error("no call was told that it may have been charged")
	}
	eventually(t, "a second session", func() bool { return c.Stats().Sessions == 2 })
	for i := range 50 {
		if n := count.of(limiter.Subject{Lo: uint64(i)}); n > 1 {
			t.Errorf("call %d was charged %d times", i, n)
		}
	}
}

// TestSlowPeerHasBoundedMemory: a peer that stops reading holds no more than
// the queue and the window; the rest is refused at once.
func TestSlowPeerHasBoundedMemory(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	h := handlerFunc(func(*limiter.Call, []limiter.Result) Code { <-release; return CodeOK })
	_, c := pair(t, ServerOptions{Handler: h}, ClientOptions{Queue: 5, Window: 3})
	defer close(release)
	session := c.session.Load()
	var full, other atomic.Int64
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			_, err := ask(c, 100*time.Millisecond, call(1, 1))
			if errors.Is(err, ErrQueueFull) {
				full.Add(1)
			} else {
				other.Add(1)
			}
		})
	}
	wg.Wait()
	session.mu.Lock()
	defer session.mu.Unlock()
	if session.slots.used > 3 || session.queue.n != 0 {
		t.Errorf("%d sent, %d queued", session.slots.used, session.queue.n)
	}
	if full.Load() == 0 {
		t.Errorf("none of 50 calls was refused, %d others", other.Load())
	}
}

func TestClose(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	entered := make(chan struct{}, 1)
	h := handlerFunc(func(*limiter.Call, []limiter.Result) Code {
		entered <- struct{}{}
		<-release
		return CodeOK
	})
	_, c := pair(t, ServerOptions{Handler: h}, ClientOptions{})
	defer close(release)
	failed := make(chan error)
	go func() {
		_, err := ask(c, time.Hour, call(1, 1))
		failed <- err
	}()
	<-entered
	c.Close()
	c.Close()
	if err := <-failed; !errors.Is(err, ErrBroken) {
		t.Errorf("a call in flight: %v", err)
	}
	<-c.Done()
	if _, err := ask(c, time.Hour, call(1, 1)); !errors.Is(err, ErrDown) || c.Reachable() {
		t.Errorf("after Close: %v, reachable %v", err, c.Reachable())
	}
	if !errors.Is(c.LastError(), errClosed) {
		t.Errorf("last error: %v", c.LastError())
	}
}

// TestCloseFromMerge: a placement that closes the session it arrived on does
// not wait for itself.
func TestCloseFromMerge(t *testing.T) {
	t.Parallel()
	s := startServer(t, ServerOptions{Placement: placed(1)})
	closing := &closesOnMerge{numbers: placed(), client: make(chan *Client, 1)}
	c := startClient(t, ClientOptions{Address: s.Addr().String(), Placement: closing})
	closing.client <- c
	<-c.Done()
}

type closesOnMerge struct {
	*numbers
	client chan *Client
}

func (p *closesOnMerge) Merge([]byte) error {
	c := <-p.client
	c.Close()
	p.client <- c
	return nil
}
