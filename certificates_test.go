package murmurate_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/murmurate/murmurate"
	"github.com/murmurate/murmurate/internal/testcert"
)

// A cluster changes the authority of its certificates while it runs, by the
// order that SetCertificates names, and who comes later has the new ones only.
func TestAuthorityOfPeersIsReplaced(t *testing.T) {
	t.Parallel()
	oldCert, oldKey := testcert.SelfSigned(t)
	cert, key := testcert.SelfSigned(t)
	files := func(cert, key []byte) murmurate.TLSFiles {
		dir := t.TempDir()
		f := murmurate.TLSFiles{Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem"), CA: filepath.Join(dir, "cert.pem")}
		for name, text := range map[string][]byte{f.Cert: cert, f.Key: key} {
			if err := os.WriteFile(name, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return f
	}
	var cluster []*murmurate.Node
	join := func(f murmurate.TLSFiles) *murmurate.Node {
		o := murmurate.Options{Name: fmt.Sprint("n", len(cluster)), Gossip: "127.0.0.1:0", Peer: "127.0.0.1:0", TLS: f}
		if len(cluster) > 0 {
			o.Join = []string{cluster[0].GossipAddr().String()}
		}
		n := start(t, o)
		cluster = append(cluster, n)
		return n
	}
	allReached := func() bool {
		return !slices.ContainsFunc(cluster, func(n *murmurate.Node) bool {
			members := n.Members()
			if len(members) != len(cluster) {
				return true
			}
			for _, m := range members {
				if !m.Reachable {
					return true
				}
			}
			return false
		})
	}
	join(files(oldCert, oldKey))
	join(files(oldCert, oldKey))
	eventually(t, "the two nodes to reach each other", allReached)
	for _, step := range [][3][]byte{
		{oldCert, oldKey, slices.Concat(oldCert, cert)},
		{cert, key, slices.Concat(oldCert, cert)},
		{cert, key, cert},
	} {
		for _, n := range cluster {
			if err := n.SetCertificates(step[0], step[1], step[2]); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !allReached() {
		t.Error("a session has ended with its certificates")
	}
	join(files(cert, key))
	eventually(t, "the third to reach all, and to be reached", allReached)
}

func TestSetCertificatesFaults(t *testing.T) {
	t.Parallel()
	cert, key := testcert.SelfSigned(t)
	n := start(t, murmurate.Options{Alone: true})
	if err := n.SetCertificates(cert, key, cert); err == nil {
		t.Error("a node that has no certificates has got some")
	}
}
