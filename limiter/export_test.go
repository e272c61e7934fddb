package limiter

// Reserve makes room for n more slots in every shard.
func (t *Table) Reserve(n int) {
	for i := range t.shards {
		s := &t.shards[i].slots
		*s = s.rebuilt(n)
	}
}
