package transport

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// laterFunc is a Handler whose answers to calls of cost 1 take their time.
type laterFunc func(within time.Duration) Code

func (f laterFunc) Handle(call *limiter.Call, results []limiter.Result) (Code, Later) {
	results[0] = limiter.Result{Allowed: true, Remaining: int64(call.Subject.Lo)}
	if call.Charges[0].Cost == 1 {
		return CodeOK, Later(f)
	}
	return CodeOK, nil
}

// What takes its time holds up nothing else, and each answer finds its call.
func TestLateRepliesHoldUpNoOthers(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		kept, waiting := make(chan struct{}), atomic.Int64{}
		m := newMemory()
		startServer(t, ServerOptions{Listener: m, Handler: laterFunc(func(within time.Duration) Code {
			if within <= 0 || within > time.Minute {
				t.Errorf("the call has %v left", within)
			}
			waiting.Add(1)
			<-kept
			return CodeOK
		})})
		c := startClient(t, ClientOptions{DialContext: m.dial})
		synctest.Wait()
		const late = 2000 // more than a frame holds
		answers := make(chan error, late)
		for n := range uint64(late) {
			go func() {
				r, err := ask(c, time.Minute, call(n, 1))
				if err == nil && r.Remaining != int64(n) {
					err = errors.New("the answer is another call's")
				}
				answers <- err
			}()
		}
		synctest.Wait()
		if waiting.Load() != late {
			t.Errorf("%d calls wait", waiting.Load())
		}
		if r, err := ask(c, time.Second, call(7, 2)); err != nil || r.Remaining != 7 {
			t.Errorf("a call that need not wait: %+v, %v", r, err)
		}
		if !c.Reachable() {
			t.Error("the session is down")
		}
		close(kept)
		for range late {
			if err := <-answers; err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestLateRefusal(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		m := newMemory()
		startServer(t, ServerOptions{Listener: m, Handler: laterFunc(func(within time.Duration) Code {
			time.Sleep(within / 2)
			return CodeNotKept
		})})
		c := startClient(t, ClientOptions{DialContext: m.dial})
		synctest.Wait()
		_, err := ask(c, time.Second, call(1, 1))
		if refused, ok := errors.AsType[*RefusedError](err); !ok || refused.Code != CodeNotKept {
			t.Errorf("got %v", err)
		}
	})
}

// A connection ends while somebody still waits for the disk: nothing is
// left behind, which the package's leak check sees.
func TestLateReplyToNobody(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		m := newMemory()
		s := startServer(t, ServerOptions{Listener: m, Handler: laterFunc(func(within time.Duration) Code {
			time.Sleep(within)
			return CodeOK
		})})
		c := startClient(t, ClientOptions{DialContext: m.dial})
		synctest.Wait()
		done := asking(c, 200*time.Millisecond)
		synctest.Wait()
		c.Close()
		if err := <-done; err == nil {
			t.Error("a closed client was answered")
		}
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
