package cluster

import (
	"strings"
	"testing"

	"github.com/hashicorp/memberlist"
)

func testMeta() meta {
	return meta{protocols: [2]uint8{1, 3}, shared: 42, Member: Member{
		ID: "n1", Incarnation: 1 << 60, Address: "10.0.0.1:7382", Role: RoleClient, State: StateLeaving, Version: "v1.2.3",
	}}
}

func TestMetaFits(t *testing.T) {
	t.Parallel()
	m := testMeta()
	m.ID, m.Address, m.Version = strings.Repeat("i", maxIDBytes), strings.Repeat("a", maxAddressBytes-2)+":1", strings.Repeat("v", maxVersionBytes)
	b := m.encode()
	if len(b) > memberlist.MetaMaxSize {
		t.Errorf("the longest meta has %d bytes, gossip carries %d", len(b), memberlist.MetaMaxSize)
	}
	if got, err := decodeMeta(b); err != nil || got != m {
		t.Errorf("decoded %+v, %v", got, err)
	}
}

func TestDecodeMetaRefuses(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*meta){
		"no id":              func(m *meta) { m.ID = "" },
		"an id with a space": func(m *meta) { m.ID = "a b" },
		"a long id":          func(m *meta) { m.ID = strings.Repeat("i", maxIDBytes+1) },
		"no port":            func(m *meta) { m.Address = "10.0.0.1" },
		"an unknown role":    func(m *meta) { m.Role = "boss" },
		"an unknown state":   func(m *meta) { m.State = 0 },
		"a reversed range":   func(m *meta) { m.protocols = [2]uint8{2, 1} },
	} {
		m := testMeta()
		change(&m)
		if got, err := decodeMeta(m.encode()); err == nil {
			t.Errorf("%s: decoded as %+v", name, got)
		}
	}
	m := testMeta()
	b := m.encode()
	for n := range b {
		if _, err := decodeMeta(b[:n]); err == nil {
			t.Errorf("decoded after %d of %d bytes", n, len(b))
		}
	}
	if got, err := decodeMeta(append(b, "a later version's field"...)); err != nil || got != m {
		t.Errorf("with more at the end: %+v, %v", got, err)
	}
}

func TestMetaMustFitTheCluster(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name      string
		protocols [2]uint8
		shared    uint64
		want      string
	}{
		{"the same", [2]uint8{protocolMin, protocolMax}, 42, ""},
		{"a newer one that speaks ours", [2]uint8{protocolMax, protocolMax + 4}, 42, ""},
		{"a newer one that does not", [2]uint8{protocolMax + 1, protocolMax + 4}, 42, "too far apart"},
		{"an older one", [2]uint8{0, protocolMin - 1}, 42, "too far apart"},
		{"another identity", [2]uint8{protocolMin, protocolMax}, 43, "another identity key"},
	} {
		m := testMeta()
		m.protocols, m.shared = tc.protocols, tc.shared
		err := m.fits(42)
		if (tc.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want %q", tc.name, err, tc.want)
		}
	}
}

func FuzzMeta(f *testing.F) {
	m := testMeta()
	f.Add(m.encode())
	f.Add([]byte{metaFormat})
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := decodeMeta(b)
		if err != nil {
			return
		}
		if again, err := decodeMeta(m.encode()); err != nil || again != m {
			t.Fatalf("%+v became %+v, %v", m, again, err)
		}
	})
}
