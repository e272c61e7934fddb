package transport

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// sampleCooldowns are calls of which some limits have a cool-down.
func sampleCooldowns(t testing.TB) []*limiter.Call {
	t.Helper()
	limits := sampleLimits(t)
	take, patient := callOf(limits[:3]), callOf(limits[2:4])
	take.Op = limiter.Take
	take.Charges[0].Cooldown = 1
	take.Charges[2].Cooldown, take.Charges[2].Extend = limiter.MaxCooldown, true
	patient.Patient = true
	patient.Charges[1].Cooldown = time.Minute
	hold := sampleHolds()[0]
	hold.Charges[0].Cooldown, hold.Charges[0].Extend = time.Hour, true
	acquired, receipted := sampleLeases()[0], sampleReceipts()[0]
	acquired.Charges[0].Cooldown, receipted.Charges[0].Cooldown = time.Hour, time.Hour
	return []*limiter.Call{take, patient, hold, acquired, receipted}
}

func TestCooldownsSurviveTheWire(t *testing.T) {
	t.Parallel()
	var space callSpace
	var z zones
	for _, want := range append(sampleCooldowns(t), callOf(sampleLimits(t))) { // the last over the remains of others
		body, err := appendCall(nil, want)
		if err != nil {
			t.Fatal(err)
		}
		if !space.decode(appendCooldowns(body, want), &z) || !sameCall(&space.call, want) {
			t.Errorf("got %+v, want %+v", space.call, *want)
		}
	}
}

// What no limit cools down for is written as it was before there were
// cool-downs.
func TestCallWithoutCooldowns(t *testing.T) {
	t.Parallel()
	c := call(1, 1)
	c.Patient, c.Charges[0].Extend = true, true
	body, err := appendCall(nil, c)
	if err != nil {
		t.Fatal(err)
	}
	if with := appendCooldowns(bytes.Clone(body), c); !bytes.Equal(with, body) {
		t.Errorf("%x became %x", body, with)
	}
}

func TestCooldownsThatMakeNoSense(t *testing.T) {
	t.Parallel()
	c := call(1, 1)
	plain, err := appendCall(nil, c)
	if err != nil {
		t.Fatal(err)
	}
	ending := func(how byte, written ...uint64) []byte {
		body := append(bytes.Clone(plain), how)
		body[0] |= flagCooldowns
		for _, w := range written {
			body = binary.AppendUvarint(body, w)
		}
		return body
	}
	const minute = uint64(time.Minute) << 1
	var z zones
	var space callSpace
	if !space.decode(ending(flagPatient, minute|extendBit), &z) {
		t.Fatal("what the rows below differ from is not valid")
	}
	for name, body := range map[string][]byte{
		"none":              ending(0, 0),
		"extend alone":      ending(0, extendBit),
		"longer than any":   ending(0, uint64(limiter.MaxCooldown+1)<<1),
		"the largest":       ending(0, 1<<64-1),
		"unknown flag":      ending(2, minute),
		"one missing":       ending(0),
		"one too many":      ending(0, minute, minute),
		"neither":           append(bytes.Clone(plain[:0]), plain[0]|flagCooldowns),
		"flag of the op":    append([]byte{plain[0] | flagCooldowns}, plain[1:]...),
		"cool-downs, no op": append([]byte{byte(limiter.Settle+1) | flagCooldowns}, ending(0, minute)[1:]...),
	} {
		if space.decode(body, &z) {
			t.Errorf("%s: accepted as %+v", name, space.call)
		}
	}
}
