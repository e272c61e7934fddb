package scenario

import (
	"errors"
	"fmt"
	"strings"

	"github.com/murmurate/murmurate/policy"
)

// Scenario is a parsed file.
type Scenario struct {
	// Name is what messages call it, usually the file's path.
	Name  string
	lines []*line
}

// line is one line of a file, with what it means.
type line struct {
	number  int
	text    string // as it stands in the file
	command string // the words before the arrow
	step    step   // nil for an empty line
	expects bool   // there is an arrow
	expect  expectation
	comment string // from the # on
}

// step is one command, ready to run. An error means that the scenario asks
// for something that makes no sense, such as stopping a node that does not
// run.
type step interface {
	run(r *run) (answer, error)
}

// setup is a step that must come before the first node.
type setup interface{ setsUp() }

const arrow = "->"

// Parse reads a scenario. name is for messages. The error names every line at
// fault and what would be right there.
func Parse(name, text string) (*Scenario, error) {
	s := &Scenario{Name: name}
	var faults []error
	started := false
	text = strings.ReplaceAll(text, "\r\n", "\n")
	for i, text := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		l := &line{number: i + 1, text: text}
		err := l.parse()
		if _, ok := l.step.(setup); ok && started && err == nil {
			err = errors.New("must come before the first node starts")
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("%s:%d: %w", name, l.number, err))
		}
		switch l.step.(type) {
		case *startNodes, *startNode:
			started = true
		}
		s.lines = append(s.lines, l)
	}
	return s, errors.Join(faults...)
}

// parse fills in l from its text.
func (l *line) parse() error {
	code := l.text
	if i := commentAt(code); i >= 0 {
		code, l.comment = code[:i], code[i:]
	}
	var expect string
	l.command, expect, l.expects = strings.Cut(code, arrow)
	l.command = strings.TrimSpace(l.command)
	if l.command == "" {
		if l.expects {
			return errors.New("an expectation needs a command before the arrow")
		}
		return nil
	}
	var err error
	if l.expect, err = parseExpectation(expect); err != nil {
		return err
	}
	list, err := split(l.command)
	if err != nil {
		return err
	}
	l.step, err = parseStep(list)
	if err == nil && l.expects && commands[list[0]].silent {
		err = fmt.Errorf("%s says nothing that could be expected", list[0])
	}
	return err
}

// commentAt is where the comment of a line begins, or -1.
func commentAt(text string) int {
	quoted := false
	for i, c := range text {
		switch {
		case c == '"':
			quoted = !quoted
		case c == '#' && !quoted && (i == 0 || text[i-1] == ' ' || text[i-1] == '\t'):
			return i
		}
	}
	return -1
}

// parseStep reads one command.
func parseStep(list []string) (step, error) {
	c, ok := commands[list[0]]
	if !ok {
		if near := policy.Nearest(list[0], commandNames()); near != "" {
			return nil, fmt.Errorf("unknown command %q: did you mean %q?", list[0], near)
		}
		return nil, fmt.Errorf("unknown command %q: one of %s", list[0], strings.Join(commandNames(), ", "))
	}
	w := newWords(list[1:])
	s := c.parse(w)
	if err := w.end(); err != nil {
		return nil, fmt.Errorf("%w (usage: %s %s)", err, list[0], c.usage)
	}
	return s, nil
}

// update makes l expect e.
func (l *line) update(e expectation) {
	l.expect = e
	l.text = l.command + " " + arrow + " " + e.String()
	if l.comment != "" {
		l.text += "  " + l.comment
	}
}

// String is the text of the scenario.
func (s *Scenario) String() string {
	var b strings.Builder
	for _, l := range s.lines {
		b.WriteString(l.text)
		b.WriteByte('\n')
	}
	return b.String()
}
