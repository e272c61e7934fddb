package cluster

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"
)

// resolveTimeout bounds one look-up of a seed's name.
const resolveTimeout = 2 * time.Second

// seeds are the places to look for members, and how the last look at each
// went.
type seeds struct {
	list    []string
	self    netip.AddrPort
	resolve func(ctx context.Context, host string) ([]netip.Addr, error)

	mu     sync.Mutex
	faults map[string]string
}

func newSeeds(o *MembershipOptions, self netip.AddrPort) *seeds {
	resolve := o.Resolve
	if resolve == nil {
		resolve = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	return &seeds{list: o.Join, self: self, resolve: resolve, faults: make(map[string]string)}
}

// addresses resolves every seed anew. This node's own address is left out.
func (s *seeds) addresses(ctx context.Context) []target {
	found := make([][]netip.AddrPort, len(s.list))
	var lookUps sync.WaitGroup
	for i, seed := range s.list {
		lookUps.Go(func() {
			var err error
			if found[i], err = s.lookUp(ctx, seed); err != nil {
				s.note(seed, err.Error())
			}
		})
	}
	lookUps.Wait()
	var targets []target
	for i, seed := range s.list {
		for _, ap := range found[i] {
			switch {
			case ap == s.self:
			case s.self.Addr().IsLoopback() && !ap.Addr().IsLoopback():
				s.note(seed, fmt.Sprintf("%s cannot reach this node at %s; set cluster.advertise", ap, s.self))
			default:
				targets = append(targets, target{addr: ap.String(), seed: seed})
			}
		}
	}
	return targets
}

func (s *seeds) lookUp(ctx context.Context, seed string) ([]netip.AddrPort, error) {
	host, port := seed, s.self.Port()
	if h, p, err := net.SplitHostPort(seed); err == nil {
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil {
			return nil, fmt.Errorf("has no port number in %q", seed)
		}
		host, port = h, uint16(n)
	}
	if ip, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return []netip.AddrPort{netip.AddrPortFrom(ip.Unmap(), port)}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, resolveTimeout)
	defer cancel()
	ips, err := s.resolve(ctx, host)
	if err != nil {
		return nil, fmt.Errorf("cannot be resolved: %w", err)
	}
	found := make([]netip.AddrPort, len(ips))
	for i, ip := range ips {
		found[i] = netip.AddrPortFrom(ip.Unmap(), port)
	}
	return found, nil
}

// note remembers what is wrong with a seed; empty is nothing.
func (s *seeds) note(seed, fault string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if fault == "" {
		delete(s.faults, seed)
		return
	}
	s.faults[seed] = fault
}

// trouble says what is wrong with the seeds, in the order in which they are
// configured, or is empty.
func (s *seeds) trouble() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for _, seed := range s.list {
		if fault := s.faults[seed]; fault != "" {
			if b.Len() > 0 {
				b.WriteString("; ")
			}
			fmt.Fprintf(&b, "the seed %s %s", seed, fault)
		}
	}
	return b.String()
}
