package transport

import "encoding/binary"

// kind says what a frame holds. The numbers travel between nodes: the list
// is closed and only appended to, and a new kind needs a new protocol
// version.
type kind uint8

const (
	// frameHello opens a connection, first from the client, then from the
	// server. Its layout starts alike in every protocol version.
	frameHello kind = 1 + iota
	// frameRefuse takes the place of the server's hello: reason, text.
	frameRefuse
	// frameCalls is a batch: the sender's digest, then calls.
	frameCalls
	// frameReplies answers calls, of one frame or several: the sender's
	// digest, then replies.
	frameReplies
	// framePing asks for a framePong with the same body: the sender's digest
	// is exchanged on the way, the sequence number is echoed.
	framePing
	framePong
	// frameState is the state of the sender's placement.
	frameState
	// frameBye: the server is about to close. It refuses calls from here on
	// and waits for the client to leave.
	frameBye
	// frameFeed holds records of the sender's feed.
	frameFeed
)

func (k kind) known() bool { return k >= frameHello && k <= frameFeed }

// looksLikeTLS reports whether the first byte of a connection is the type of
// a TLS record (RFC 8446, section 5.1). No kind of frame has such a number,
// so either side can tell that the other one speaks TLS.
func looksLikeTLS(first byte) bool { return first >= 20 && first <= 23 }

// headerBytes is the length of a frame's header: the kind, and the length of
// the body (uint32, little-endian).
const headerBytes = 5

// openFrame begins a frame; closeFrame, given the length of b before, fills
// in how long the frame became.
func openFrame(b []byte, k kind) []byte {
	return append(b, byte(k), 0, 0, 0, 0)
}

func closeFrame(b []byte, start int) []byte {
	binary.LittleEndian.PutUint32(b[start+1:], uint32(len(b)-start-headerBytes))
	return b
}

func parseHeader(header []byte) (kind, int) {
	return kind(header[0]), int(min(binary.LittleEndian.Uint32(header[1:]), 1<<30))
}

// appendPing writes a framePing or a framePong.
func appendPing(b []byte, k kind, digest, seq uint64) []byte {
	start := len(b)
	b = openFrame(b, k)
	b = binary.LittleEndian.AppendUint64(b, digest)
	b = binary.AppendUvarint(b, seq)
	return closeFrame(b, start)
}

func decodePing(body []byte) (digest, seq uint64, err error) {
	d := decoder{rest: body}
	digest, seq = d.uint64(), d.uvarint()
	if !d.whole() {
		return 0, 0, errMalformed
	}
	return digest, seq, nil
}

// appendState writes a frameState.
func appendState(b, state []byte) []byte {
	start := len(b)
	return closeFrame(append(openFrame(b, frameState), state...), start)
}
