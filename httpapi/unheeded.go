package httpapi

import (
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// unheededEvery is how often the log is told of gateways that are not heeded.
const unheededEvery = time.Minute

// unheeded counts the requests of gateways that name a client's address in
// vain, and tells the log: all clients of such a gateway share its own address,
// and nothing else would show it.
type unheeded struct {
	client *ClientAddress
	log    *slog.Logger

	mu      sync.Mutex
	logged  time.Time // zero: never
	skipped uint64    // requests since
}

// note looks at a request of a gateway.
func (u *unheeded) note(r *http.Request) {
	fault, peer := u.client.inVain(r)
	if fault == "" {
		return
	}
	u.client.unheeded.Add(1)
	skipped, ok := u.due(time.Now())
	if !ok {
		return
	}
	attrs := []any{"more_since_last_line", skipped}
	if peer.IsLoopback() || peer.IsPrivate() { // of a machine of the operator's, and of no person
		attrs = append(attrs, "gateway", peer)
	}
	u.log.WarnContext(r.Context(), fault, attrs...)
}

// due reports whether a line may be written, and how many were left out since
// the last.
func (u *unheeded) due(now time.Time) (skipped uint64, ok bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.logged.IsZero() && now.Sub(u.logged) < unheededEvery {
		u.skipped++
		return 0, false
	}
	skipped, u.skipped, u.logged = u.skipped, 0, now
	return skipped, true
}

// inVain says why the client's address that r names does not count, and whose
// request r is. It is empty if r names none, or one that does count.
func (c *ClientAddress) inVain(r *http.Request) (fault string, peer netip.Addr) {
	other := forwarded.name
	if c.header.name == other {
		other = xForwardedFor.name
	}
	named, elsewhere := len(r.Header[c.header.name]) > 0, len(r.Header[other]) > 0
	if !named && !elsewhere {
		return "", peer
	}
	peer, ok := parseNode(r.RemoteAddr)
	switch {
	case !ok:
		return "", peer // such requests are counted as those without an address
	case !c.trusts(peer):
		return "a gateway names the addresses of its clients, and is not in http.trusted_proxies: they all share the gateway's own", peer
	case !named:
		return "a gateway names the addresses of its clients in " + other + ", and http.client_ip_header is another: they all share the gateway's own", peer
	}
	return "", peer
}
