package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// volume is a directory as Kubernetes mounts a ConfigMap or a Secret: each
// file leads through the link ..data to the version in force.
type volume struct {
	t        *testing.T
	dir      string
	versions int
	links    map[string]bool // the files' names
}

// mount makes a volume of texts by the names of their files.
func mount(t *testing.T, texts map[string]string) *volume {
	t.Helper()
	v := &volume{t: t, dir: t.TempDir(), links: make(map[string]bool)}
	v.swap(texts)
	return v
}

func (v *volume) file(name string) string { return filepath.Join(v.dir, name) }

// swap puts a new version in force in one step. The links of files that come
// or go follow, as they do in Kubernetes.
func (v *volume) swap(texts map[string]string) {
	v.t.Helper()
	v.versions++
	version := fmt.Sprintf("..version-%d", v.versions)
	must := func(err error) {
		v.t.Helper()
		if err != nil {
			v.t.Fatal(err)
		}
	}
	must(os.Mkdir(v.file(version), 0o700))
	for name, text := range texts {
		must(os.WriteFile(filepath.Join(v.dir, version, name), []byte(text), 0o600))
	}
	must(os.Symlink(version, v.file("..data_tmp")))
	must(os.Rename(v.file("..data_tmp"), v.file("..data")))
	for name := range texts {
		if !v.links[name] {
			must(os.Symlink(filepath.Join("..data", name), v.file(name)))
			v.links[name] = true
		}
	}
	for name := range v.links {
		if _, stays := texts[name]; !stays {
			must(os.Remove(v.file(name)))
			delete(v.links, name)
		}
	}
}
