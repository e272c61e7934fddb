package cluster

import "context"

// remember takes in the placement of an earlier run.
func (m *Membership) remember(state []byte) {
	if len(state) == 0 {
		return
	}
	entries, err := decodePlacement(m.o.Shared, state)
	if err == nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		err = m.apply(entries)
	}
	if err != nil {
		m.log.Warn("the members of the last run are not known, so this node takes their keys for its own until it finds them", "error", err)
	}
}

// saver hands every new placement to Save.
func (m *Membership) saver(ctx context.Context) {
	if m.o.Save == nil {
		return
	}
	for {
		select {
		case <-m.saving:
			m.o.Save(m.State())
		case <-ctx.Done():
			return
		}
	}
}
