package cluster

import "fmt"

// State is where a member is in its life. At one incarnation it only moves
// forward: of two words on one boot of a node, the later state is the newer.
// The numbers travel between nodes: the list is closed and only appended to.
// The zero value is not a state.
type State uint8

const (
	// StateJoining gossips and does not own partitions yet.
	StateJoining State = 1 + iota
	// StateActive owns partitions, unless its role is client.
	StateActive
	// StateLeaving is alive and owns nothing any more.
	StateLeaving
	// StateLeft has gone on purpose.
	StateLeft
	// StateEvicted was removed by the others.
	StateEvicted
)

var stateNames = [...]string{
	StateJoining: "joining",
	StateActive:  "active",
	StateLeaving: "leaving",
	StateLeft:    "left",
	StateEvicted: "evicted",
}

// States lists every state in order.
func States() []State {
	return []State{StateJoining, StateActive, StateLeaving, StateLeft, StateEvicted}
}

// String returns the name used in JSON and in logs, such as "active".
func (s State) String() string {
	if s.known() {
		return stateNames[s]
	}
	return fmt.Sprintf("state(%d)", uint8(s))
}

func (s State) known() bool { return s >= StateJoining && s <= StateEvicted }

// gone reports whether a member in this state will not come back at the same
// incarnation.
func (s State) gone() bool { return s >= StateLeft }
