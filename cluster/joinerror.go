package cluster

import "strings"

// joinFaults says what a failed attempt to join means, by what its error
// contains in lower case. memberlist keeps causes only as text. The first
// that fits counts.
var joinFaults = []struct{ fragment, words string }{
	{strings.ToLower(otherShared), otherShared},
	{"versions are too far apart", "runs a version too far from this node's"},
	{"could decrypt the message", "has another cluster.secret"},
	{"is encrypted and encryption is not configured", "has a cluster.secret, which this node has not"},
	{"remote state is not encrypted", "has no cluster.secret, which this node has"},
	{"connection refused", "refuses the connection: nothing listens there"},
	{"timeout", "does not answer"},
	{"eof", closedUnanswered},
	{"connection reset", closedUnanswered},
	{"broken pipe", closedUnanswered},
	{"closed pipe", closedUnanswered},
}

const closedUnanswered = "hangs up without an answer: it has another cluster.label, or is not a gossip port"

// explainJoin says in plain words why a seed could not be joined.
func explainJoin(err error) string {
	text := strings.ToLower(err.Error())
	for _, f := range joinFaults {
		if strings.Contains(text, f.fragment) {
			return f.words
		}
	}
	return "cannot be joined: " + strings.Join(strings.Fields(err.Error()), " ")
}
