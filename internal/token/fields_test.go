package token

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"
)

// What was written is read again, and nothing beyond it.
func TestReader(t *testing.T) {
	t.Parallel()
	b := AppendText(binary.LittleEndian.AppendUint64([]byte{7}, math.MaxUint64), "name")
	b = binary.AppendUvarint(AppendText(b, strings.Repeat("n", 300)), math.MaxInt64)
	read := func(b []byte) (r Reader, same bool) {
		r.Rest = b
		same = r.Uint8() == 7 && r.Uint64() == math.MaxUint64 && r.Text() == "name" &&
			r.Text() == strings.Repeat("n", 255) && r.Uvarint() == math.MaxInt64
		return r, same
	}
	if r, same := read(b); !same || r.Bad || len(r.Rest) > 0 {
		t.Errorf("%+v, the same: %t", r, same)
	}
	for n := range b {
		r, same := read(b[:n])
		if same {
			t.Errorf("cut to %d bytes and the same", n)
		}
		if r.Uint8(); !r.Bad {
			t.Errorf("cut to %d bytes and not bad", n)
		}
	}
}
