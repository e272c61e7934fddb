package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// flagNames are the flags of serve that stand for a setting.
var flagNames = map[string]string{
	"node.name":      "--name",
	"node.data_dir":  "--data-dir",
	"http.listen":    "--http",
	"cluster.gossip": "--gossip",
	"cluster.peer":   "--peer",
	"cluster.join":   "--join",
}

// readFlags reads the values of flags by the path of their setting.
func readFlags(flags map[string]any) ([]assignment, []Fault) {
	var set []assignment
	var faults []Fault
	all := settings()
	for _, path := range slices.Sorted(maps.Keys(flags)) {
		from := flagNames[path]
		if from == "" {
			from = "flag " + path
		}
		i := slices.IndexFunc(all, func(s setting) bool { return s.path == path })
		if i < 0 {
			faults = append(faults, Fault{Var: from, Path: path, Detail: "unknown setting"})
			continue
		}
		value, err := all[i].parseAll(flagText(flags[path]))
		if err != nil {
			faults = append(faults, Fault{Var: from, Path: path, Detail: err.Error()})
		}
		set = append(set, assignment{setting: all[i], from: from, value: value})
	}
	return set, faults
}

// flagText is a flag's value as it would be written on the command line.
func flagText(value any) string {
	if elements, ok := value.([]string); ok {
		return strings.Join(elements, ",")
	}
	return fmt.Sprint(value)
}
