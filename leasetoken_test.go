package murmurate

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/murmurate/murmurate/internal/token"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// sampleHoldings are of no slots, of an owner's, and of several places.
func sampleHoldings() []*holding {
	slots := func(count int64, ttl time.Duration) *limiter.Limit {
		return &limiter.Limit{Algorithm: limiter.Concurrency, Count: count, Period: ttl}
	}
	none := &holding{id: limiter.LeaseID{Hi: 1}, ttl: time.Millisecond}
	one := &holding{id: limiter.LeaseID{Lo: 1}, ttl: time.Minute, parts: []leasePart{{
		policy: "api", subject: limiter.Subject{Hi: 1, Lo: 2}, names: []string{"api"},
		charges: []limiter.Charge{{Limit: slots(100, time.Minute), Tag: 7, Cost: 1}},
	}}}
	many := &holding{id: limiter.LeaseID{Hi: 1<<64 - 1, Lo: 1<<64 - 1}, ttl: limiter.MaxTTL}
	for i := range 3 {
		p := leasePart{policy: strings.Repeat("p", 64), subject: limiter.Subject{Hi: uint64(i)}, share: []string{"", "node-1"}[i%2]}
		for j := range i + 1 {
			p.charges = append(p.charges, limiter.Charge{Limit: slots(limiter.MaxHolders, limiter.MaxTTL), Tag: 1<<64 - 1, Cost: 1})
			p.names = append(p.names, fmt.Sprint(strings.Repeat("p", 64), "/", j))
		}
		many.parts = append(many.parts, p)
	}
	return []*holding{none, one, many}
}

func sameHolding(a, b *holding) bool {
	return fmt.Sprintf("%+v", shown(a)) == fmt.Sprintf("%+v", shown(b))
}

// shown is h with limits in place of pointers to them.
func shown(h *holding) []any {
	all := []any{h.id, h.ttl}
	for _, p := range h.parts {
		all = append(all, p.policy, p.subject, p.share, p.names)
		for _, c := range p.charges {
			all = append(all, *c.Limit, c.Tag, c.Cost)
		}
	}
	return all
}

// Any node of a cluster reads what another has written, and nothing else.
func TestLeaseTokens(t *testing.T) {
	t.Parallel()
	a := &Node{tokens: token.NewSigner([]byte("one key"))}
	b := &Node{tokens: token.NewSigner([]byte("one key"))}
	stranger := &Node{tokens: token.NewSigner([]byte("another"))}
	for _, want := range sampleHoldings() {
		text := a.tokenOf(want)
		if got, err := b.openToken(text); err != nil || !sameHolding(got, want) {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
		forged := []byte(text)
		forged[len(forged)/2] ^= 1
		for why, wrong := range map[string]string{
			"another cluster's": stranger.tokenOf(want), "forged": string(forged), "cut": text[:len(text)-4],
			"a receipt": a.tokens.Sign(token.Receipt, want.encode()), "empty": "", "not ours": "lease",
			"signed, and no lease": a.tokens.Sign(token.Lease, []byte{leaseTokenVersion + 1, 1, 2}),
		} {
			var input *policy.InputError
			if _, err := b.openToken(wrong); !errors.As(err, &input) || input.Field != "lease" {
				t.Errorf("%s: %v", why, err)
			}
		}
		payload := want.encode()
		for i := range payload {
			if got, ok := decodeHolding(payload[:i]); ok && len(got.parts) >= len(want.parts) {
				t.Errorf("%d bytes of %d make %+v", i, len(payload), got)
			}
		}
	}
}

// What cannot be named by a token is not granted, and occupies nothing.
func TestTokenOfTooManyLimits(t *testing.T) {
	t.Parallel()
	var all []policy.Policy
	for i := range 2 {
		p := policy.Policy{Name: fmt.Sprint("p", i, strings.Repeat("p", 60)), Key: []string{"global"}}
		for j := range limiter.MaxCharges {
			p.Limits = append(p.Limits, limiter.Limit{
				Name: fmt.Sprintf("l%02d%s", j, strings.Repeat("l", 60)), Algorithm: limiter.Concurrency, Count: 5, Period: time.Minute})
		}
		all = append(all, p)
	}
	set, err := policy.NewSet(all...)
	if err != nil {
		t.Fatal(err)
	}
	n, err := Start(t.Context(), Options{Alone: true, Policies: set})
	if err != nil {
		t.Fatal(err)
	}
	grant, err := n.Grant(t.Context(), policy.Request{Attributes: nobodyAsks{}})
	if !errors.Is(err, policy.ErrInput) || grant.Token != "" {
		t.Errorf("%+v, %v", grant, err)
	}
	if err := n.Close(t.Context()); err != nil { // tries releases once more
		t.Error(err)
	}
	if n.Keys() != 0 {
		t.Errorf("%d slots are occupied", n.Keys())
	}
}

// nobodyAsks is a request that says nothing of itself.
type nobodyAsks struct{ policy.Attributes }

func (nobodyAsks) Method() string     { return "" }
func (nobodyAsks) Host() string       { return "" }
func (nobodyAsks) Path() string       { return "" }
func (nobodyAsks) Addr() netip.Addr   { return netip.Addr{} }
func (nobodyAsks) Attr(string) string { return "" }

func FuzzLeaseToken(f *testing.F) {
	for _, h := range sampleHoldings() {
		f.Add(h.encode())
	}
	f.Add([]byte{leaseTokenVersion})
	f.Fuzz(func(t *testing.T, payload []byte) {
		h, ok := decodeHolding(payload)
		if !ok {
			return
		}
		again, ok := decodeHolding(h.encode())
		if !ok || !sameHolding(h, again) {
			t.Errorf("%+v became %+v", shown(h), again)
		}
		if len(h.encode()) > len(payload) || len(payload) == len(h.encode()) && !bytes.Equal(payload, h.encode()) {
			t.Errorf("%x is written as %x", payload, h.encode())
		}
	})
}
