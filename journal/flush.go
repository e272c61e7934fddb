package journal

import (
	"time"

	"go.etcd.io/bbolt"

	"github.com/murmurate/murmurate/limiter"
)

const (
	// sweepEvery is how often some records are looked at, to drop those whose
	// window has ended.
	sweepEvery = time.Second
	// sweepRecords is how many they are.
	sweepRecords = 4096
)

// flush writes batches, one at a time: what is asked for while one is written
// goes into the next. So the number of waits for the disk does not grow with
// the number of calls.
func (c *Counters) flush() {
	defer close(c.ended)
	sweep := time.NewTicker(sweepEvery)
	defer sweep.Stop()
	var from []byte
	for {
		select {
		case <-c.wake:
			c.writeNext()
		case <-sweep.C:
			from = c.sweep(from, time.Now().UnixNano())
		case <-c.closed:
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
	b.err = c.db.Update(func(tx *bbolt.Tx) error {
		bucket := tx.Bucket(counterBucket)
		for i := range records {
			if err := records[i].put(bucket); err != nil {
				return err
			}
		}
		return nil
	})
	c.settle(b, len(records))
	close(b.done)
}

// take begins to write what is gathered.
func (c *Counters) take() (*batch, []counter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.next
	c.next = newBatch()
	records := make([]counter, 0, len(b.counters))
	for id, m := range b.counters {
		if m.pending.batch != b {
			continue // a new window has begun, and asked for more in another batch
		}
		m.writing, m.pending = m.pending, target{}
		records = append(records, counter{id: id, end: m.end, mark: m.writing.mark})
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
		c.log.Error("durable counters could not be written; checks that need them fail", "counters", records, "error", b.err)
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

// sweep drops some of the records whose window has ended at now, beginning
// with the key from. It returns where to go on.
func (c *Counters) sweep(from []byte, now int64) (next []byte) {
	var old [][]byte
	err := c.db.View(func(tx *bbolt.Tx) error {
		cursor := tx.Bucket(counterBucket).Cursor()
		key, value := cursor.Seek(from)
		for range sweepRecords {
			if key == nil {
				break
			}
			if r, ok := decodeCounter(key, value); !ok || r.end <= now && c.forget(r.id, now) {
				old = append(old, append([]byte(nil), key...))
			}
			key, value = cursor.Next()
		}
		next = append([]byte(nil), key...)
		return nil
	})
	if err == nil && len(old) > 0 {
		err = c.db.Update(func(tx *bbolt.Tx) error {
			for _, key := range old {
				if err := tx.Bucket(counterBucket).Delete(key); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err != nil {
		c.log.Error("old durable counters could not be dropped", "error", err)
	}
	return next
}

// forget drops a mark whose window has ended, and reports whether it is gone.
func (c *Counters) forget(id limiter.CounterID, now int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.marks[id]
	switch {
	case m == nil:
		return true
	case m.end > now || m.writing.batch != nil || m.pending.batch != nil:
		return false
	}
	delete(c.marks, id)
	return true
}
