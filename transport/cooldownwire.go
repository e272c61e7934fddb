package transport

import (
	"encoding/binary"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// flagCooldowns is set in the op of a call that ends in its cool-downs: flags
// of the call (uint8), and for each charge the duration in ns with extendBit
// below it (uvarint). A call without any is as it was before there were
// cool-downs.
const flagCooldowns = 0x80

// flagPatient is the one flag of a call: see limiter.Call.Patient.
const flagPatient = 1

// extendBit is the lowest bit of a charge's cool-down: see
// limiter.Charge.Extend. The others are the duration.
const extendBit = 1

// appendCooldowns completes body, which appendCall wrote of call, if there is
// anything to add. A peer that knows no cool-downs is asked without: its
// limits hold all the same.
func appendCooldowns(body []byte, call *limiter.Call) []byte {
	if !call.HasCooldowns() {
		return body
	}
	body[0] |= flagCooldowns
	var flags byte
	if call.Patient {
		flags = flagPatient
	}
	body = append(body, flags)
	for i := range call.Charges {
		c := &call.Charges[i]
		written := uint64(c.Cooldown) << 1
		if c.Extend && c.Cooldown > 0 {
			written |= extendBit
		}
		body = binary.AppendUvarint(body, written)
	}
	return body
}

// decodeCooldowns reads the cool-downs of call and reports whether they make
// sense.
func decodeCooldowns(d *decoder, call *limiter.Call) bool {
	flags := d.uint8()
	call.Patient = flags == flagPatient
	for i := range call.Charges {
		c := &call.Charges[i]
		written := d.uvarint()
		if written>>1 > uint64(limiter.MaxCooldown) || written == extendBit {
			return false
		}
		c.Cooldown, c.Extend = time.Duration(written>>1), written&extendBit != 0
	}
	return flags <= flagPatient && call.HasCooldowns()
}
