package journal

import (
	"time"
)

const (
	// sweepEvery is how often some counters are looked at, to drop those whose
	// window has ended, and those of which something was given back.
	sweepEvery = time.Second
	// sweepCounters is how many they are. A range over a map begins anywhere,
	// so after a while all have been looked at.
	sweepCounters = 4096
)

// flush writes batches, one at a time: what is asked for while one is written
// goes into the next. So the number of waits for the disk does not grow with
// the number of calls.
func (c *Counters) flush() {
	defer close(c.ended)
	sweep := time.NewTicker(sweepEvery)
	defer sweep.Stop()
	for {
		select {
		case <-c.wake:
			c.writeNext()
		case <-sweep.C:
			c.watch()
			c.lowerRefunds()
			c.sweep(time.Now().UnixNano())
		case <-c.closed:
			c.lowerRefunds()
			c.writeNext()
			return
		}
	}
}

// writeNext writes what is gathered, if there is something.
func (c *Counters) writeNext() {
	b, records := c.take()
	if len(records) == 0 {
		return
	}
	b.err = c.records.Put(records)
	c.settle(b, len(records))
	close(b.done)
	if b.err != nil {
		c.watch()
	}
}

// take begins to write what is gathered.
func (c *Counters) take() (*batch, map[string][]byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.next
	c.next = newBatch()
	records := make(map[string][]byte, len(b.counters))
	for id, m := range b.counters {
		if m.pending.batch != b {
			continue // a new window has begun, and asked for more in another batch
		}
		m.writing, m.pending = m.pending, target{}
		r := counter{id: id, end: m.end, mark: m.writing.mark}
		records[counterKey(id)] = r.value()
	}
	return b, records
}

// settle takes in that b is on disk, or has failed.
func (c *Counters) settle(b *batch, records int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stats.Syncs++
	c.stats.Records += int64(records)
	if b.err != nil {
		c.stats.Failures++
	}
	for id, m := range b.counters {
		if m.writing.batch != b {
			continue // it was reset meanwhile, or a new window has begun
		}
		if b.err == nil {
			m.durable = m.writing.mark
		}
		m.writing = target{}
		if m.durable == 0 && m.pending.batch == nil {
			delete(c.marks, id)
		}
	}
}

// sweep drops some of the counters whose window has ended at now.
func (c *Counters) sweep(now int64) {
	old := c.forget(now)
	if len(old) == 0 {
		return
	}
	_ = c.records.Put(old) // the next start drops them; and the log is told of what cannot be written
}

// forget forgets some of the counters whose window has ended, and returns
// their records to drop.
func (c *Counters) forget(now int64) map[string][]byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	old, looked := make(map[string][]byte), 0
	for id, m := range c.marks {
		if looked++; looked > sweepCounters {
			break
		}
		if m.end <= now && m.writing.batch == nil && m.pending.batch == nil {
			delete(c.marks, id)
			old[counterKey(id)] = nil
		}
	}
	return old
}
