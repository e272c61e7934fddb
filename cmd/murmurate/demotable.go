package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// demoSecond is what happened in one second of the demo.
type demoSecond struct {
	Members []demoLine `json:"members"`
}

// demoLine is one node's part.
type demoLine struct {
	Name   string `json:"name"`
	Server string `json:"server"`
	Keys   int    `json:"keys"` // that it counts
	tally         // in this second
}

func (d demoSecond) total() (sum tally) {
	for _, m := range d.Members {
		sum.Allowed += m.Allowed
		sum.Denied += m.Denied
	}
	return sum
}

// text is one line, for output that is kept.
func (d demoSecond) text(w *strings.Builder) {
	all := d.total()
	fmt.Fprintf(w, "checks/s %d  allowed %d  denied %d  keys", all.Allowed+all.Denied, all.Allowed, all.Denied)
	for _, m := range d.Members {
		fmt.Fprintf(w, " %s=%d", m.Name, m.Keys)
	}
	fmt.Fprintln(w)
}

// table is the form for a terminal.
func (d demoSecond) table(w *strings.Builder) {
	row := func(name, server string, keys int, t tally) []string {
		return []string{name, server, strconv.Itoa(keys), strconv.Itoa(t.Allowed + t.Denied), strconv.Itoa(t.Allowed), strconv.Itoa(t.Denied)}
	}
	rows := [][]string{{"NODE", "SERVER", "KEYS", "CHECKS/S", "ALLOWED/S", "DENIED/S"}}
	keys := 0
	for _, m := range d.Members {
		rows = append(rows, row(m.Name, m.Server, m.Keys, m.tally))
		keys += m.Keys
	}
	table(w, append(rows, row("all", "", keys, d.total())))
}

// display shows second after second: in place on a terminal, otherwise line
// by line.
type display struct {
	sh      *shell
	inPlace bool
	height  int // lines that the last table took
}

func newDisplay(sh *shell) *display {
	return &display{sh: sh, inPlace: sh.output == formatTable && isTerminal(sh.stdout) && sh.getenv("TERM") != "dumb"}
}

func (d *display) show(second demoSecond) error {
	if !d.inPlace {
		return d.sh.print(second)
	}
	var screen, lines strings.Builder
	if d.height > 0 {
		fmt.Fprintf(&screen, "\x1b[%dF\x1b[J", d.height) // back to the table's first line, and clear below (ECMA-48 CPL, ED)
	}
	second.table(&lines)
	d.height = strings.Count(lines.String(), "\n")
	screen.WriteString(lines.String())
	_, err := io.WriteString(d.sh.stdout, screen.String())
	return err
}

// isTerminal reports whether w is a character device.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
