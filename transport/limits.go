package transport

import (
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// Bounds of the protocol: a peer that exceeds one is cut off.
const (
	// MaxStateBytes bounds the state of a [Placement].
	MaxStateBytes = 1 << 20

	maxFrameBytes    = MaxStateBytes + 64
	maxHelloBytes    = 2 << 10
	maxCallsPerFrame = 1024

	// frameBytes is where the sender of calls or replies begins a new frame.
	// With the entry that crosses it a frame still fits bufferBytes.
	frameBytes  = bufferBytes - maxEntryBytes - 64
	bufferBytes = 32 << 10

	// feedFrameBytes is the most that the records of a frame take, but for a
	// single one that is longer.
	feedFrameBytes = bufferBytes - headerBytes
	// feedBurst is where a writer that has more to tell of the feed does
	// something else first: a tenth of a second at 20 Mbit/s.
	feedBurst = 256 << 10

	// maxEntryBytes is more than one encoded call or reply can take.
	maxEntryBytes = 128 + limiter.MaxCharges*(80+maxZoneBytes)
	maxZoneBytes  = 64
)

// Timing of a session.
const (
	// pingEvery is the longest silence of a sender that keeps a session alive.
	pingEvery = 50 * time.Millisecond
	// downAfter is the age of the newest proof of life at which a session is down.
	downAfter = 300 * time.Millisecond
	// stableFor is how long a session that was down must be well to be up again.
	stableFor = time.Second
	// giveUpAfter is the age of the newest proof of life at which a
	// connection is dropped, to be dialled again.
	giveUpAfter = time.Second
	// stateEvery is the least time between two transfers of the same state
	// over one connection.
	stateEvery = 20 * time.Millisecond

	dialTimeout      = time.Second
	handshakeTimeout = 2 * time.Second
	// frameTimeout is the most time that a frame may take from its first
	// byte to its last, either way.
	frameTimeout = 2 * time.Second
	// lingerFor is how long a closing server waits for its clients to leave.
	lingerFor = time.Second
)
