package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/murmurate/murmurate/policy"
)

// split takes text apart at spaces outside double quotes.
func split(text string) ([]string, error) {
	var words []string
	var word strings.Builder
	quoted, escaped := false, false
	flush := func() {
		if word.Len() > 0 {
			words = append(words, word.String())
			word.Reset()
		}
	}
	for _, c := range text {
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ' ' || c == '\t'):
			flush()
			continue
		}
		word.WriteRune(c)
	}
	if quoted {
		return nil, errors.New(`a text in double quotes does not end`)
	}
	flush()
	return words, nil
}

// words are those of one command, for its parser to take. Faults gather; end
// returns the first.
type words struct {
	arguments []string
	options   map[string]string
	known     []string // options that were asked for, for messages
	fault     error
}

// newWords takes a command's words apart, its name left out.
func newWords(list []string) *words {
	w := &words{options: make(map[string]string)}
	for _, word := range list {
		name, value, isOption := strings.Cut(word, "=")
		switch {
		case !isOption:
			w.arguments = append(w.arguments, word)
		case name == "" || value == "":
			w.refuse("%q: an option is NAME=VALUE without spaces", word)
		default:
			if _, twice := w.options[name]; twice {
				w.refuse("option %s is given twice", name)
			}
			w.options[name] = value
		}
	}
	return w
}

// refuse notes a fault unless there is one already.
func (w *words) refuse(format string, args ...any) {
	if w.fault == nil {
		w.fault = fmt.Errorf(format, args...)
	}
}

// argument takes the next word that is not an option.
func (w *words) argument(what string) string {
	if len(w.arguments) == 0 {
		w.refuse("%s is missing", what)
		return ""
	}
	next := w.arguments[0]
	w.arguments = w.arguments[1:]
	return next
}

// flag takes the given word from wherever it stands, and reports whether it
// was there.
func (w *words) flag(name string) bool {
	w.known = append(w.known, name)
	i := slices.Index(w.arguments, name)
	if i >= 0 {
		w.arguments = slices.Delete(w.arguments, i, i+1)
	}
	return i >= 0
}

// option takes the value of an option, or returns fallback.
func (w *words) option(name, fallback string) string {
	w.known = append(w.known, name+"=")
	value, given := w.options[name]
	if !given {
		return fallback
	}
	delete(w.options, name)
	return value
}

// number takes an option that is at least least.
func (w *words) number(name string, fallback, least int) int {
	text := w.option(name, strconv.Itoa(fallback))
	n, err := strconv.Atoi(text)
	if err != nil || n < least {
		w.refuse("%s must be a number of at least %d, got %q", name, least, text)
	}
	return n
}

// duration reads text, the value of what.
func (w *words) duration(what, text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		w.refuse("%s must be a duration such as 5s or 200ms, got %q", what, text)
	}
	return d
}

// end returns the first fault, a word that nobody took included.
func (w *words) end() error {
	for name := range w.options {
		w.unknown("option", name+"=")
	}
	for _, word := range w.arguments {
		w.unknown("word", word)
	}
	return w.fault
}

func (w *words) unknown(what, name string) {
	if near := policy.Nearest(name, w.known); near != "" {
		w.refuse("unknown %s %s: did you mean %s?", what, name, near)
		return
	}
	w.refuse("unknown %s %s", what, name)
}
