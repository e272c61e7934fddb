package httpapi_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/murmurate/murmurate/httpapi"
	"github.com/murmurate/murmurate/policy"
)

// body is one that tells whether it was closed.
type body struct {
	io.Reader
	closed bool
}

func (b *body) Close() error {
	b.closed = true
	return nil
}

func newBody(text string) *body { return &body{Reader: strings.NewReader(text)} }

// otherSide answers as a script says, the last line again and again. It
// records what reached it and when.
type otherSide struct {
	t      *testing.T
	begin  time.Time
	script []string // status and Retry-After
	takes  time.Duration

	mu      sync.Mutex
	at      []time.Duration
	bodies  []string
	answers []*body
}

func newOtherSide(t *testing.T, script ...string) *otherSide {
	return &otherSide{t: t, begin: time.Now(), script: script}
}

func (o *otherSide) RoundTrip(r *http.Request) (*http.Response, error) {
	time.Sleep(o.takes)
	o.mu.Lock()
	defer o.mu.Unlock()
	sent := ""
	if r.Body != nil {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			o.t.Error(err)
		}
		sent = string(text)
		_ = r.Body.Close()
	}
	status, retryAfter, _ := strings.Cut(o.script[min(len(o.at), len(o.script)-1)], " ")
	o.at, o.bodies = append(o.at, time.Since(o.begin)), append(o.bodies, sent)
	if status == "error" {
		return nil, errors.New("connection reset")
	}
	code, err := strconv.Atoi(status)
	if err != nil {
		o.t.Error(err)
	}
	answer := &http.Response{StatusCode: code, Header: make(http.Header), Request: r}
	if retryAfter != "" {
		answer.Header.Set("Retry-After", retryAfter)
	}
	content := newBody("answer")
	o.answers = append(o.answers, content)
	answer.Body = content
	return answer, nil
}

// request is one to the other side, with a body if there is a text.
func request(t *testing.T, text string) *http.Request {
	t.Helper()
	var content io.Reader
	if text != "" {
		content = strings.NewReader(text)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://other.example/", content)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestTransportHonoursRetryAfter(t *testing.T) {
	t.Parallel()
	date := time.Date(2000, 1, 1, 0, 0, 7, 0, time.UTC).Format(http.TimeFormat) // a bubble begins at that midnight
	second := time.Second
	tests := []struct {
		why       string
		transport httpapi.Transport
		script    []string
		status    int
		sent      []time.Duration // when
	}{
		{"nothing to wait for", httpapi.Transport{}, []string{"200"}, 200, []time.Duration{0}},
		{"seconds", httpapi.Transport{}, []string{"429 5", "200"}, 200, []time.Duration{0, 5 * second}},
		{"of a 503", httpapi.Transport{}, []string{"503 5", "200"}, 200, []time.Duration{0, 5 * second}},
		{"twice", httpapi.Transport{}, []string{"429 5", "503 1", "200"}, 200, []time.Duration{0, 5 * second, 6 * second}},
		{"a date", httpapi.Transport{}, []string{"429 " + date, "200"}, 200, []time.Duration{0, 7 * second}},
		{"a date in the past", httpapi.Transport{}, []string{"429 Fri, 31 Dec 1999 23:59:59 GMT", "200"}, 200, []time.Duration{0, 0}},
		{"at once", httpapi.Transport{}, []string{"429 0", "200"}, 200, []time.Duration{0, 0}},
		{"the third refusal is the answer", httpapi.Transport{}, []string{"429 5"}, 429, []time.Duration{0, 5 * second, 10 * second}},
		{"one retry", httpapi.Transport{Retries: 1}, []string{"429 5"}, 429, []time.Duration{0, 5 * second}},
		{"no retry", httpapi.Transport{Retries: -1}, []string{"429 5"}, 429, []time.Duration{0}},
		{"a minute is waited", httpapi.Transport{}, []string{"429 60", "200"}, 200, []time.Duration{0, time.Minute}},
		{"a longer time is the answer", httpapi.Transport{}, []string{"429 61", "200"}, 429, []time.Duration{0}},
		{"a longer time in all", httpapi.Transport{}, []string{"429 40", "429 30", "200"}, 429, []time.Duration{0, 40 * second}},
		{"another bound", httpapi.Transport{MaxWait: time.Hour}, []string{"429 3600", "200"}, 200, []time.Duration{0, time.Hour}},
		{"no waiting at all", httpapi.Transport{MaxWait: -1}, []string{"429 1"}, 429, []time.Duration{0}},
		{"an endless time", httpapi.Transport{MaxWait: time.Hour}, []string{"429 99999999999999999999"}, 429, []time.Duration{0}},
		{"no word of a time", httpapi.Transport{}, []string{"429"}, 429, []time.Duration{0}},
		{"a word of no time", httpapi.Transport{}, []string{"429 soon"}, 429, []time.Duration{0}},
		{"a negative time", httpapi.Transport{}, []string{"429 -1"}, 429, []time.Duration{0}},
		{"not refused", httpapi.Transport{}, []string{"500 5"}, 500, []time.Duration{0}},
	}
	for i := range tests {
		tt := &tests[i]
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				other := newOtherSide(t, tt.script...)
				tt.transport.Base = other
				r := request(t, "question")
				before := *r
				answer, err := tt.transport.RoundTrip(r)
				if err != nil {
					t.Fatal(err)
				}
				if r.Body != before.Body || r.URL != before.URL || len(r.Header) != 0 {
					t.Errorf("the request was changed: %+v", r)
				}
				if answer.StatusCode != tt.status {
					t.Errorf("got %d, want %d", answer.StatusCode, tt.status)
				}
				wantSent(t, other, tt.sent...)
				for i, text := range other.bodies {
					if text != "question" {
						t.Errorf("attempt %d sent %q", i+1, text)
					}
				}
				for i, content := range other.answers {
					if returned := i == len(other.answers)-1; content.closed == returned {
						t.Errorf("answer %d: closed %v", i+1, content.closed)
					}
				}
			})
		})
	}
}

func wantSent(t *testing.T, other *otherSide, want ...time.Duration) {
	t.Helper()
	if len(other.at) != len(want) {
		t.Fatalf("sent after %v, want %v", other.at, want)
	}
	for i, at := range other.at {
		if at != want[i] {
			t.Fatalf("sent after %v, want %v", other.at, want)
		}
	}
}

// Requests with the key that was refused wait, others do not.
func TestTransportHoldsLaterRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		other := newOtherSide(t, "429 30", "200")
		transport := httpapi.Transport{Base: other, Retries: -1, Key: func(r *http.Request) string { return r.Header.Get("Tenant") }}
		send := func(tenant string, ctx context.Context) error {
			r := request(t, "question").WithContext(ctx)
			r.Header.Set("Tenant", tenant)
			_, err := transport.RoundTrip(r)
			return err
		}
		for _, tenant := range []string{"a", "b", "a", "a"} {
			if err := send(tenant, t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		wantSent(t, other, 0, 0, 30*time.Second, 30*time.Second)

		other.script = []string{"429 3600"}
		if err := send("a", t.Context()); err != nil {
			t.Fatal(err)
		}
		until := time.Now().Add(time.Hour)
		wantHeld(t, send("a", t.Context()), until)
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		wantHeld(t, send("a", short), until)
		wantSent(t, other, 0, 0, 30*time.Second, 30*time.Second, 30*time.Second)
	})
}

func wantHeld(t *testing.T, err error, until time.Time) {
	t.Helper()
	held, ok := errors.AsType[*httpapi.HeldError](err)
	if !ok || !held.Until.Equal(until) {
		t.Fatalf("got %v, want a HeldError until %v", err, until)
	}
	if timeout, ok := errors.AsType[net.Error](err); !ok || !timeout.Timeout() || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v is no timeout", err)
	}
}

// A body is sent again only if it can be made again, and is closed in any case.
func TestTransportBodies(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		refused := newOtherSide(t, "429 1", "200")
		transport := httpapi.Transport{Base: refused}
		r := request(t, "")
		once := newBody("once")
		r.Body = once
		answer, err := transport.RoundTrip(r)
		if err != nil || answer.StatusCode != http.StatusTooManyRequests || refused.answers[0].closed || r.Body != once {
			t.Errorf("a body that is gone: got %v, %v", answer, err)
		}

		refused = newOtherSide(t, "429 1", "200")
		transport.Base = refused
		r.Body, r.GetBody = newBody("once"), func() (io.ReadCloser, error) { return nil, errors.New("gone") }
		answer, err = transport.RoundTrip(r)
		if err != nil || answer.StatusCode != http.StatusTooManyRequests || refused.answers[0].closed {
			t.Errorf("a body that cannot be made again: got %v, %v", answer, err)
		}

		// Not sent, or not sent again: every body is closed.
		refused = newOtherSide(t, "429 30", "429 1")
		transport.Base = refused
		first, second := newBody("first"), newBody("second")
		ctx, cancel := context.WithCancel(t.Context())
		r = r.WithContext(ctx)
		r.Body, r.GetBody = first, func() (io.ReadCloser, error) { return second, nil }
		time.AfterFunc(10*time.Second, cancel)
		if _, err = transport.RoundTrip(r); !errors.Is(err, context.Canceled) || !first.closed || !second.closed || !refused.answers[0].closed {
			t.Errorf("left while waiting: %v, closed %v, %v, %v", err, first.closed, second.closed, refused.answers[0].closed)
		}
		r.Body = newBody("third")
		if _, err = transport.RoundTrip(r); !errors.Is(err, context.Canceled) || !r.Body.(*body).closed {
			t.Errorf("left before: %v, closed %v", err, r.Body.(*body).closed)
		}
		r = request(t, "")
		r.Body, r.URL = newBody("fourth"), nil
		if _, err = transport.RoundTrip(r); err == nil || !r.Body.(*body).closed {
			t.Errorf("no URL: %v, closed %v", err, r.Body.(*body).closed)
		}

		transport.Base = newOtherSide(t, "error")
		time.Sleep(time.Minute)
		if _, err = transport.RoundTrip(request(t, "fifth")); err == nil || err.Error() != "connection reset" {
			t.Errorf("got %v", err)
		}
	})
}

// pace admits one call of a key each second, in turn.
type pace struct {
	mu    sync.Mutex
	next  map[string]time.Time
	asked []string
	err   error
}

func (p *pace) Wait(ctx context.Context, policyName, key string) (policy.Decision, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, policyName+" "+key)
	if p.err != nil {
		return policy.Decision{}, p.err
	}
	if p.next == nil {
		p.next = make(map[string]time.Time)
	}
	select {
	case <-time.After(time.Until(p.next[key])):
	case <-ctx.Done():
		return policy.Decision{}, ctx.Err()
	}
	p.next[key] = time.Now().Add(time.Second)
	var d policy.Decision
	d.Allowed = true
	return d, nil
}

// Each attempt takes a unit of our own limit, and none while the other side
// takes no requests.
func TestTransportWaitsForItsOwnLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		other, own := newOtherSide(t, "200", "200", "429 10", "200"), new(pace)
		transport := httpapi.Transport{Base: other, Node: own, Policy: "out", MaxWait: 20 * time.Second}
		for range 4 {
			if _, err := transport.RoundTrip(request(t, "question")); err != nil {
				t.Fatal(err)
			}
		}
		wantSent(t, other, 0, time.Second, 2*time.Second, 12*time.Second, 13*time.Second)
		if len(own.asked) != 5 || own.asked[0] != "out other.example" {
			t.Errorf("asked for %q", own.asked)
		}

		own.next["other.example"] = time.Now().Add(time.Hour)
		begin := time.Now()
		_, err := transport.RoundTrip(request(t, "question"))
		wantHeld(t, err, time.Time{})
		if waited := time.Since(begin); waited != 20*time.Second {
			t.Errorf("waited for %v", waited)
		}
		own.next["other.example"], other.script = time.Now().Add(15*time.Second), []string{"429 6"}
		if answer, err := transport.RoundTrip(request(t, "question")); err != nil || answer.StatusCode != http.StatusTooManyRequests {
			t.Errorf("15 s and 6 s are more than 20 s: got %v, %v", answer, err)
		}
		time.Sleep(6 * time.Second)
		own.next["other.example"] = time.Now().Add(time.Hour)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := transport.RoundTrip(request(t, "").WithContext(ctx)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		own.err = policy.ErrUnknownPolicy
		if _, err := transport.RoundTrip(request(t, "question")); !errors.Is(err, policy.ErrUnknownPolicy) || !strings.Contains(err.Error(), `"out"`) {
			t.Errorf("got %v", err)
		}
		if len(other.at) != 6 {
			t.Errorf("sent after %v", other.at)
		}
	})
}

// What the other side says while a request waits for our own limit holds it.
func TestTransportIsHeldAfterItsOwnLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		other, own := newOtherSide(t, "429 5", "200"), new(pace)
		other.takes = time.Second / 2
		transport := httpapi.Transport{Base: other, Node: own, Retries: -1}
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() {
				if _, err := transport.RoundTrip(request(t, "question")); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
		wantSent(t, other, time.Second/2, 6*time.Second) // when it answered
	})
}

// A nil pointer, as a failed start leaves it, is not asked, and not taken for
// no limit.
func TestTransportMisuse(t *testing.T) {
	t.Parallel()
	var failed *pace
	transport := httpapi.Transport{Base: newOtherSide(t, "200"), Node: failed}
	if _, err := transport.RoundTrip(request(t, "")); err == nil || !strings.Contains(err.Error(), "Transport.Node") {
		t.Errorf("got %v", err)
	}
}

// The zero value works in an http.Client.
func TestZeroTransport(t *testing.T) {
	t.Parallel()
	s := limited(t, false, 1, ok)
	client := http.Client{Transport: &httpapi.Transport{Base: s.Client().Transport}}
	defer client.CloseIdleConnections()
	for i, want := range []int{200, 429} { // Retry-After is an hour
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil || answer.StatusCode != want || len(text) == 0 {
			t.Errorf("request %d: got %d %q %v", i+1, answer.StatusCode, text, err)
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Do(r); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("third: got %v", err)
	}
}

// An answer that asks for a thousand years holds requests back for an hour.
func TestAbsurdRetryAfterDoesNotHoldForEver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		other := newOtherSide(t, "503 99999999999", "200")
		client := &httpapi.Transport{Base: other}
		first, err := client.RoundTrip(request(t, ""))
		if err != nil || first.StatusCode != http.StatusServiceUnavailable {
			t.Fatalf("%v, %v", first, err)
		}
		time.Sleep(58 * time.Minute)
		if _, err := client.RoundTrip(request(t, "")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("two minutes before: %v", err)
		}
		time.Sleep(2 * time.Minute)
		if answer, err := client.RoundTrip(request(t, "")); err != nil || answer.StatusCode != http.StatusOK {
			t.Errorf("after an hour: %v, %v", answer, err)
		}
	})
}

// endless is a body that has not ended, until it is closed.
type endless struct{ closed chan struct{} }

func (e endless) Read([]byte) (int, error) {
	<-e.closed
	return 0, net.ErrClosed
}

func (e endless) Close() error {
	select {
	case <-e.closed:
	default:
		close(e.closed)
	}
	return nil
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// The rest of a refusal is not waited for.
func TestRefusalWithAnEndlessBody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		other, sent := newOtherSide(t, "429 1", "200"), 0
		client := &httpapi.Transport{MaxWait: 2 * time.Second, Base: roundTripper(func(r *http.Request) (*http.Response, error) {
			answer, err := other.RoundTrip(r)
			if sent++; sent == 1 {
				answer.Body = endless{make(chan struct{})}
			}
			return answer, err
		})}
		begin := time.Now()
		answer, err := client.RoundTrip(request(t, ""))
		if err != nil || answer.StatusCode != http.StatusOK || time.Since(begin) > 1200*time.Millisecond {
			t.Errorf("%v, %v after %v", answer, err, time.Since(begin))
		}
	})
}

// once is a limit with room for one request.
type once struct{ used bool }

func (o *once) Wait(ctx context.Context, _, _ string) (policy.Decision, error) {
	if !o.used {
		o.used = true
		return policy.Decision{}, nil
	}
	<-ctx.Done()
	return policy.Decision{}, ctx.Err()
}

// A refused request for which our own limit has no second unit has its
// refusal for an answer, which says more than that there was no time.
func TestRefusalThatCannotBeSentAgainIsTheAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		other := newOtherSide(t, "429 1")
		client := &httpapi.Transport{Base: other, Node: new(once), MaxWait: 5 * time.Second}
		answer, err := client.RoundTrip(request(t, "text"))
		if err != nil || answer.StatusCode != http.StatusTooManyRequests {
			t.Fatalf("%v, %v", answer, err)
		}
		if text, err := io.ReadAll(answer.Body); err != nil || string(text) != "answer" {
			t.Errorf("the body is %q (%v)", text, err)
		}
	})
}
