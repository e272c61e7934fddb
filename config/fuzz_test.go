package config

import (
	"bytes"
	"errors"
	"os"
	"reflect"
	"testing"
)

// FuzzLoad: any file gives a usable configuration that prints and reads
// back, or faults. What is printed is valid by the JSON Schema.
func FuzzLoad(f *testing.F) {
	schema := compiled(f)
	for _, file := range []string{"../config.example.yaml", "testdata/every.yaml"} {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for _, text := range []string{
		"", "~", "- a", "http: &a\n  tls: *a", "a: &x [*x]", "policies: [~, {}, [], x]", "log: {level: info}\n---\n...",
		"? {a: b}\n: c", "!!map {log: !x {}}", "policies:\n- limits:\n  - {rate: 5/s, count: 0x5, burst: ~}", "\xff\xfeh\x00", "\t",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := load(readDocument("FILE", text), Source{}, newFiles())
		var faults *Faults
		if err != nil {
			if c != nil || !errors.As(err, &faults) || len(faults.List) == 0 || faults.Error() == "" {
				t.Fatalf("load = %v, %#v", c, err)
			}
			for _, fault := range faults.List {
				if fault.Line < 0 || fault.Line > bytes.Count(text, []byte("\n"))+bytes.Count(text, []byte("\r"))+
					bytes.Count(text, []byte("\u0085"))+bytes.Count(text, []byte("\u2028"))+bytes.Count(text, []byte("\u2029"))+2 {
					t.Fatalf("no such line: %v", fault)
				}
			}
			return
		}
		if _, err := c.PolicySet(); err != nil {
			t.Fatalf("accepted, but: %v", err)
		}
		var printed bytes.Buffer
		if err := c.Print(&printed); err != nil {
			t.Fatal(err)
		}
		if err := judge(t, schema, printed.Bytes()); err != nil {
			t.Fatalf("%v in\n%s", err, printed.Bytes())
		}
		if !reflect.DeepEqual(c.Redacted(), c) {
			return // a secret was hidden
		}
		again, err := load(readDocument("FILE", printed.Bytes()), Source{}, newFiles())
		c.PoliciesDir = ""                // the policies are there
		if c.warnings = nil; err == nil { // which have other lines now
			again.warnings = nil
		}
		if err != nil || !reflect.DeepEqual(again, c) {
			t.Fatalf("%v\n got %+v\nwant %+v\nfrom %s", err, again, c, printed.Bytes())
		}
	})
}
