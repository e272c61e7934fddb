package main

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/murmurate/murmurate/internal/leak"
)

// TestMain makes the test binary stand in for the program in scripts, where
// it runs as a process of its own.
func TestMain(m *testing.M) {
	testscript.Main(leakChecked{m}, map[string]func(){"murmurate": main})
}

// leakChecked fails a run of tests that leaves goroutines behind.
type leakChecked struct{ *testing.M }

func (l leakChecked) Run() int { return leak.Run(l.M) }

// scriptsEnd bounds the scripts together: a node that should have ended and
// runs on would otherwise hold them up.
const scriptsEnd = 2 * time.Minute

// TestScripts runs testdata/*.txtar. Besides testscript's own commands they
// have exits, and those of node_test.go.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		Deadline:            time.Now().Add(scriptsEnd),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(env *testscript.Env) error {
			env.Values[processesKey{}] = processes{}
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": exits, "node": node, "signal": signalNode, "logged": logged, "ended": ended,
			"again": again, "begin": begin, "finish": finish,
		},
	})
}

// exits runs a command that must end with a given exit code:
//
//	exits 2 murmurate check
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARG...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		code = exit.ExitCode()
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d\nstdout: %s\nstderr: %s", code, want, ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}
