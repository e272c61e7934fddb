package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// onlyCommands makes parent print its help when called alone, and refuse
// what is not one of its commands with the nearest ones.
func onlyCommands(parent *cobra.Command) {
	parent.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		near := cmd.SuggestionsFor(args[0])
		if len(near) == 0 {
			return usagef("unknown command %q", args[0])
		}
		return usagef("unknown command %q; did you mean %s?", args[0], strings.Join(near, " or "))
	}
	parent.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	parent.SuggestionsMinimumDistance = 2
}

// unknownCommand is the error of a command line that leads to cmd and goes on
// with a word that is none of its commands. Nil: it does not.
func unknownCommand(cmd *cobra.Command) error {
	if !cmd.HasSubCommands() {
		return nil
	}
	return cmd.ValidateArgs(cmd.Flags().Args())
}

// strictHelp has --help after what is no command say so. Help has no error to
// return, so it is left in sh.
func strictHelp(sh *shell, root *cobra.Command) {
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if sh.unhelped = unknownCommand(cmd); sh.unhelped == nil {
			help(cmd, args)
		}
	})
}

// addTools adds cobra's own commands to root, as strict as the others:
// without that they take any word, and exit with 0.
func addTools(root *cobra.Command) {
	root.SetHelpCommandGroupID(groupTool)
	root.SetCompletionCommandGroupID(groupTool)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "completion":
			onlyCommands(c)
		case "help":
			c.Args = topic
		}
	}
}

// topic demands that args lead to a command.
func topic(cmd *cobra.Command, args []string) error {
	about, rest, err := cmd.Root().Find(args)
	if err != nil || !about.HasSubCommands() {
		return err
	}
	return about.ValidateArgs(rest)
}
