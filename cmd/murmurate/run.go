package main

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// shell is what a command sees of the world around the process.
type shell struct {
	env    []string // KEY=value
	stdout io.Writer
	stderr io.Writer
	output format // as -o says

	unhelped error // why a command line that asked for help got none
}

// run executes one command line and returns its exit code.
func run(args, env []string, stdout, stderr io.Writer) int {
	sh := &shell{env: env, stdout: stdout, stderr: stderr, output: formatTable}
	root := newRoot(sh)
	root.SetArgs(append([]string{}, args...)) // not nil, which would mean os.Args
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(context.Background())
	if err == nil {
		err = sh.unhelped
	}
	sh.complain(cmd, err)
	return exitCode(err)
}

// getenv returns the value of an environment variable, empty if unset. As in
// exec.Cmd, the last one counts.
func (sh *shell) getenv(name string) string {
	value := ""
	for _, entry := range sh.env {
		if key, v, ok := strings.Cut(entry, "="); ok && key == name {
			value = v
		}
	}
	return value
}

// action makes the body of a command. Its errors are marked, so that they
// are told from cobra's own, which are all about usage.
func action(body func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := body(cmd, args); err != nil {
			return &actionError{err}
		}
		return nil
	}
}
