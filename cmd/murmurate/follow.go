package main

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/murmurate/murmurate/config"
)

// lookEvery is how often a daemon looks whether its configuration, or a file
// that belongs to it, has changed. What it sees twice in a row it believes.
const lookEvery = time.Second

// follower puts a changed configuration in force.
type follower struct {
	*daemon
	watch   *config.Watch
	level   *slog.LevelVar
	inForce *config.Config
	logged  string // the faults that were logged last
}

// follow reloads the configuration when a file of it has changed and whenever
// hangups delivers, until the daemon drains. It is called once.
func (d *daemon) follow(watch *config.Watch, level *slog.LevelVar, hangups <-chan os.Signal) {
	ctx, cancel := context.WithCancel(context.Background())
	d.reloads.cancel, d.reloads.done = cancel, make(chan struct{})
	f := &follower{daemon: d, watch: watch, level: level, inForce: d.cfg}
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
					f.reload("a file has changed")
				}
			case s := <-hangups:
				f.hangup(s)
			}
		}
	}()
}

func (f *follower) hangup(s os.Signal) {
	if !f.watch.HasFiles() {
		f.log.Warn("nothing to reload: the node runs without files, or reads its configuration from a pipe", "signal", s.String())
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
		f.renewAlone()
		return
	}
	f.inForce, f.logged = next, ""
	f.reloads.succeeded(time.Now())
	f.log.Info("configuration reloaded", "cause", cause, "policies", len(next.Policies))
	logWarnings(f.log, next, time.Now())
	if names := f.cfg.NeedRestart(next); len(names) > 0 {
		f.log.Warn("settings that differ take effect after a restart", "settings", strings.Join(names, ", "))
	}
}

// apply changes what can be changed while the node runs, or nothing if there
// is an error.
func (f *follower) apply(next *config.Config) error {
	if next.BuiltIn() && !f.inForce.BuiltIn() {
		return errPoliciesGone
	}
	set, err := next.PolicySet()
	if err != nil {
		return err
	}
	if err := f.renew(next); err != nil {
		return err
	}
	f.metrics.AddPolicies(set.Names()...) // before the first decision by them
	if err := f.node.SetPolicies(set); err != nil {
		return err
	}
	f.level.Set(logLevel(next.Log))
	return nil
}

// errPoliciesGone keeps a file that is empty, or only half written, from taking
// every limit away.
var errPoliciesGone = errors.New("there are no policies any more, and a file that is being written can look so: to go back to the built-in one, start the node again")

// renew puts the certificates of next in force, as far as the node was
// started with any.
func (f *follower) renew(next *config.Config) error {
	var server *tls.Config
	if p := next.ServerPEM(); f.certificates != nil && p.Cert != nil {
		var err error
		if server, err = serverTLS(p); err != nil {
			return err
		}
	}
	if p := next.PeerPEM(); f.cfg.Cluster.TLS.Cert != "" && p.Cert != nil {
		if err := f.node.SetCertificates(p.Cert, p.Key, p.CA); err != nil {
			return err
		}
	}
	if server != nil {
		f.certificates.current.Store(server)
	}
	return nil
}

// renewAlone renews the certificates of the configuration in force while there
// is none to take its place: a fault in a policy must not make them expire.
func (f *follower) renewAlone() {
	renewed, ok := f.inForce.WithCertificates()
	if !ok || reflect.DeepEqual(renewed, f.inForce) {
		return
	}
	if err := f.renew(renewed); err != nil {
		f.log.Error("certificates not renewed", "error", err)
		return
	}
	f.inForce = renewed
	f.log.Info("certificates renewed, and nothing else")
	logCertificates(f.log, renewed, time.Now())
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
