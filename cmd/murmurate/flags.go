package main

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/murmurate/murmurate/policy"
)

// flagNames finds the flags in a list of flags as the help has it. Cobra
// knows them only as types of the module that it parses them with.
var flagNames = regexp.MustCompile(`(?m)^ +(?:-\w, )?--([\w-]+)`)

// misspelt is the error of cobra's for a flag that does not exist, and for
// one with a wrong value.
type misspelt interface {
	error
	GetSpecifiedName() string
	// GetSpecifiedShortnames is what followed a single dash, if one did.
	GetSpecifiedShortnames() string
}

// nearestFlag adds to an error of the command line the flag that was likely
// meant, if there was none of that name. Before that it is the command that is
// at fault, if there is none: its flags are unknown then.
func nearestFlag(cmd *cobra.Command, err error) error {
	if unknown := unknownCommand(cmd); unknown != nil {
		return unknown
	}
	flag, ok := errors.AsType[misspelt](err)
	if !ok || cmd.Flags().Lookup(flag.GetSpecifiedName()) != nil {
		return err
	}
	name := flag.GetSpecifiedName()
	if short := flag.GetSpecifiedShortnames(); short != "" {
		name = short // such as -cost
	}
	var names []string
	for _, match := range flagNames.FindAllStringSubmatch(cmd.Flags().FlagUsages(), -1) {
		names = append(names, match[1])
	}
	near := policy.Nearest(name, names)
	if near == "" {
		return err
	}
	return fmt.Errorf("%w; did you mean --%s?", err, near)
}
