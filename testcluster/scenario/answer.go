package scenario

import (
	"fmt"
	"strconv"
	"strings"
)

// field is one part of an answer: name=value, or a bare word if value is
// empty.
type field struct{ name, value string }

func (f field) String() string {
	if f.value == "" {
		return f.name
	}
	return f.name + "=" + quoted(f.value)
}

// quoted is value as a file has it.
func quoted(value string) string {
	if strings.ContainsAny(value, " \t\"#") {
		return strconv.Quote(value)
	}
	return value
}

// answer is what a command says, in the order in which it says it.
type answer []field

// word appends a bare word.
func (a *answer) word(w string) { *a = append(*a, field{name: w}) }

// add appends name=value. Counts that are zero are said too: a file can then
// expect them.
func (a *answer) add(name string, value any) {
	*a = append(*a, field{name, fmt.Sprint(value)})
}

func (a answer) String() string {
	parts := make([]string, len(a))
	for i, f := range a {
		parts[i] = f.String()
	}
	return strings.Join(parts, " ")
}

// find returns the value of the named field.
func (a answer) find(name string) (value string, ok bool) {
	for _, f := range a {
		if f.name == name {
			return f.value, true
		}
	}
	return "", false
}
