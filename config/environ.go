package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/murmurate/murmurate/policy"
)

// prefix begins the name of every environment variable that is a setting.
const prefix = "MURMURATE_"

// assignment sets one setting from outside the file.
type assignment struct {
	setting
	from  string // the variable or the flag
	value any    // typed as the schema says; nil if it could not be read
}

// variable is the environment variable of a setting: MURMURATE_HTTP_LISTEN
// is http.listen.
func (s setting) variable() string {
	return prefix + strings.ToUpper(strings.ReplaceAll(s.path, ".", "_"))
}

// clientVariables stand for flags of the commands that ask a node. They say
// nothing of the node that is configured here.
var clientVariables = []string{prefix + "SERVER", prefix + "TOKEN_FILE"}

// readEnv finds the settings in an environment of NAME=VALUE entries. A
// variable with an empty value counts as not set.
func readEnv(environ []string) ([]assignment, []Fault) {
	given := make(map[string]string)
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, prefix) {
			given[name] = value
		}
	}
	var set []assignment
	var faults []Fault
	known := slices.Clone(clientVariables)
	for _, s := range settings() {
		name := s.variable()
		known = append(known, name)
		a := assignment{setting: s, from: name}
		written := given[name]
		if s.secret {
			file := name + "_FILE"
			known = append(known, file)
			if path := given[file]; path != "" {
				a.from = file
				secret, err := readSecret(path)
				if err == nil && written != "" {
					err = fmt.Errorf("is given by %s too: keep one of the two", name)
				}
				if err != nil {
					faults = append(faults, Fault{Var: file, Path: s.path, Detail: err.Error()})
					set = append(set, a)
					continue
				}
				written = secret
			}
		}
		if written == "" {
			continue
		}
		value, err := s.parseAll(written)
		if err != nil {
			faults = append(faults, Fault{Var: a.from, Path: s.path, Detail: err.Error()})
		}
		a.value = value
		set = append(set, a)
	}
	return set, append(faults, unknownVariables(given, known)...)
}

// readSecret returns what the file at path holds, without space around it.
func readSecret(path string) (string, error) {
	data, err := readFile(path)
	if err != nil {
		return "", fmt.Errorf("the file %s %w", path, err)
	}
	secret := strings.TrimSpace(string(data))
	if secret == "" {
		return "", fmt.Errorf("the file %s is empty", path)
	}
	return secret, nil
}

func unknownVariables(given map[string]string, known []string) []Fault {
	short := make([]string, len(known)) // without what all have in common, which would make any two look alike
	for i := range known {
		short[i] = strings.TrimPrefix(known[i], prefix)
	}
	var faults []Fault
	for name, value := range given {
		if value == "" || slices.Contains(known, name) || fromKubernetes(name, value) {
			continue
		}
		detail := "is not a setting"
		if near := policy.Nearest(strings.TrimPrefix(name, prefix), short); near != "" {
			detail += fmt.Sprintf(" (did you mean %q?)", prefix+near)
		}
		faults = append(faults, Fault{Var: name, Detail: detail})
	}
	return faults
}

var (
	serviceAddress = regexp.MustCompile(`_SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)$`)
	serviceLink    = regexp.MustCompile(`_PORT(_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?$`)
	linkURL        = regexp.MustCompile(`^(tcp|udp|sctp)://`)
	linkPart       = regexp.MustCompile(`_[0-9]+_(TCP|UDP|SCTP)_(PROTO|PORT|ADDR)$`)
)

// fromKubernetes recognises the variables that Kubernetes puts into a
// container for every Service of its namespace: one named murmurate, or
// murmurate-something, gives MURMURATE_SERVICE_HOST,
// MURMURATE_PORT=tcp://10.0.0.1:7380, MURMURATE_PORT_7380_TCP_ADDR and so
// on. They are nobody's mistake.
func fromKubernetes(name, value string) bool {
	name = "_" + strings.TrimPrefix(name, prefix)
	return serviceAddress.MatchString(name) || linkPart.MatchString(name) ||
		serviceLink.MatchString(name) && linkURL.MatchString(value)
}
