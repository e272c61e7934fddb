package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/murmurate/murmurate/config"
)

// The exit codes of every command.
const (
	exitOK          = 0 // done, or allowed
	exitError       = 1
	exitUsage       = 2
	exitDenied      = 3 // check
	exitConfig      = 4 // invalid configuration
	exitUnreachable = 5 // unreachable or not ready
)

// errDenied ends a check that was denied. The decision has been printed, so
// nothing more is said.
var errDenied = errors.New("denied")

// usageError is a command line that cannot be carried out.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// unreachableError is a node that does not answer, or is not ready.
type unreachableError struct{ text string }

func (e *unreachableError) Error() string { return e.text }

// actionError is any error that came from the body of a command.
type actionError struct{ err error }

func (e *actionError) Error() string { return e.err.Error() }
func (e *actionError) Unwrap() error { return e.err }

// exitCode is the one place where errors become exit codes.
func exitCode(err error) int {
	var (
		usage       *usageError
		faults      *config.Faults
		unreachable *unreachableError
		body        *actionError
	)
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errDenied):
		return exitDenied
	case errors.As(err, &usage):
		return exitUsage
	case errors.As(err, &faults):
		return exitConfig
	case errors.As(err, &unreachable):
		return exitUnreachable
	case errors.As(err, &body):
		return exitError
	}
	return exitUsage // cobra did not get as far as the body
}

// complain says on standard error what went wrong, if anything did. Where
// even that fails, the exit code remains.
func (sh *shell) complain(cmd *cobra.Command, err error) {
	switch exitCode(err) {
	case exitOK, exitDenied:
	case exitConfig:
		_, _ = fmt.Fprintln(sh.stderr, err) // every fault on a line of its own
	case exitUsage:
		_, _ = fmt.Fprintf(sh.stderr, "murmurate: %v\nRun '%s --help' for usage.\n", err, cmd.CommandPath())
	default:
		_, _ = fmt.Fprintf(sh.stderr, "murmurate: %v\n", err)
	}
}
