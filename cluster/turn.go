package cluster

// turn is a lock that may be held while its holder waits for time to pass. A
// sync.Mutex may not where tests run on virtual time (testing/synctest): time
// stands still while somebody waits for one.
type turn chan struct{}

func newTurn() turn { return make(turn, 1) }

func (t turn) Lock() { t <- struct{}{} }

func (t turn) Unlock() { <-t }
