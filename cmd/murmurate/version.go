package main

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/murmurate/murmurate"
)

// build says what this program was made of.
type build struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

func (b build) text(w *strings.Builder) {
	fmt.Fprintf(w, "murmurate %s %s %s/%s\n", b.Version, b.Go, b.OS, b.Arch)
}

func newVersion(sh *shell) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version of this program",
		Example: "  murmurate version -o json",
		Args:    arguments(),
		RunE:    action(func(*cobra.Command, []string) error { return sh.printVersion() }),
	}
}

func (sh *shell) printVersion() error {
	return sh.print(build{murmurate.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH})
}
