package receipt

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/murmurate/murmurate/internal/token"
	"github.com/murmurate/murmurate/limiter"
)

func signer(key string) *Signer { return NewSigner(token.NewSigner([]byte(key))) }

// sample is a receipt of two policies.
func sample() *Receipt {
	return &Receipt{
		ID:      limiter.ReceiptID{Hi: math.MaxUint64, Lo: 1},
		Expires: time.UnixMilli(1_700_000_000_123),
		Node:    "host-7381",
		Parts: []Part{
			{Policy: "tokens", Subject: limiter.Subject{Hi: 3, Lo: math.MaxUint64}, Place: Owner, Charged: 100,
				Limits: []limiter.Limit{limiter.PerMinute(30_000).WithName("minute"), {
					Name: "month", Algorithm: limiter.FixedWindow, Count: limiter.MaxCount, Period: 30 * 24 * time.Hour,
					Align: limiter.AlignCalendar, Calendar: limiter.Month, Anchor: 31, Zone: time.UTC, Unit: limiter.Tokens, Durable: true,
				}}},
			{Policy: "seen", Shadow: true, Subject: limiter.Subject{Lo: 5}, Place: Share, Charged: 0,
				Limits: []limiter.Limit{limiter.PerSecond(5).WithName("seen").WithAlgorithm(limiter.SlidingLog)}},
		},
	}
}

func TestOpenReturnsWhatWasSigned(t *testing.T) {
	t.Parallel()
	none := &Receipt{ID: limiter.ReceiptID{Lo: 1}, Expires: time.UnixMilli(5), Parts: []Part{}}
	for _, r := range []*Receipt{sample(), none} {
		text, err := signer("key").Sign(r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := signer("key").Open(text, r.Expires.Add(-1))
		if err != nil || !reflect.DeepEqual(got, r) {
			t.Errorf("%+v became %+v, %v", r, got, err)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	r, s := sample(), signer("key")
	good, err := s.Sign(r)
	if err != nil {
		t.Fatal(err)
	}
	tokens := token.NewSigner([]byte("key"))
	whole, err := r.encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		why  string
		text string
		now  time.Time
		want error
	}{
		{"in time", good, r.Expires.Add(-time.Millisecond), nil},
		{"too late", good, r.Expires, ErrExpired},
		{"forged", good[:len(good)-1] + "A", time.Time{}, ErrInvalid},
		{"nothing", "", time.Time{}, ErrInvalid},
		{"a lease", tokens.Sign(token.Lease, whole), time.Time{}, ErrInvalid},
		{"of a later version", tokens.Sign(token.Receipt, append([]byte{version + 1}, whole[1:]...)), time.Time{}, ErrInvalid},
		{"with something behind", tokens.Sign(token.Receipt, append(whole[:len(whole):len(whole)], 0)), time.Time{}, ErrInvalid},
	} {
		if _, err := s.Open(row.text, row.now); !errors.Is(err, row.want) {
			t.Errorf("%s: %v, want %v", row.why, err, row.want)
		}
	}
	if _, err := signer("another key").Open(good, time.Time{}); !errors.Is(err, ErrInvalid) {
		t.Errorf("another cluster's: %v", err)
	}
	for n := range whole {
		if _, err := s.Open(tokens.Sign(token.Receipt, whole[:n]), time.Time{}); !errors.Is(err, ErrInvalid) {
			t.Errorf("cut to %d bytes: %v", n, err)
		}
	}
}

func TestWhatFitsAReceipt(t *testing.T) {
	t.Parallel()
	part := sample().Parts[0]
	part.Limits = nil
	for i := range limiter.MaxCharges {
		l := limiter.PerDay(limiter.MaxCount).WithBurst(limiter.MaxCount)
		part.Limits = append(part.Limits, l.WithName(fmt.Sprint(strings.Repeat("n", 62), i)))
	}
	r := sample()
	r.Parts = []Part{part}
	text, err := signer("key").Sign(r)
	if err != nil || len(text) > token.MaxBytes {
		t.Errorf("a policy of %d limits: %d bytes, %v", limiter.MaxCharges, len(text), err)
	}
	r.Parts = []Part{part, part, part}
	if _, err := signer("key").Sign(r); !errors.Is(err, ErrTooLong) {
		t.Errorf("three of them: %v", err)
	}
	r.Parts = make([]Part, 300)
	if _, err := signer("key").Sign(r); !errors.Is(err, ErrTooLong) {
		t.Errorf("300 policies: %v", err)
	}
	local := part.Limits[0]
	local.Algorithm, local.Burst, local.Align, local.Calendar, local.Zone = limiter.FixedWindow, 0, limiter.AlignCalendar, limiter.Day, time.Local
	r.Parts = []Part{{Limits: []limiter.Limit{local}}}
	if _, err := signer("key").Sign(r); err == nil || !strings.Contains(err.Error(), "time zone") {
		t.Errorf("the zone of this machine: %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	b, err := sample().encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte{version})
	f.Add([]byte{})
	s := signer("key")
	f.Fuzz(func(t *testing.T, b []byte) {
		r, ok := s.decode(b)
		if !ok {
			return
		}
		again, err := r.encode()
		if errors.Is(err, ErrTooLong) {
			return // Open takes none that is
		}
		if err != nil {
			t.Fatalf("%+v was read, and cannot be written: %v", r, err)
		}
		if same, ok := s.decode(again); !ok || !reflect.DeepEqual(same, r) {
			t.Errorf("%+v became %+v", r, same)
		}
	})
}
