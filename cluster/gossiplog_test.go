package cluster

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestGossipLog(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ line, want string }{
		{"[ERR] memberlist: Push/Pull with n2 failed: EOF", `level=WARN msg="Push/Pull with n2 failed: EOF"`},
		{"[WARN] memberlist: Refuting a suspect message (from: n2)", "level=DEBUG"},
		{"[DEBUG] memberlist: Stream connection from=10.0.0.1:1", "level=DEBUG"},
		{"no prefix at all", `level=WARN msg="no prefix at all"`},
		{`[ERR] memberlist: discarding stream with unacceptable label "x": from=10.0.0.1:1`, "another cluster.label"},
		{"[ERR] memberlist: Decrypt packet failed: no installed keys could decrypt the message from=10.0.0.1:1", "another cluster.secret"},
		{"[ERR] memberlist: Failed push/pull merge: " + refusalMark + " 10.0.0.1:1", "level=DEBUG"},
	} {
		var out logRecorder
		newGossipLogger(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))).Print(tc.line)
		if !strings.Contains(out.String(), tc.want) {
			t.Errorf("%s\nis logged as %s\nwant %q", tc.line, &out, tc.want)
		}
	}
}

func TestGossipLogIsThinnedOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out logRecorder
		logger := newGossipLogger(slog.New(slog.NewTextHandler(&out, nil)))
		for range 100 {
			logger.Printf("[ERR] memberlist: Decrypt packet failed: no installed keys could decrypt the message from=10.0.0.1:%d", time.Now().Nanosecond())
			logger.Print("[ERR] memberlist: Decrypt packet failed: no installed keys could decrypt the message from=10.0.0.2:1")
			time.Sleep(time.Second)
		}
		if n := out.matching("cluster.secret"); n != 4 {
			t.Errorf("%d lines in 100 s about two hosts, want one a minute for each:\n%s", n, &out)
		}
	})
}

func TestThrottleIsBounded(t *testing.T) {
	t.Parallel()
	var th throttle
	for i := range 10 * maxThrottled {
		th.first(string(rune('a' + i)))
	}
	if n := len(th.last); n > maxThrottled {
		t.Errorf("remembers %d keys", n)
	}
}
