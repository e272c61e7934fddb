package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/murmurate/murmurate/config"
)

// serveFlags are the flags of serve that stand for a setting.
var serveFlags = []struct{ flag, setting, usage string }{
	{"http", "http.listen", "answer checks on `ADDR`, host:port"},
	{"gossip", "cluster.gossip", "listen for other nodes on `ADDR`, ip:port, TCP and UDP"},
	{"peer", "cluster.peer", "listen for checks forwarded by other nodes on `ADDR`, ip:port"},
	{"name", "node.name", "`NAME` of this node, unique in the cluster (default HOSTNAME-GOSSIPPORT)"},
	{"data-dir", "node.data_dir", "keep what outlives a restart in `DIR` (default nothing is kept)"},
}

const (
	joinFlag    = "join"
	joinSetting = "cluster.join"
)

func newServe(sh *shell) *cobra.Command {
	var (
		source config.Source
		join   []string
	)
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run a node",
		Long: `Serve runs one node until it gets SIGTERM or SIGINT. Without a flag and without
a file it is alone on loopback, with a policy named default: 100 a minute for
each key.

Each flag stands for one setting of the file; the others are set by the file or
by the environment, such as MURMURATE_LOG_LEVEL for log.level. Flags prevail over
the environment, and that over the file. 'murmurate config print' shows what is
in force. Port 0 takes a free port.

One line is printed for each listener, and "ready" when the node should be sent
requests; the log goes to standard error. SIGTERM drains the node: it reports not
ready, others take over its keys, it answers until requests cease to come (for two
seconds at most), what is in flight ends, and it leaves. A second signal ends it
at once.

The policies and log.level of FILE take effect without a restart: within seconds
of a change of FILE, and at once on SIGHUP. A FILE with faults changes nothing;
they are logged.`,
		Example: `  murmurate serve
  murmurate serve --config murmurate.yaml
  murmurate serve --http 127.0.0.1:7480 --gossip 127.0.0.1:7481 --peer 127.0.0.1:7482 --join 127.0.0.1:7381`,
		Args: arguments(),
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			source.Env, source.Flags = sh.env, settingsFrom(cmd, join)
			watch := config.NewWatch(source)
			cfg, err := watch.Load()
			if err != nil {
				return err
			}
			signals := make(chan os.Signal, 2) // room for the second one too
			signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
			defer signal.Stop(signals)
			hangups := make(chan os.Signal, 1) // those that come meanwhile ask for the same
			signal.Notify(hangups, syscall.SIGHUP)
			defer signal.Stop(hangups)
			return sh.serve(cmd.Context(), cfg, served{
				watch: watch, signals: signals, hangups: hangups,
				hint: source.File == "", // the policy that the hint asks for is there
			})
		}),
	}
	configFlag(cmd, &source.File)
	for _, f := range serveFlags {
		cmd.Flags().String(f.flag, "", f.usage)
	}
	cmd.Flags().StringSliceVar(&join, joinFlag, nil, "gossip `ADDR,...` of nodes to join, host:port")
	return cmd
}

func configFlag(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVar(file, "config", "", "read the configuration from `FILE`")
}

// settingsFrom are the settings that flags were given for.
func settingsFrom(cmd *cobra.Command, join []string) map[string]any {
	given := make(map[string]any)
	for _, f := range serveFlags {
		if flag := cmd.Flags().Lookup(f.flag); flag.Changed {
			given[f.setting] = flag.Value.String()
		}
	}
	if cmd.Flags().Changed(joinFlag) {
		given[joinSetting] = join
	}
	return given
}

// served is what a node is run with besides its configuration.
type served struct {
	watch   *config.Watch    // where the configuration came from
	signals <-chan os.Signal // to end
	hangups <-chan os.Signal // to reload
	hint    bool             // tells the user what to try
}

// serve runs a node until a signal ends it, or until it cannot go on.
func (sh *shell) serve(ctx context.Context, cfg *config.Config, s served) error {
	log, level := newLogger(sh.stderr, cfg.Log)
	limitMemory(log)
	logWarnings(log, cfg)
	d, err := startUnlessSignalled(ctx, cfg, log, s.signals)
	if d == nil || err != nil {
		return err
	}
	d.follow(s.watch, level, s.hangups)
	announce := func(f finding) {
		if err := sh.print(f); err != nil {
			log.Warn("cannot print", "error", err) // no reason to end
		}
	}
	for _, l := range d.listening() {
		announce(l)
	}
	return d.run(s.signals, func(r readyLine) {
		if s.hint {
			r.Try = curlHint(d.url())
		}
		announce(r)
	})
}

// startUnlessSignalled is startDaemon, which waits for other nodes to answer.
// A signal ends the waiting: then there is neither a daemon nor an error.
func startUnlessSignalled(ctx context.Context, cfg *config.Config, log *slog.Logger, signals <-chan os.Signal) (*daemon, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var d *daemon
	var err error
	started := make(chan struct{})
	go func() {
		defer close(started)
		d, err = startDaemon(ctx, cfg, log)
	}()
	select {
	case <-started:
		return d, err
	case s := <-signals:
		log.Info("ended while starting", "signal", s.String())
		cancel()
		<-started
	}
	if err != nil { // most likely that ctx has ended
		return nil, nil
	}
	d.drain() // it came up just now
	return nil, nil
}
