package scenario

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

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
// scenario is about. An empty expectation becomes the whole answer.
func (e expectation) updated(a answer) expectation {
	var next expectation
	for _, f := range a {
		if len(e) == 0 || f.value == "" && !e.names(f.name) { // a word takes the place of another
			next = append(next, said(f))
		}
	}
	for _, t := range e {
		value, ok := a.find(t.name)
		switch {
		case t.holds(a) || t.relation != "" && t.relation != "=":
			next = append(next, t)
		case ok:
			next = append(next, said(field{t.name, value}))
		}
	}
	return next
}

// said is the term that f keeps.
func said(f field) term {
	if f.value == "" {
		return term{f, ""}
	}
	return term{f, "="}
}

func (e expectation) String() string {
	parts := make([]string, len(e))
	for i, t := range e {
		parts[i] = t.String()
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
