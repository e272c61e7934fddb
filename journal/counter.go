package journal

import (
	"encoding/binary"

	"github.com/murmurate/murmurate/limiter"
)

// A record of a counter: its key is the id, which is the subject and the tag
// (big-endian) and the algorithm; its value is a version, the end of the
// window in Unix ns, and the mark (little-endian).
const (
	counterVersion    = 1
	counterKeyBytes   = 8 + 8 + 8 + 1
	counterValueBytes = 1 + 8 + 8
)

// counter is one record.
type counter struct {
	id        limiter.CounterID
	end, mark int64
}

// counterKey names the record of a counter.
func counterKey(id limiter.CounterID) string {
	key := make([]byte, 0, counterKeyBytes)
	key = binary.BigEndian.AppendUint64(key, id.Subject.Hi)
	key = binary.BigEndian.AppendUint64(key, id.Subject.Lo)
	key = binary.BigEndian.AppendUint64(key, id.Tag)
	return string(append(key, byte(id.Algorithm)))
}

// value is nil, which takes the record away, if nothing was counted.
func (r *counter) value() []byte {
	if r.mark == 0 {
		return nil
	}
	value := append(make([]byte, 0, counterValueBytes), counterVersion)
	value = binary.LittleEndian.AppendUint64(value, uint64(r.end))
	return binary.LittleEndian.AppendUint64(value, uint64(r.mark))
}

// decodeCounter reads a record. ok is false if it is none, such as one of a
// later version.
func decodeCounter(key string, value []byte) (r counter, ok bool) {
	if len(key) != counterKeyBytes || len(value) != counterValueBytes || value[0] != counterVersion {
		return counter{}, false
	}
	k := []byte(key)
	r = counter{
		id: limiter.CounterID{
			Subject:   limiter.Subject{Hi: binary.BigEndian.Uint64(k), Lo: binary.BigEndian.Uint64(k[8:])},
			Tag:       binary.BigEndian.Uint64(k[16:]),
			Algorithm: limiter.Algorithm(k[24]),
		},
		end:  int64(binary.LittleEndian.Uint64(value[1:])),
		mark: int64(binary.LittleEndian.Uint64(value[9:])),
	}
	return r, r.mark > 0
}
