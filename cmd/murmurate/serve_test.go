package main

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/murmurate/murmurate/config"
)

// TestSignalWhileStarting: a node that still waits for its seeds ends at
// once, and without having said that it is there.
func TestSignalWhileStarting(t *testing.T) {
	t.Parallel()
	cfg := config.Default()
	cfg.HTTP.Listen, cfg.Cluster.Gossip, cfg.Cluster.Peer = "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0"
	cfg.Cluster.Join = []string{"127.0.0.1:1"} // nobody answers there, which takes three seconds to accept
	var stdout, stderr strings.Builder
	sh := &shell{stdout: &stdout, stderr: &stderr}
	signals := make(chan os.Signal, 1)
	signals <- syscall.SIGTERM
	done := make(chan error, 1)
	go func() { done <- sh.serve(t.Context(), cfg, served{signals: signals}) }()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it did not end")
	}
	if stdout.Len() > 0 {
		t.Errorf("it said %q", stdout.String())
	}
	if !strings.Contains(stderr.String(), "ended while starting") {
		t.Errorf("the log: %s", stderr.String())
	}
}
