package journal

import (
	"crypto/sha256"
	"encoding/binary"
)

// sealBytes is the length of a checksum.
const sealBytes = 8

// checksum is that of a record: of where it belongs as well as of its value. It
// is no CRC, because those of similar records cancel each other out in a sum.
func checksum(bucket string, key, value []byte) uint64 {
	b := make([]byte, 0, 2*binary.MaxVarintLen64+len(bucket)+len(key)+len(value))
	b = append(binary.AppendUvarint(b, uint64(len(bucket))), bucket...)
	b = append(binary.AppendUvarint(b, uint64(len(key))), key...)
	sum := sha256.Sum256(append(b, value...))
	return binary.BigEndian.Uint64(sum[:])
}

// seal puts its checksum before the value of a record.
func seal(bucket, key string, value []byte) []byte {
	b := binary.BigEndian.AppendUint64(nil, checksum(bucket, []byte(key), value))
	return append(b, value...)
}

// unseal returns the value that was sealed, unless it is another.
func unseal(bucket string, key, sealed []byte) (value []byte, ok bool) {
	if len(sealed) < sealBytes {
		return nil, false
	}
	value = sealed[sealBytes:]
	return value, sumOf(sealed) == checksum(bucket, key, value)
}

// sumOf is what a sealed record adds (by exclusive or) to the sum of its
// bucket, or that sum itself as it is kept: 0 if there is none.
func sumOf(sealed []byte) uint64 {
	if len(sealed) < sealBytes {
		return 0
	}
	return binary.BigEndian.Uint64(sealed)
}
