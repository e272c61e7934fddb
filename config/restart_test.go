package config

import (
	"reflect"
	"slices"
	"testing"
	"time"
)

// Every setting needs a restart, or is listed here.
func TestNeedRestart(t *testing.T) {
	t.Parallel()
	for _, s := range settings() {
		next := Default()
		change(t, reflect.ValueOf(next).Elem().FieldByIndex(s.index))
		var want []string
		if s.path != "log.level" && s.path != "policies_dir" {
			want = []string{s.path}
		}
		if got := Default().NeedRestart(next); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", s.path, got, want)
		}
	}
	next := Default()
	next.Policies, next.PoliciesDir, next.Log.Level = nil, "policies", "debug"
	if got := Default().NeedRestart(next); got != nil {
		t.Errorf("policies and level: %q, want none", got)
	}
}

// change makes v another value.
func change(t *testing.T, v reflect.Value) {
	t.Helper()
	switch current := v.Interface().(type) {
	case string:
		v.SetString(current + "x")
	case bool:
		v.SetBool(!current)
	case int:
		v.SetInt(int64(current + 1))
	case time.Duration:
		v.SetInt(int64(current + 1))
	case []string:
		v.Set(reflect.ValueOf([]string{"x"}))
	default:
		t.Fatalf("no change for a %T", current)
	}
}

// With TLS before and after, which files it is made of can change.
func TestCertificatesNeedNoRestart(t *testing.T) {
	t.Parallel()
	server, peer := ServerTLS{Cert: "c", Key: "k"}, PeerTLS{Cert: "c", Key: "k", CA: "a"}
	otherServer, otherPeer := ServerTLS{Cert: "d", Key: "l", ClientCA: "b"}, PeerTLS{Cert: "d", Key: "l", CA: "b"}
	for _, c := range []struct {
		name               string
		server, nextServer ServerTLS
		peer, nextPeer     PeerTLS
		want               []string
	}{
		{"other files", server, otherServer, peer, otherPeer, nil},
		{"on", ServerTLS{}, server, PeerTLS{}, peer, []string{"http.tls.cert", "http.tls.key", "cluster.tls.cert", "cluster.tls.key", "cluster.tls.ca"}},
		{"off", server, ServerTLS{}, peer, PeerTLS{}, []string{"http.tls.cert", "http.tls.key", "cluster.tls.cert", "cluster.tls.key", "cluster.tls.ca"}},
	} {
		was, next := Default(), Default()
		was.HTTP.TLS, was.Cluster.TLS, next.HTTP.TLS, next.Cluster.TLS = c.server, c.peer, c.nextServer, c.nextPeer
		if got := was.NeedRestart(next); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
