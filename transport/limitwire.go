package transport

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// durableBit stands beside a limit's alignment if it is durable.
const durableBit = 0x80

// AppendLimit writes everything that an owner needs of a limit: all but its
// name, which is in the tag, and its unit, which makes no difference. The error
// is for a time zone that other nodes cannot know.
func AppendLimit(b []byte, l *limiter.Limit) ([]byte, error) {
	if !canTravel(l) {
		return b, fmt.Errorf("transport: zone %q of limit %q: other nodes cannot know it; use a name of the time zone database", l.Zone, l.Name)
	}
	align := byte(l.Align)
	if l.Durable {
		align |= durableBit
	}
	b = append(b, byte(l.Algorithm), align)
	b = binary.AppendUvarint(b, uint64(l.Count))
	b = binary.AppendUvarint(b, uint64(l.Period))
	b = binary.AppendUvarint(b, uint64(l.Burst))
	if l.Align != limiter.AlignCalendar {
		return b, nil
	}
	b = append(b, byte(l.Calendar))
	b = binary.AppendUvarint(b, uint64(l.Anchor))
	if l.Zone == nil {
		return append(b, 0), nil
	}
	return appendShort(b, l.Zone.String()), nil
}

// LimitReader reads what [AppendLimit] has written. It remembers the time
// zones that it has loaded. The zero value is ready, and safe for concurrent
// use.
type LimitReader struct{ zones zones }

// Read reads a limit without its name off the front of b and returns what
// follows. ok is false if none is there that can be used.
func (r *LimitReader) Read(b []byte, l *limiter.Limit) (rest []byte, ok bool) {
	d := decoder{rest: b}
	ok = decodeLimit(&d, l, &r.zones)
	return d.rest, ok
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
