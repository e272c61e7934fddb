package memnet

// buffer is a queue of bytes that keeps its memory while it is not large.
type buffer struct {
	bytes []byte
	start int // of what has not been taken
}

func (b *buffer) len() int { return len(b.bytes) - b.start }

func (b *buffer) add(p []byte) {
	if b.start > 0 && len(b.bytes)+len(p) > cap(b.bytes) {
		b.bytes = b.bytes[:copy(b.bytes, b.bytes[b.start:])]
		b.start = 0
	}
	b.bytes = append(b.bytes, p...)
}

func (b *buffer) take(p []byte) int {
	n := copy(p, b.bytes[b.start:])
	if b.start += n; b.start == len(b.bytes) {
		b.bytes, b.start = b.bytes[:0], 0
	}
	return n
}
