package journal

import (
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

// counterBucket holds the durable counters.
const counterBucket Bucket = "counters"

// Counters keeps what durable counters have counted, each as a mark: what is
// on disk is at least what was answered, and at most a chunk more. It is safe
// for concurrent use.
type Counters struct {
	records *Records
	log     *slog.Logger
	// complained is when the log was last told of the file. Only the flusher uses
	// it.
	complained time.Time

	mu      sync.Mutex
	marks   map[limiter.CounterID]*mark
	refunds map[limiter.CounterID]refund // that the disk is not told of yet
	next    *batch                       // gathers what is to be written next
	stats   Stats

	wake   chan struct{} // holds a token when there is something to write
	closed chan struct{} // closed by Close
	ended  chan struct{} // closed when the flusher has ended
}

// Stats are what a [Counters] has done since it was opened.
type Stats struct {
	// Syncs are the transactions, each of which waits for the disk once.
	Syncs int64
	// Records are the counters written in them.
	Records int64
	// Failures are the transactions that failed.
	Failures int64
}

// mark is one counter.
type mark struct {
	end     int64 // of its window
	durable int64 // on disk for that window
	// What is on its way to the disk, and what will be after that.
	writing, pending target
}

// target is what a counter will be on disk, once its batch is.
type target struct {
	mark  int64
	batch *batch // nil: there is none
}

// batch is what one transaction writes.
type batch struct {
	counters map[limiter.CounterID]*mark
	done     chan struct{} // closed when it is on disk, or has failed
	err      error         // why it has, once done
}

func newBatch() *batch {
	return &batch{counters: make(map[limiter.CounterID]*mark), done: make(chan struct{})}
}

// chunkOf is how much of a limit is reserved ahead: 0.1 %, at least 1.
func chunkOf(count int64) int64 { return max(count/1000, 1) }

// Keep sees to it that at least w.Used of a counter is on disk for w's window.
// Nil: it is already. Otherwise kept waits until it is, at most that long; its
// error is why it is not. count is that of the limit.
//
// A chunk is reserved ahead, 0.1 % of count or 1, and asked for again when
// half of it is used, so few calls wait.
func (c *Counters) Keep(id limiter.CounterID, w limiter.Window, count int64) (kept func(within time.Duration) error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.markOf(id, w)
	chunk := chunkOf(count)
	ahead := markOver(w.Used, count)
	switch {
	case w.Used <= m.durable:
		if w.Used > m.durable-chunk/2 && m.writing.mark < ahead && m.pending.mark < ahead {
			c.aim(id, m, ahead)
		}
		return nil
	case m.writing.batch != nil && w.Used <= m.writing.mark:
		return m.writing.batch.wait
	case w.Used > m.pending.mark:
		c.aim(id, m, ahead)
	}
	return m.pending.batch.wait
}

// Lower makes a counter what read returns, for one that was reset. No Keep of
// it comes in between.
func (c *Counters) Lower(id limiter.CounterID, read func() limiter.Window, count int64) (kept func(within time.Duration) error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := read()
	m := c.marks[id]
	if m == nil {
		return nil // it is not on disk
	}
	m = c.markOf(id, w)
	c.lower(id, m, markOver(w.Used, count))
	return m.pending.batch.wait
}

// lower has the next batch write to, which is less.
func (c *Counters) lower(id limiter.CounterID, m *mark, to int64) {
	m.durable = min(m.durable, to) // what needs more must not rely on what is on disk until this is written
	m.writing = target{}
	c.aim(id, m, to)
}

// markOver is the mark of a counter that has counted used, with a chunk ahead.
func markOver(used, count int64) int64 {
	if used == 0 {
		return 0
	}
	return used + chunkOf(count) - 1
}

// markOf is the mark of a counter in w's window. An unused counter has no
// window: it stays in the one that it had.
func (c *Counters) markOf(id limiter.CounterID, w limiter.Window) *mark {
	m := c.marks[id]
	if m == nil {
		m = &mark{end: w.End}
		c.marks[id] = m
	}
	if m.end != w.End && w.Used > 0 {
		*m = mark{end: w.End}
	}
	return m
}

// aim has the next batch write to.
func (c *Counters) aim(id limiter.CounterID, m *mark, to int64) {
	m.pending = target{to, c.next}
	c.next.counters[id] = m
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// errSlow is the error of a wait that has taken too long.
var errSlow = errors.New("the disk is slow")

// wait waits until b is on disk.
func (b *batch) wait(within time.Duration) error {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-b.done:
		return b.err
	case <-timer.C:
		return errSlow
	}
}

// Stats returns what was done so far.
func (c *Counters) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stats
}

// Len is the number of counters that are kept.
func (c *Counters) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.marks)
}

// Counters returns the durable counters, of which those whose window has ended
// by now, in Unix ns, are dropped. It is called once; whoever does ends them
// with [Counters.Close] before the journal.
func (j *Journal) Counters(log *slog.Logger, now int64) (*Counters, error) {
	records := j.Bucket(counterBucket)
	all, err := records.All()
	if err != nil {
		return nil, err
	}
	c := &Counters{
		records: records, log: log,
		marks:   make(map[limiter.CounterID]*mark, len(all)),
		refunds: make(map[limiter.CounterID]refund),
		next:    newBatch(),
		wake:    make(chan struct{}, 1),
		closed:  make(chan struct{}),
		ended:   make(chan struct{}),
	}
	old, strange := make(map[string][]byte), 0
	for key, value := range all {
		switch r, ok := decodeCounter(key, value); {
		case !ok:
			strange++
		case r.end > now:
			c.marks[r.id] = &mark{end: r.end, durable: r.mark}
		default:
			old[key] = nil
		}
	}
	if strange > 0 {
		log.Error("durable counters of another version of the product were left alone; what they counted is not known", "counters", strange)
	}
	if len(old) > 0 {
		if err := records.Put(old); err != nil {
			return nil, err
		}
	}
	go c.flush()
	return c, nil
}

// Each calls f with every counter that is kept, as it is on disk, until f
// returns an error, which it returns. It is for a node that starts: calls of
// Keep wait meanwhile.
func (c *Counters) Each(f func(limiter.CounterID, limiter.Window) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, m := range c.marks {
		if err := f(id, limiter.Window{Used: m.durable, End: m.end}); err != nil {
			return err
		}
	}
	return nil
}

// Close writes what is gathered and ends.
func (c *Counters) Close() {
	close(c.closed)
	<-c.ended
}
