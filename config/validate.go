package config

import (
	"fmt"
	"slices"
	"time"
)

// problem is a fault whose place is not known yet.
type problem struct {
	path, detail string
	other        string // the path of what it clashes with, if anything
}

// validator judges the values of a Config, alone and against each other.
type validator struct {
	*Config
	// origin knows which values could not be read. Nothing is concluded from
	// such a value.
	*origin
	files    *files
	problems []problem
}

// problems returns everything that is wrong with the values of c.
func (c *Config) problems(o *origin, f *files) []problem {
	v := &validator{Config: c, origin: o, files: f}
	v.node()
	v.http()
	v.cluster()
	v.certificates()
	v.secrets()
	v.listeners()
	v.limiter()
	v.log()
	_, faults := c.policies(o)
	for _, f := range faults {
		if !v.unsound(f.Field) {
			v.problems = append(v.problems, problem{f.Field, f.Detail, f.Other})
		}
	}
	return v.problems
}

func (v *validator) report(path, format string, args ...any) {
	if !v.unsound(path) {
		v.problems = append(v.problems, problem{path: path, detail: fmt.Sprintf(format, args...)})
	}
}

// sound reports whether conclusions may be drawn from all of paths.
func (v *validator) sound(paths ...string) bool { return !slices.ContainsFunc(paths, v.unsound) }

// oneOf reports a value that is none of choices.
func (v *validator) oneOf(path, value string, choices ...string) {
	if err := choose(value, choices...); err != nil {
		v.report(path, "%v", err)
	}
}

func (v *validator) node() {
	if name := v.Node.Name; name != "" && (len(name) > maxNodeName || !hostName.MatchString(name)) {
		v.report("node.name", "must be at most %d letters, digits, '.', '_' or '-', beginning with a letter or digit, got %q",
			maxNodeName, printable(name))
	}
}

// maxNodeName keeps a node's gossip metadata within memberlist's 512 bytes.
const maxNodeName = 128

func (v *validator) headers() {
	list := v.HTTP.Headers
	for i, dialect := range list {
		path := fmt.Sprintf("http.headers[%d]", i)
		v.oneOf(path, dialect, dialects...)
		switch other := func(d string) bool { return d != noDialect }; {
		case slices.Index(list, dialect) < i:
			v.report(path, "%q is in the list already", printable(dialect))
		case dialect == noDialect && slices.ContainsFunc(list, other):
			v.report(path, "%q stands alone: remove it, or all the others", noDialect)
		}
	}
	v.oneOf("http.retry_after", v.HTTP.RetryAfter, retryAfterForms...)
}

func (v *validator) http() {
	v.headers()
	v.clients()
	tls := v.HTTP.TLS
	switch {
	case tls.Cert == "" && tls.Key != "":
		v.report("http.tls.cert", "is required beside key")
	case tls.Key == "" && tls.Cert != "":
		v.report("http.tls.key", "is required beside cert")
	case tls.Cert == "" && tls.ClientCA != "":
		v.report("http.tls.client_ca", "needs cert and key: client certificates are only asked for over TLS")
	}
}

// mostKeys bounds limiter.max_keys.
const mostKeys = 1_000_000_000

func (v *validator) limiter() {
	if n := v.Limiter.MaxKeys; n < 1 || n > mostKeys {
		v.report("limiter.max_keys", "must be 1 to %d", mostKeys)
	}
}

func (v *validator) log() {
	v.oneOf("log.level", v.Log.Level, logLevels...)
	v.oneOf("log.format", v.Log.Format, logFormats...)
}

// Bounds of cluster.deadline.
const (
	minDeadline   = time.Millisecond
	maxDeadline   = 10 * time.Second
	minEvictAfter = time.Second
)

// maxLabel is memberlist's bound on a label, in bytes.
const maxLabel = 255
