package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// format is the value of -o.
type format string

const (
	formatTable format = "table"
	formatJSON  format = "json"
)

// Set, String and Type make format the value of a flag.
func (f *format) Set(s string) error {
	if s != string(formatTable) && s != string(formatJSON) {
		return fmt.Errorf("must be %s or %s", formatTable, formatJSON)
	}
	*f = format(s)
	return nil
}

func (f *format) String() string { return string(*f) }

// Type is what the help calls the value.
func (f *format) Type() string { return "FORMAT" }

// finding is what a command prints: its JSON with -o json, its text
// otherwise.
type finding interface {
	// text writes the form for people.
	text(w *strings.Builder)
}

// print writes f to standard output as -o asks. JSON takes one line, so that
// several findings make a stream that can be read line by line.
func (sh *shell) print(f finding) error {
	if sh.output == formatJSON {
		encoder := json.NewEncoder(sh.stdout)
		encoder.SetEscapeHTML(false)
		return encoder.Encode(f)
	}
	var text strings.Builder
	f.text(&text)
	_, err := io.WriteString(sh.stdout, text.String())
	return err
}

// table writes rows in columns; the first row is the header.
func table(w *strings.Builder, rows [][]string) {
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		_, _ = io.WriteString(columns, strings.Join(row, "\t")+"\n") // memory takes all
	}
	_ = columns.Flush()
}
