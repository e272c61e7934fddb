package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// arguments demands exactly the named ones.
func arguments(names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return usagef("%s is missing", names[len(args)])
		case len(args) > len(names):
			return usagef("unexpected argument %q", args[len(names)])
		}
		return nil
	}
}

// checkKey refuses a key that no node would take; name says where it was
// given. What is not UTF-8 must not even be sent: encoded as JSON it becomes
// another key.
func checkKey(name, key string) error { return keyFault(name, policy.CheckKey(key)) }

// checkLookup is checkKey where key may be a fingerprint.
func checkLookup(name, key string) error { return keyFault(name, policy.CheckLookup(key)) }

// checkCharged is checkKey where a fingerprint would be charged as a key of its
// own, which nobody means.
func checkCharged(name, key string) error {
	if _, fingerprint := limiter.ParseSubject(strings.ToLower(key)); fingerprint {
		return usagef("%s is a fingerprint, which can be looked at and not charged: add --peek", name)
	}
	return checkKey(name, key)
}

func keyFault(name string, err error) error {
	if fault, ok := errors.AsType[*policy.InputError](err); ok {
		return usagef("%s %s", name, fault.Detail)
	}
	return nil
}
