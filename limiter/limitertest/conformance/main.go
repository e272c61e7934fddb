// Conformance plays recorded histories of limits, with their right answers,
// against the table of this module:
//
//	go run ./limiter/limitertest/conformance FILE...
//
// It prints the first steps that were answered wrongly and exits with 1, as
// it does if a file cannot be read; otherwise it says how much it checked
// and exits with 0.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/murmurate/murmurate/limiter/limitertest"
)

// Wrong steps that are printed: after the first, a case's later ones often
// follow from it.
const (
	maxPerCase = 3
	maxInAll   = 20
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run checks the files and returns the exit code.
func run(files []string, stdout, stderr io.Writer) int {
	if len(files) == 0 {
		_, _ = fmt.Fprintln(stderr, "usage: conformance FILE...")
		return 1
	}
	total := report{out: stderr}
	for _, name := range files {
		if err := total.check(name); err != nil {
			total.failed = true
			_, _ = fmt.Fprintf(stderr, "%s: %v\n", name, err)
		}
	}
	if total.wrong > total.printed {
		_, _ = fmt.Fprintf(stderr, "... and %d more wrong steps\n", total.wrong-total.printed)
	}
	if total.failed || total.wrong > 0 {
		_, _ = fmt.Fprintf(stderr, "FAIL: %d cases, %d steps, %d wrong\n", total.cases, total.steps, total.wrong)
		return 1
	}
	_, _ = fmt.Fprintf(stdout, "ok: %d cases, %d steps\n", total.cases, total.steps)
	return 0
}

// report counts what was checked and prints what was wrong.
type report struct {
	out                          io.Writer
	cases, steps, wrong, printed int
	failed                       bool
}

// check plays all cases of one file.
func (r *report) check(name string) error {
	in, err := os.Open(name) //nolint:gosec // reading the files it is given is the program's purpose
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	file, err := limitertest.ReadCases(in)
	if err != nil {
		return err
	}
	for i := range file.Cases {
		c := &file.Cases[i]
		wrong, err := c.Run(file.Tolerance)
		r.cases++
		r.steps += len(c.Steps)
		r.print(name, c.Name, wrong)
		if err != nil {
			return fmt.Errorf("case %q: %w", c.Name, err)
		}
	}
	return nil
}

func (r *report) print(file, name string, wrong []limitertest.Mismatch) {
	r.wrong += len(wrong)
	for _, m := range wrong[:min(len(wrong), maxPerCase, maxInAll-r.printed)] {
		r.printed++
		_, _ = fmt.Fprintf(r.out, "%s: case %q, step %d: %s\n", file, name, m.Step, m.Detail)
	}
}
