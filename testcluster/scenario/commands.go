package scenario

import (
	"maps"
	"slices"
)

// command is one word of the language.
type command struct {
	usage  string // what follows the name
	parse  func(*words) step
	silent bool // it says nothing
}

var commands map[string]command

func init() { // here, because the parsers lead back to the table
	commands = map[string]command{
		"seed":     {"N", parseSeed, true},
		"deadline": {"DURATION", parseDeadline, true},
		"policy":   {"NAME ALGORITHM RATE [burst=N] [align=epoch|calendar|first] [name=LIMIT] [on_unreachable=local|allow|deny]", parsePolicy, true},

		"nodes":   {"N [clients=N] [label=NAME]", parseNodes, true},
		"start":   {"NODE [role=owner|client] [label=NAME] [join=NODE,...]", parseStart, true},
		"stop":    {"NODE", parseStop, true},
		"kill":    {"NODE", parseKill, true},
		"restart": {"NODE", parseRestart, true},
		"pause":   {"NODE", parsePause, true},
		"resume":  {"NODE", parseResume, true},

		"cut":       {"NODES|NODES or NODES>NODES", parseCut, true},
		"heal":      {"", parseHeal, true},
		"delay":     {"DURATION [jitter=DURATION]", parseDelay, true},
		"loss":      {"PERCENT%", parseLoss, true},
		"duplicate": {"PERCENT%", parseDuplicate, true},
		"slow":      {"NODE DURATION", parseSlow, true},

		"key":   {"KEY owner=NODE [policy=NAME]", parseKey, false},
		"take":  {"KEY [policy=NAME] [cost=N] [via=NODES] [times=N] [parallel]", parseTake, false},
		"peek":  {"KEY [policy=NAME] [cost=N] [via=NODES]", parsePeek, false},
		"reset": {"KEY [policy=NAME] [via=NODES]", parseReset, false},
		"same":  {"KEY [policy=NAME]", parseSame, false},
		"batch": {"KEY keys=N [bytes=N] [policy=NAME] [via=NODES]", parseBatch, false},
		"load":  {"KEY rate=N/s for=DURATION [keys=N] [policy=NAME] [cost=N] [via=NODES]", parseLoad, true},

		"advance":   {"DURATION", parseAdvance, true},
		"await":     {"agree [within=DURATION], owner KEY NODE [via=NODE] [within=DURATION], or load", parseAwait, false},
		"owner":     {"KEY [policy=NAME] [via=NODE]", parseOwner, false},
		"members":   {"[via=NODE]", parseMembers, false},
		"readiness": {"[via=NODE]", parseReadiness, false},
		"digest":    {"", parseDigest, false},
		"forwards":  {"[via=NODES]", parseForwards, false},
	}
}

func commandNames() []string { return slices.Sorted(maps.Keys(commands)) }
