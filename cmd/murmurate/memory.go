package main

import (
	"errors"
	"log/slog"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// limitMemory makes the garbage collector respect the memory limit of the
// container, so that a node near it collects more often instead of being
// killed. GOMEMLIMIT, if set, prevails.
func limitMemory(log *slog.Logger) {
	limit, err := memlimit.Set()
	switch {
	case err == nil:
		log.Debug("memory limit", "bytes", limit)
	case errors.Is(err, memlimit.ErrNoCgroup), errors.Is(err, memlimit.ErrCgroupsNotSupported):
	default:
		log.Warn("the container's memory limit is unknown and not respected", "error", err)
	}
}
