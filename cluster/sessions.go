package cluster

// session is the conversation with one boot of one member.
type session struct {
	boot boot
	peer Peer
	// up is whether the peer was within reach at the last look.
	up bool
}

// sessions holds one session for each live owner, by id.
type sessions struct {
	connect Connect
	byID    map[string]*session
	// generation changes whenever a session is opened or ended.
	generation int
}

// follow opens sessions to the boots in chosen that own or may own
// partitions. Those that ended are for the caller to close. A boot
// keeps its session as long as it keeps its address, whatever it says of
// itself meanwhile. Clients are not called: they call.
func (s *sessions) follow(self string, chosen map[string]boot) (opened, ended []*session) {
	for id, old := range s.byID {
		b, ok := chosen[id]
		if !ok || b.name != old.boot.name || b.Address != old.boot.Address {
			ended = append(ended, old)
			delete(s.byID, id)
			s.generation++
		}
	}
	for id, b := range chosen {
		if id == self || b.Role != RoleOwner {
			continue
		}
		if old, ok := s.byID[id]; ok {
			old.boot = b
			continue
		}
		s.byID[id] = &session{boot: b, peer: s.connect(b.Member)}
		opened = append(opened, s.byID[id])
		s.generation++
	}
	return opened, ended
}

// answers reports whether there is a session to b that is up. Gossip can
// declare a member dead that a cut has hidden, and that is within reach again.
func (s *sessions) answers(b boot) bool {
	session, ok := s.byID[b.ID]
	return ok && session.boot.name == b.name && b.State < StateLeaving && session.peer.Reachable()
}

// lost returns the boots that have come out of reach since the last look,
// but for those that are leaving.
func (s *sessions) lost() []boot {
	var lost []boot
	for _, session := range s.byID {
		was := session.up
		session.up = session.peer.Reachable()
		if was && !session.up && session.boot.State < StateLeaving {
			lost = append(lost, session.boot)
		}
	}
	return lost
}

// peers returns the sessions by id.
func (s *sessions) peers() map[string]Peer {
	peers := make(map[string]Peer, len(s.byID))
	for id, session := range s.byID {
		peers[id] = session.peer
	}
	return peers
}

// closeAll ends every session.
func (s *sessions) closeAll() {
	for id, session := range s.byID {
		session.peer.Close()
		delete(s.byID, id)
	}
}
