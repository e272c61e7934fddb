package cluster

import "github.com/murmurate/murmurate/ring"

// newView is the View that self has of the ring's members, each with its
// session. A member without one gets no peer, nor does self.
func newView(self string, role Role, r *ring.Ring, sessions map[string]Peer, clients int) *View {
	v := &View{
		Self:    self,
		Role:    role,
		Ring:    r,
		Digest:  r.Digest(),
		Clients: clients,
		peers:   make([]Peer, len(r.Members())),
	}
	for i, id := range r.Members() {
		if id != self {
			v.peers[i] = sessions[id]
		}
	}
	return v
}

// AloneView is the View of a node without any network: it owns everything.
func AloneView(self string) (*View, error) {
	r, err := ring.Build([]string{self})
	if err != nil {
		return nil, err
	}
	return newView(self, RoleOwner, r, nil, 0), nil
}
