package main

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/murmurate/murmurate/config"
)

// newLogger writes to w as c says. The level can be changed later.
func newLogger(w io.Writer, c config.Log) (*slog.Logger, *slog.LevelVar) {
	level := new(slog.LevelVar)
	level.Set(logLevel(c))
	options := &slog.HandlerOptions{Level: level}
	if c.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, options)), level
	}
	return slog.New(slog.NewTextHandler(w, options)), level
}

func logLevel(c config.Log) slog.Level {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.Level)); err != nil {
		return slog.LevelInfo // config has checked it
	}
	return level
}

// logFault says what is the matter with a configuration, and where.
func logFault(log *slog.Logger, level slog.Level, message string, f config.Fault) {
	var attrs []slog.Attr
	if f.File != "" {
		attrs = append(attrs, slog.String("file", f.File))
	}
	if f.Line > 0 {
		attrs = append(attrs, slog.Int("line", f.Line))
	}
	if f.Var != "" {
		attrs = append(attrs, slog.String("variable", f.Var))
	}
	if f.Path != "" {
		attrs = append(attrs, slog.String("setting", f.Path))
	}
	log.LogAttrs(context.Background(), level, message, append(attrs, slog.String("detail", f.Detail))...)
}

// logWarnings tells of what works in cfg and is likely not meant, and of
// certificates that are not valid at now.
func logWarnings(log *slog.Logger, cfg *config.Config, now time.Time) {
	for _, w := range cfg.Warnings() {
		logFault(log, slog.LevelWarn, "the configuration is likely not what is meant", w)
	}
	logCertificates(log, cfg, now)
}

// logCertificates tells of certificates in cfg that are not valid at now.
func logCertificates(log *slog.Logger, cfg *config.Config, now time.Time) {
	for _, w := range cfg.CertificateWarnings(now) {
		logFault(log, slog.LevelWarn, "the certificate is not valid now", w)
	}
}
