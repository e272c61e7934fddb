package transport

// Feed is a set of records that every node shall have, each change numbered
// as it reached this node. Unlike a [Placement] it is not compared: each
// connection remembers up to which number it has told its peer, and a new
// connection tells all. What comes back to where it came from is no news
// there, and gets no number. Its methods are called by several connections at
// once.
type Feed interface {
	// Head is the number of the newest change, 0 before the first. It is read
	// for every write and must be cheap.
	Head() uint64
	// Since appends to b the records that changed after the given number, in
	// that order, as far as limit bytes go, and at least one. upTo is the
	// number up to which the peer then knows everything. Nothing is appended
	// if all those changes are overtaken by others.
	Since(b []byte, after uint64, limit int) (out []byte, upTo uint64)
	// Merge takes in what Since gave a peer. It is effective when it returns;
	// the answers that the peer sent after it are delivered only then. records
	// is valid only until it returns.
	Merge(records []byte) error
}

// feeder tells one peer of a feed.
type feeder struct {
	feed Feed   // nil: there is none, or the peer is too old for it
	told uint64 // the number up to which the peer was told
}

func newFeeder(f Feed, speaks uint8) feeder {
	if speaks < protocolV3 {
		return feeder{}
	}
	return feeder{feed: f}
}

// append writes frames with what the peer was not told yet. What exceeds
// feedBurst is left to the next write, so that a feed of any length keeps
// heartbeats waiting for a bounded time.
func (f *feeder) append(b []byte) []byte {
	if f.feed == nil {
		return b
	}
	for begun := len(b); f.told < f.feed.Head() && len(b)-begun < feedBurst; {
		start := len(b)
		b = openFrame(b, frameFeed)
		b, f.told = f.feed.Since(b, f.told, feedFrameBytes)
		if len(b) == start+headerBytes {
			return b[:start]
		}
		b = closeFrame(b, start)
	}
	return b
}

// merge takes in what the peer tells. A node without a feed has no use for it.
func (f *feeder) merge(records []byte) error {
	if f.feed == nil {
		return nil
	}
	return f.feed.Merge(records)
}
