package cluster

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/memberlist"
)

// boot is one run of a node, as gossip knows it.
type boot struct {
	// name is unique to the boot.
	name string
	// gossip is the ip:port of its gossip.
	gossip string
	Member
}

// gossipTable is our own copy of the members, because memberlist changes its
// own while others read it. It leaves this node out.
//
// It is memberlist's EventDelegate. memberlist calls it under its lock, so
// its methods copy, signal and return. Calls after shutdown do no harm.
type gossipTable struct {
	self string
	// changed has room for one signal: something is new since the last look.
	changed chan struct{}
	// losses has room for one signal: a member has died or left.
	losses chan struct{}

	mu   sync.Mutex
	live map[string]boot
	// lost holds boots that gossip declared dead, until somebody takes them
	// off: where to look for them again after a cut.
	lost map[string]boot
	// gone holds the boots that died or left since takeGone was called last.
	gone []boot
}

func newGossipTable(self string) *gossipTable {
	return &gossipTable{
		self:    self,
		changed: make(chan struct{}, 1),
		losses:  make(chan struct{}, 1),
		live:    make(map[string]boot),
		lost:    make(map[string]boot),
	}
}

// NotifyJoin records a member that has come to life.
func (t *gossipTable) NotifyJoin(n *memberlist.Node) { t.put(n) }

// NotifyUpdate records what a member newly says of itself.
func (t *gossipTable) NotifyUpdate(n *memberlist.Node) { t.put(n) }

// NotifyLeave records that a member is dead or has left.
func (t *gossipTable) NotifyLeave(n *memberlist.Node) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if b, ok := t.live[n.Name]; ok {
		delete(t.live, n.Name)
		t.lost[n.Name] = b
		t.gone = append(t.gone, b)
		signal(t.changed)
		signal(t.losses)
	}
}

func (t *gossipTable) put(n *memberlist.Node) {
	if n.Name == t.self {
		return
	}
	m, err := decodeMeta(n.Meta)
	if err != nil {
		return // refused before it got here
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.lost, n.Name)
	t.live[n.Name] = boot{name: strings.Clone(n.Name), gossip: n.Address(), Member: m.Member}
	signal(t.changed)
}

// boots returns the live boots in a stable order.
func (t *gossipTable) boots() []boot {
	t.mu.Lock()
	defer t.mu.Unlock()
	return sortedBoots(t.live)
}

// lostBoots returns the lost boots in a stable order.
func (t *gossipTable) lostBoots() []boot {
	t.mu.Lock()
	defer t.mu.Unlock()
	return sortedBoots(t.lost)
}

// takeGone returns the boots that died or left since it was called last.
func (t *gossipTable) takeGone() []boot {
	t.mu.Lock()
	defer t.mu.Unlock()
	gone := t.gone
	t.gone = nil
	return gone
}

func sortedBoots(m map[string]boot) []boot {
	return slices.SortedFunc(maps.Values(m), func(a, b boot) int { return strings.Compare(a.name, b.name) })
}

// keepLost forgets the lost boots that keep does not want.
func (t *gossipTable) keepLost(keep func(boot) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(t.lost, func(_ string, b boot) bool { return !keep(b) })
}

// alive reports whether a live member has this id at this incarnation or above.
func (t *gossipTable) alive(id string, incarnation uint64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, b := range t.live {
		if b.ID == id && b.Incarnation >= incarnation {
			return true
		}
	}
	return false
}

// signal sends without waiting on a channel with room for one.
func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// serving picks, for each id, the boot that speaks for it. Two boots of one
// id are live together when a node restarts before its last run is declared
// dead, or by mistake. One that is active goes before one that is still
// joining, so that a newcomer under a name in use disturbs nobody; then the
// newer goes first.
func serving(boots []boot) map[string]boot {
	chosen := make(map[string]boot, len(boots))
	for _, b := range boots {
		if old, ok := chosen[b.ID]; !ok || b.before(old) {
			chosen[b.ID] = b
		}
	}
	return chosen
}

func (b boot) before(o boot) bool {
	if bj, oj := b.State == StateJoining, o.State == StateJoining; bj != oj {
		return oj
	}
	return b.Incarnation > o.Incarnation
}
