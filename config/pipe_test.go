//go:build unix

package config

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// To open a named pipe takes until somebody writes to it.
func TestNamedPipesAreRefused(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "c.yaml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := faultText(t, Source{File: pipe}); !strings.HasPrefix(got, "FILE: cannot be read: it is a named pipe") {
		t.Errorf("got %s", got)
	}
	secret := Source{Env: []string{"MURMURATE_CLUSTER_SECRET_FILE=" + pipe}}
	if got := faultText(t, secret); !strings.Contains(got, "MURMURATE_CLUSTER_SECRET_FILE") || !strings.Contains(got, "named pipe") {
		t.Errorf("got %s", got)
	}
}

// What a shell connects, as for <(command), is read to its end.
func TestOpenPipesAreRead(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := io.WriteString(w, "log: {level: warn}"); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	file := fmt.Sprintf("/dev/fd/%d", r.Fd())
	if c := mustLoad(t, Source{File: file}); c.Log.Level != "warn" {
		t.Errorf("level %s", c.Log.Level)
	}
}
