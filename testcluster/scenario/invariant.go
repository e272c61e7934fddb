package scenario

// invariant is something that holds in every run. run.mu is held while its
// methods are called. An error is a breach.
type invariant interface {
	// begun notes a call that is about to be made.
	begun(*call)
	// decided looks at a call that has ended.
	decided(*call) error
	// looked looks at the cluster, after every step and every so often while
	// time passes.
	looked() error
}

// newInvariants are those that hold today; health watches I13.
func (r *run) newInvariants() []invariant {
	return []invariant{
		&answers{run: r},
		newExact(r),
		newShares(r),
		&charged{run: r},
		&oneOwner{run: r},
		&forwardedOnce{run: r},
	}
}

// unconcerned is for invariants to embed that do not look everywhere.
type unconcerned struct{}

func (unconcerned) begun(*call)         {}
func (unconcerned) decided(*call) error { return nil }
func (unconcerned) looked() error       { return nil }
