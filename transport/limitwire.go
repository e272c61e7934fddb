package transport

import (
	"encoding/binary"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// durableBit stands beside a limit's alignment if it is durable.
const durableBit = 0x80

// appendLimit writes everything that an owner needs of a limit: all but its
// name, which is in the tag, and its unit, which makes no difference.
func appendLimit(b []byte, l *limiter.Limit) []byte {
	align := byte(l.Align)
	if l.Durable {
		align |= durableBit
	}
	b = append(b, byte(l.Algorithm), align)
	b = binary.AppendUvarint(b, uint64(l.Count))
	b = binary.AppendUvarint(b, uint64(l.Period))
	b = binary.AppendUvarint(b, uint64(l.Burst))
	if l.Align != limiter.AlignCalendar {
		return b
	}
	b = append(b, byte(l.Calendar))
	b = binary.AppendUvarint(b, uint64(l.Anchor))
	if l.Zone == nil {
		return append(b, 0)
	}
	return appendShort(b, l.Zone.String())
}

// decodeLimit reads a limit and reports whether it is one that can be used.
func decodeLimit(d *decoder, l *limiter.Limit, z *zones) bool {
	*l = limiter.Limit{Algorithm: limiter.Algorithm(d.uint8())}
	align := d.uint8()
	l.Align, l.Durable = limiter.Align(align&^durableBit), align&durableBit != 0
	l.Count = int64(d.uvarint())
	l.Period = time.Duration(d.uvarint())
	l.Burst = int64(d.uvarint())
	if l.Align == limiter.AlignCalendar {
		l.Calendar = limiter.Calendar(d.uint8())
		l.Anchor = int(d.uvarint())
		if name := d.short(); len(name) > 0 {
			zone, err := z.find(name)
			if err != nil {
				return false
			}
			l.Zone = zone
		}
	}
	return !d.bad && l.Validate() == nil
}

// canTravel reports whether a peer can find the limit's zone by its name.
func canTravel(l *limiter.Limit) bool {
	if l.Zone == nil {
		return true
	}
	name := l.Zone.String()
	return name != time.Local.String() && len(name) <= maxZoneBytes
}
