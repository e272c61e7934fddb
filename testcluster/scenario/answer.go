package scenario

import (
	"fmt"
	"strconv"
	"strings"
	"time"
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

// term is one part of an expectation: a field that the answer must have, or
// a bound that the field's value must keep.
type term struct {
	field
	relation string // "=", "<=", ">=", "!="; empty for a bare word
}

// relations in the order in which they are looked for.
var relations = []string{"<=", ">=", "!=", "="}

func parseTerm(word string) (term, error) {
	at, relation := len(word), ""
	for _, r := range relations {
		if i := strings.Index(word, r); i >= 0 && i < at {
			at, relation = i, r
		}
	}
	if relation == "" {
		return term{field: field{name: word}}, nil
	}
	value := word[at+len(relation):]
	if strings.HasPrefix(value, `"`) {
		text, err := strconv.Unquote(value)
		if err != nil {
			return term{}, fmt.Errorf("%s is not a quoted text", value)
		}
		value = text
	}
	if at == 0 || value == "" {
		return term{}, fmt.Errorf("%q must be a word, NAME=VALUE, NAME<=VALUE, NAME>=VALUE or NAME!=VALUE", word)
	}
	return term{field{word[:at], value}, relation}, nil
}

func (t term) String() string {
	if t.relation == "" {
		return t.name
	}
	return t.name + t.relation + quoted(t.value)
}

// holds reports whether a keeps what t says.
func (t term) holds(a answer) bool {
	value, ok := a.find(t.name)
	if !ok {
		return false
	}
	switch t.relation {
	case "":
		return value == ""
	case "=":
		return value == t.value
	case "!=":
		return value != t.value
	}
	order, ok := compare(value, t.value)
	return ok && (order == 0 || (order < 0) == (t.relation == "<="))
}

// compare orders two numbers or two durations.
func compare(a, b string) (order int, ok bool) {
	if x, err := strconv.ParseInt(a, 10, 64); err == nil {
		y, err := strconv.ParseInt(b, 10, 64)
		return sign(x - y), err == nil
	}
	x, err := time.ParseDuration(a)
	if err != nil {
		return 0, false
	}
	y, err := time.ParseDuration(b)
	return sign(int64(x - y)), err == nil
}

func sign(n int64) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}

// expectation is what a file says after the arrow.
type expectation []term

func parseExpectation(text string) (expectation, error) {
	words, err := split(text)
	if err != nil {
		return nil, err
	}
	e := make(expectation, len(words))
	for i, word := range words {
		if e[i], err = parseTerm(word); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// broken returns the terms that a does not keep. An empty expectation waits
// to be filled in, and is broken by every answer.
func (e expectation) broken(a answer) []string {
	if len(e) == 0 {
		return []string{"(nothing is expected yet: run with -update)"}
	}
	var terms []string
	for _, t := range e {
		if !t.holds(a) {
			terms = append(terms, t.String())
		}
	}
	return terms
}

// updated is e as a has it. Fields that e does not name stay unnamed, and
// bounds stay as they are, whether they hold or not: they are what the
// scenario is about.
func (e expectation) updated(a answer) string {
	if len(e) == 0 {
		return a.String()
	}
	var parts []string
	for _, t := range e {
		value, ok := a.find(t.name)
		switch {
		case t.holds(a) || t.relation != "" && t.relation != "=":
			parts = append(parts, t.String())
		case ok:
			parts = append(parts, field{t.name, value}.String())
		}
	}
	for _, f := range a {
		if f.value == "" && !e.names(f.name) { // a word took the place of another
			parts = append([]string{f.name}, parts...)
		}
	}
	return strings.Join(parts, " ")
}

func (e expectation) names(name string) bool {
	for _, t := range e {
		if t.name == name {
			return true
		}
	}
	return false
}
