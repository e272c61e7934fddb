package murmurate

import "context"

// Kill ends the node's listeners and sessions at once, without a word to the
// others.
func (n *Node) Kill() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	n.members.Close()
	_ = n.peers.Close(ctx)
}
