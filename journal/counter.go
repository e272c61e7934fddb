package journal

import (
	"encoding/binary"
	"hash/crc32"

	"go.etcd.io/bbolt"

	"github.com/murmurate/murmurate/limiter"
)

// counterBucket holds the durable counters. A key is the counter's id: the
// subject and the tag (big-endian) and the algorithm. A value is a version,
// the end of the window in Unix ns and the mark (little-endian), and the
// CRC-32C of all of it and the key, because a database notices a torn page,
// and not a bit that has flipped within one.
var counterBucket = []byte("counters")

const (
	counterVersion    = 1
	counterKeyBytes   = 8 + 8 + 8 + 1
	counterValueBytes = 1 + 8 + 8 + 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// counter is one record.
type counter struct {
	id        limiter.CounterID
	end, mark int64
}

// put writes the record, or deletes it if nothing was counted.
func (r *counter) put(b *bbolt.Bucket) error {
	key := r.key()
	if r.mark == 0 {
		return b.Delete(key)
	}
	value := make([]byte, 1, counterValueBytes)
	value[0] = counterVersion
	value = binary.LittleEndian.AppendUint64(value, uint64(r.end))
	value = binary.LittleEndian.AppendUint64(value, uint64(r.mark))
	return b.Put(key, binary.LittleEndian.AppendUint32(value, checksum(key, value)))
}

func (r *counter) key() []byte {
	key := make([]byte, 0, counterKeyBytes)
	key = binary.BigEndian.AppendUint64(key, r.id.Subject.Hi)
	key = binary.BigEndian.AppendUint64(key, r.id.Subject.Lo)
	key = binary.BigEndian.AppendUint64(key, r.id.Tag)
	return append(key, byte(r.id.Algorithm))
}

// decodeCounter reads a record. ok is false if it is not as it was written.
func decodeCounter(key, value []byte) (r counter, ok bool) {
	if len(key) != counterKeyBytes || len(value) != counterValueBytes || value[0] != counterVersion {
		return counter{}, false
	}
	sum := len(value) - 4
	r = counter{
		id: limiter.CounterID{
			Subject:   limiter.Subject{Hi: binary.BigEndian.Uint64(key), Lo: binary.BigEndian.Uint64(key[8:])},
			Tag:       binary.BigEndian.Uint64(key[16:]),
			Algorithm: limiter.Algorithm(key[24]),
		},
		end:  int64(binary.LittleEndian.Uint64(value[1:])),
		mark: int64(binary.LittleEndian.Uint64(value[9:])),
	}
	return r, r.mark > 0 && binary.LittleEndian.Uint32(value[sum:]) == checksum(key, value[:sum])
}

func checksum(key, value []byte) uint32 {
	return crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, value)
}
