package cluster

import (
	"context"
	"log"
	"log/slog"
	"strings"
)

// newGossipLogger returns a logger for memberlist whose lines end in to:
// their level prefix becomes the level, what can be said in plain words is,
// and what repeats is thinned out.
func newGossipLogger(to *slog.Logger) *log.Logger {
	return log.New(&gossipLog{to: to.With("component", "gossip")}, "", 0)
}

// gossipLog is the io.Writer behind memberlist's logger. It gets one line
// for each Write.
type gossipLog struct {
	to   *slog.Logger
	seen throttle
}

// gossipLevels maps memberlist's prefixes. What it calls an error is at most
// a warning here: gossip recovers by itself, and anybody can send garbage.
var gossipLevels = map[string]slog.Level{
	"[DEBUG]": slog.LevelDebug,
	"[INFO]":  slog.LevelDebug,
	"[WARN]":  slog.LevelDebug,
	"[ERR]":   slog.LevelWarn,
	"[ERROR]": slog.LevelWarn,
}

// plainWords says what memberlist's lines about foreign nodes mean.
var plainWords = []struct{ fragment, words string }{
	{"unacceptable label", "refused gossip from a node with another cluster.label, or from something that is no node"},
	{"could decrypt the message", "refused gossip from a node with another cluster.secret"},
	{"is encrypted and encryption is not configured", "refused gossip from a node that has a cluster.secret, which this node has not"},
	{"remote state is not encrypted", "refused gossip from a node without cluster.secret, which this node has"},
	{"decrypt packet failed", "refused gossip from a node with another cluster.secret or none, or from something that is no node"},
	{"failed push/pull merge", "refused to merge with another cluster"},
	{"failed to receive", unreadable},
	{"failed to decode", unreadable},
	{"failed to decompress", unreadable},
	{"failed to read remote state", unreadable},
}

const unreadable = "refused gossip that could not be read"

// Write logs one line of memberlist's.
func (g *gossipLog) Write(line []byte) (int, error) {
	level, text := splitGossipLine(strings.TrimSpace(string(line)))
	if strings.Contains(text, refusalMark) {
		level = slog.LevelDebug // logged when it was refused
	}
	if !g.to.Enabled(context.Background(), level) {
		return len(line), nil
	}
	message, key := text, kindOf(text)
	for _, p := range plainWords {
		if strings.Contains(strings.ToLower(text), p.fragment) {
			message, key = p.words, p.words+from(text)
			break
		}
	}
	if level == slog.LevelDebug || g.seen.first(key) {
		g.to.Log(context.Background(), level, message, "line", text)
	}
	return len(line), nil
}

func splitGossipLine(line string) (slog.Level, string) {
	prefix, text, found := strings.Cut(line, " ")
	level, known := gossipLevels[prefix]
	if !found || !known {
		return slog.LevelWarn, line
	}
	return level, strings.TrimPrefix(text, "memberlist: ")
}

// kindOf is the part of a line that stays when it repeats about something
// else: everything before the first digit or quote.
func kindOf(text string) string {
	if i := strings.IndexAny(text, `0123456789"'`); i > 0 {
		return text[:i]
	}
	return text
}

// from is the host that memberlist names at the end of a line, without its
// port, which differs in every line.
func from(text string) string {
	_, addr, _ := strings.Cut(text, "from=")
	return seedHost(addr)
}
