package transport

import (
	"crypto/tls"
	"errors"
	"strings"
	"testing"
	"time"
)

func secretTLS(t testing.TB, secret string) *tls.Config {
	t.Helper()
	config, err := SecretTLS(secret)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// TestStrangersAreRefused: both sides say why, nobody becomes reachable, and
// nothing is counted.
func TestStrangersAreRefused(t *testing.T) {
	t.Parallel()
	other := node("client")
	other.Cluster = 8
	for name, test := range map[string]struct {
		server             ServerOptions
		client             ClientOptions
		atServer, atClient string
	}{
		"another cluster":  {client: ClientOptions{Self: other}, atServer: "belongs to another cluster", atClient: "another cluster"},
		"itself":           {client: ClientOptions{Self: node("server")}, atServer: "dialled itself", atClient: "dialled itself"},
		"another peer":     {client: ClientOptions{Peer: "n9"}, atServer: "but this address belongs to", atClient: "this address belongs to"},
		"another secret":   {server: ServerOptions{TLS: secretTLS(t, "a")}, client: ClientOptions{TLS: secretTLS(t, "b")}, atServer: errOurSecret.Error(), atClient: errPeerSecret.Error()},
		"only here secret": {client: ClientOptions{TLS: secretTLS(t, "a")}, atServer: errPeerTLS.Error(), atClient: errPeerPlain.Error()},
		"only there":       {server: ServerOptions{TLS: secretTLS(t, "a")}, atServer: errPeerPlain.Error(), atClient: "only TLS is spoken here"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var serverLog, clientLog logBuffer
			count := &counter{}
			test.server.Handler, test.server.Logger = count, serverLog.logger()
			s := startServer(t, test.server)
			test.client.Address, test.client.Logger = s.Addr().String(), clientLog.logger()
			c := startClient(t, test.client)
			eventually(t, "a reason at the client", func() bool {
				return c.LastError() != nil && strings.Contains(c.LastError().Error(), test.atClient)
			})
			eventually(t, "a line at the server", func() bool { return strings.Contains(serverLog.String(), test.atServer) })
			eventually(t, "a line at the client", func() bool { return strings.Contains(clientLog.String(), test.atClient) })
			if _, err := ask(c, time.Minute, call(1, 1)); !errors.Is(err, ErrDown) || c.Reachable() || count.total() != 0 {
				t.Errorf("%v, reachable %v, %d charged", err, c.Reachable(), count.total())
			}
		})
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		wanted string
		change func(*hello)
		want   reason
	}{
		{"welcome", "", func(*hello) {}, 0},
		{"welcome by name", "n2", func(h *hello) { h.wanted = "n1" }, 0},
		{"newer, but not too new", "", func(h *hello) { h.max = 9 }, 0},
		{"too new", "", func(h *hello) { h.min, h.max = maxProtocol+1, 9 }, reasonVersion},
		{"too old", "", func(h *hello) { h.min, h.max = 0, 0 }, reasonVersion},
		{"another cluster", "", func(h *hello) { h.Cluster++ }, reasonCluster},
		{"ourselves", "", func(h *hello) { h.ID = "n1" }, reasonSelf},
		{"another node of our name", "", func(h *hello) { h.ID, h.Incarnation = "n1", 9 }, 0},
		{"not whom we dialled", "n3", func(*hello) {}, reasonOtherPeer},
		{"not who was dialled", "", func(h *hello) { h.wanted = "n3" }, reasonOtherPeer},
	} {
		h := newHello(node("n2"), "")
		test.change(h)
		var got reason
		if r := judge(node("n1"), h, test.wanted); r != nil {
			got = r.reason
		}
		if got != test.want {
			t.Errorf("%s: reason %d, want %d", test.name, got, test.want)
		}
	}
}
