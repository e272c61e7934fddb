package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/murmurate/murmurate/config"
)

// lookEvery is how often a daemon looks whether its configuration file has
// changed. What it sees twice in a row it believes.
const lookEvery = time.Second

// follower puts a changed configuration in force.
type follower struct {
	*daemon
	watch  *config.Watch
	level  *slog.LevelVar
	logged string // the faults that were logged last
}

// follow reloads the configuration when its file has changed and whenever
// hangups delivers, until the daemon drains. It is called once.
func (d *daemon) follow(watch *config.Watch, level *slog.LevelVar, hangups <-chan os.Signal) {
	ctx, cancel := context.WithCancel(context.Background())
	d.reloads.cancel, d.reloads.done = cancel, make(chan struct{})
	f := &follower{daemon: d, watch: watch, level: level}
	go func() {
		defer close(d.reloads.done)
		look := time.NewTicker(lookEvery)
		defer look.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-look.C:
				if watch.Changed() {
					f.reload("the file has changed")
				}
			case s := <-hangups:
				f.hangup(s)
			}
		}
	}()
}

func (f *follower) hangup(s os.Signal) {
	if !f.watch.HasFile() {
		f.log.Warn("nothing to reload: the node runs without a configuration file, or reads it from a pipe", "signal", s.String())
		return
	}
	f.reload(s.String())
}

// reload reads the configuration, and puts it in force if all of it is sound.
func (f *follower) reload(cause string) {
	next, err := f.watch.Load()
	if err == nil {
		err = f.apply(next)
	}
	if err != nil {
		f.reloads.failed(err)
		f.complain(cause, err)
		return
	}
	f.logged = ""
	f.reloads.succeeded(time.Now())
	f.log.Info("configuration reloaded", "cause", cause, "policies", len(next.Policies))
	logWarnings(f.log, next)
	if names := f.cfg.NeedRestart(next); len(names) > 0 {
		f.log.Warn("settings that differ take effect after a restart", "settings", strings.Join(names, ", "))
	}
}

// apply changes what can be changed while the node runs.
func (f *follower) apply(next *config.Config) error {
	set, err := next.PolicySet()
	if err != nil {
		return err
	}
	f.metrics.AddPolicies(set.Names()...) // before the first decision by them
	if err := f.node.SetPolicies(set); err != nil {
		return err
	}
	f.level.Set(logLevel(next.Log))
	return nil
}

// complain logs every fault, unless they are those of the last time.
func (f *follower) complain(cause string, err error) {
	const message = "configuration not reloaded: the one before it stays in force"
	faults, ok := errors.AsType[*config.Faults](err)
	if !ok {
		f.log.Error(message, "cause", cause, "error", err)
		return
	}
	f.log.Error(message, "cause", cause, "faults", len(faults.List))
	if err.Error() == f.logged {
		return
	}
	f.logged = err.Error()
	for _, fault := range faults.List {
		logFault(f.log, slog.LevelError, "fault in the configuration", fault)
	}
}
