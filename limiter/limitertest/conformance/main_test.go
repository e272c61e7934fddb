package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const good = `{"tolerance_ns":1000,"cases":[{"name":"short","why":"","algorithm":"fixed_window",
"limit":{"count":5,"period_ns":1000000000},"steps":[
{"at_ns":0,"cost":1,"allowed":true,"remaining":4,"retry_after_ns":0,"reset_after_ns":1000000000},
{"at_ns":0,"cost":1,"allowed":true,"remaining":3,"retry_after_ns":0,"reset_after_ns":1000000000}]}]}`

func write(t *testing.T, content string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "cases.json")
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestRun(t *testing.T) {
	t.Parallel()
	planted := strings.Replace(good, `"remaining":3`, `"remaining":2`, 1)
	lastStep := good[strings.LastIndex(good, `{"at_ns"`):strings.Index(good, `]}]}`)]
	many := strings.Replace(good, `]}]}`, strings.Repeat(","+lastStep, 50)+`]}]}`, 1)
	tests := []struct {
		why   string
		files []string
		code  int
		says  []string
		lines int
	}{
		{"right", []string{write(t, good), write(t, good)}, 0, []string{"ok: 2 cases, 4 steps"}, 1},
		{"a planted fault", []string{write(t, good), write(t, planted)}, 1,
			[]string{`case "short", step 1: remaining: got 3, want 2`, "FAIL: 2 cases, 4 steps, 1 wrong"}, 2},
		{"many faults are cut short", []string{write(t, many)}, 1, []string{"and 47 more wrong steps", "50 wrong"}, 5},
		{"many files are, too", repeat(write(t, many), 9), 1, []string{"and 430 more wrong steps", "450 wrong"}, 22},
		{"an unknown algorithm, and the rest is still checked", []string{write(t, strings.Replace(good, "fixed", "fixd", 1)), write(t, planted)}, 1,
			[]string{`algorithm: "fixd_window" is unknown`, "step 1"}, 3},
		{"not there", []string{"/nowhere/cases.json"}, 1, []string{"/nowhere/cases.json"}, 2},
		{"no files", nil, 1, []string{"usage"}, 1},
	}
	for _, test := range tests {
		var out, errs strings.Builder
		code := run(test.files, &out, &errs)
		text := out.String() + errs.String()
		if code != test.code || strings.Count(text, "\n") != test.lines || (code == 0) != (errs.Len() == 0) {
			t.Errorf("%s: exit %d with\n%s", test.why, code, text)
		}
		for _, s := range test.says {
			if !strings.Contains(text, s) {
				t.Errorf("%s: does not say %q:\n%s", test.why, s, text)
			}
		}
	}
}

func repeat(name string, n int) []string {
	files := make([]string, n)
	for i := range files {
		files[i] = name
	}
	return files
}
