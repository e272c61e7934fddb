package cluster

import (
	"encoding/binary"
	"time"

	"github.com/murmurate/murmurate/limiter"
)

const (
	// saveAtOnce bounds the records of one write.
	saveAtOnce = 1000
	// saveAgain is when a write that has failed is tried again.
	saveAgain = time.Second
	// floorKey is the key of the floor in the store; those of records have 16
	// bytes.
	floorKey = "floor"
)

func storeKey(s limiter.Subject) string { return string(appendSubject(nil, s)) }

// storeValue is a message about one record, behind the wall clock's time in
// Unix milliseconds (8 bytes) as of which it is true.
func storeValue(s *saidOverride, now time.Time) []byte {
	b := binary.BigEndian.AppendUint64(nil, uint64(max(0, now.UnixMilli())))
	return appendOverride(append(b, overrideFormat), s)
}

// load takes up what was saved, as it is by now.
func (m *Overrides) load() {
	now := time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	var stale []limiter.Subject
	for key, value := range m.o.Saved {
		if key == floorKey {
			continue
		}
		said, err := saved(value, now)
		if err != nil {
			m.o.Logger.Warn("a saved override cannot be read, and is not in force", "error", err)
			continue
		}
		for _, s := range said {
			if s.ended && s.age >= endedLife {
				m.floor = max(m.floor, s.counter)
				stale = append(stale, s.subject)
			}
		}
		m.hear(said, now)
	}
	clear(m.unsaved)
	for _, s := range stale {
		m.mark(s)
	}
	if floor := m.o.Saved[floorKey]; len(floor) == 8 {
		m.floor = max(m.floor, binary.BigEndian.Uint64(floor))
	}
	m.counter = max(m.counter, m.floor)
	m.o.Saved = nil
}

// saved reads what storeValue wrote, which was some time ago. A wall clock that
// was set back lets no time go by.
func saved(value []byte, now time.Time) ([]saidOverride, error) {
	d := decoder{b: value}
	written := time.UnixMilli(int64(d.uint64() & (1<<62 - 1)))
	said, err := decodeOverrides(d.b)
	elapsed := min(max(0, now.Sub(written)), maxOverrideTime)
	for i := range said {
		said[i].elapse(elapsed)
	}
	return said, err
}

// mark has the record of subject saved. The caller holds mu.
func (m *Overrides) mark(subject limiter.Subject) {
	if m.o.Store != nil {
		m.unsaved[subject] = struct{}{}
		signal(m.dirty)
	}
}

// save writes what was heard from others, which does not wait for the disk,
// until the node closes.
func (m *Overrides) save() {
	for {
		select {
		case <-m.closing:
			return
		case <-m.dirty:
		}
		more, err := m.flush()
		if err != nil {
			m.o.Logger.Error("overrides that were set on other nodes cannot be saved; they hold until this node ends", "error", err)
			select {
			case <-m.closing:
				return
			case <-time.After(saveAgain):
			}
		}
		if more {
			signal(m.dirty)
		}
	}
}

// flush saves some of what is unsaved, and reports whether there is more.
func (m *Overrides) flush() (more bool, err error) {
	m.saving.Lock()
	defer m.saving.Unlock()
	records, subjects := m.takeUnsaved()
	if len(subjects) > 0 {
		err = m.o.Store.Put(records)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil {
		for _, s := range subjects {
			m.unsaved[s] = struct{}{}
		}
	}
	return len(m.unsaved) > 0, err
}

// takeUnsaved are records to be written, and whose they are.
func (m *Overrides) takeUnsaved() (records map[string][]byte, subjects []limiter.Subject) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	records = map[string][]byte{floorKey: binary.BigEndian.AppendUint64(nil, m.floor)}
	for subject := range m.unsaved {
		if len(subjects) == saveAtOnce {
			break
		}
		subjects = append(subjects, subject)
		delete(m.unsaved, subject)
		records[storeKey(subject)] = nil
		if r := m.records[subject]; r != nil {
			s := r.say(subject, now)
			records[storeKey(subject)] = storeValue(&s, now)
		}
	}
	return records, subjects
}
