package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/murmurate/murmurate/config"
)

func newConfig(sh *shell) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "config",
		Short:   "Check a configuration, show the one in force, or what one may hold",
		Example: "  murmurate config validate murmurate.yaml\n  murmurate config print --config murmurate.yaml",
	}
	onlyCommands(cmd)
	cmd.AddCommand(newConfigValidate(sh), newConfigPrint(sh), newConfigSchema(sh))
	return cmd
}

func newConfigValidate(sh *shell) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "validate [FILE]",
		Short: "Report every fault of a configuration, with file and line",
		Long: `Validate reads FILE and the environment as serve would, and reports every fault
at once, each with its file and line and what would be right. FILE may be
/dev/stdin; without it the environment is checked. The exit code is 4 if there are
faults. What works and is likely not meant, such as a limit by address alone, is a
warning, on standard error.`,
		Example: `  murmurate config validate murmurate.yaml
  murmurate config validate murmurate.yaml -o json`,
		Args: cobra.MaximumNArgs(1),
		RunE: action(func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				if file != "" {
					return usagef("FILE and --config are two names for one thing: give one of them")
				}
				file = args[0]
			}
			return sh.validate(file)
		}),
	}
	configFlag(cmd, &file)
	return cmd
}

// validate reports on the configuration in file, or without one on that of
// the environment. With faults, the error holds them.
func (sh *shell) validate(file string) error {
	cfg, err := config.Load(config.Source{File: file, Env: sh.env})
	if faults, ok := errors.AsType[*config.Faults](err); ok && sh.output == formatJSON {
		if err := sh.print(validation{File: file, Faults: faults.List}); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	if sh.output != formatJSON {
		for _, w := range cfg.Warnings() {
			if _, err := fmt.Fprintln(sh.stderr, "warning:", w); err != nil {
				return err
			}
		}
	}
	return sh.print(validation{
		File: file, Valid: true, Policies: len(cfg.Policies),
		Faults: []config.Fault{}, Warnings: cfg.Warnings(),
	})
}

// validation is what is to be said of a configuration.
type validation struct {
	File     string         `json:"file"`
	Valid    bool           `json:"valid"`
	Policies int            `json:"policies"`
	Faults   []config.Fault `json:"faults"`
	Warnings []config.Fault `json:"warnings,omitempty"`
}

func (v validation) text(w *strings.Builder) {
	name, policies := v.File, "policies"
	if name == "" {
		name = "environment"
	}
	if v.Policies == 1 {
		policies = "policy"
	}
	fmt.Fprintf(w, "%s: ok, %d %s\n", name, v.Policies, policies)
}

func newConfigPrint(sh *shell) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "print",
		Short: "Print the configuration in force, with secrets hidden",
		Long: `Print writes the configuration that serve would run with: the file, the
environment, and the defaults of what neither sets. It is a valid file once the
hidden secrets are put in again.`,
		Example: `  murmurate config print
  murmurate config print --config murmurate.yaml`,
		Args: arguments(),
		RunE: action(func(*cobra.Command, []string) error {
			cfg, err := config.Load(config.Source{File: file, Env: sh.env})
			if err != nil {
				return err
			}
			return sh.print(inForce{cfg})
		}),
	}
	configFlag(cmd, &file)
	return cmd
}

// inForce is a configuration to look at.
type inForce struct{ *config.Config }

func (c inForce) text(w *strings.Builder) { _ = c.Print(w) } // memory takes all

func newConfigSchema(sh *shell) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of a configuration",
		Long: `Schema prints the JSON Schema (draft 2020-12) of a configuration file. An editor
that knows it completes settings, explains them and marks what is wrong. For a
YAML language server put this on the first line of the file:

  # yaml-language-server: $schema=./config.schema.json`,
		Example: "  murmurate config schema >config.schema.json",
		Args:    arguments(),
		RunE: action(func(*cobra.Command, []string) error {
			schema, err := config.JSONSchema()
			if err != nil {
				return err
			}
			_, err = sh.stdout.Write(schema)
			return err
		}),
	}
}
