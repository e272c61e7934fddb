package journal

import (
	"bytes"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sample is a file of some pages with branches, free pages and two buckets, and
// what is in it.
func sample(t *testing.T) (file []byte, records map[string][]byte) {
	t.Helper()
	dir := t.TempDir()
	j, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := j.Bucket(Overrides)
	records = make(map[string][]byte)
	for i := range 300 {
		records[fmt.Sprintf("key-%03d", i)] = bytes.Repeat([]byte{byte(i)}, 60)
	}
	put(t, r, records)
	for i := range 50 {
		key := fmt.Sprintf("key-%03d", 3*i)
		delete(records, key)
		put(t, r, map[string][]byte{key: nil})
	}
	put(t, j.Bucket("small"), map[string][]byte{"a": []byte("1")})
	closed(t, j)
	file, err = os.ReadFile(filepath.Join(dir, fileName))
	if err != nil {
		t.Fatal(err)
	}
	return file, records
}

// openDamaged opens a directory with the given file. Whatever that holds, the
// journal must be usable, hold no record that was not written, and say so if
// any is missing.
func openDamaged(t *testing.T, what string, file []byte, written map[string][]byte) (log string, kept int) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, fileName)
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	j, err := Open(dir, slog.New(slog.NewTextHandler(&out, nil)))
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	r := j.Bucket(Overrides)
	got := all(t, r)
	for key, value := range got {
		if !bytes.Equal(written[key], value) {
			t.Errorf("%s: a record %q that was not written", what, key)
		}
	}
	asides, err := filepath.Glob(path + ".damaged-*")
	if err != nil {
		t.Fatal(err)
	}
	reported := strings.Contains(out.String(), "the data file is damaged")
	if len(got) < len(written) && !reported {
		t.Errorf("%s: %d of %d records are lost without a word", what, len(written)-len(got), len(written))
	}
	if reported != (len(asides) == 1) {
		t.Errorf("%s: reported %v, set aside %q", what, reported, asides)
	}
	if reported {
		if aside, err := os.ReadFile(asides[0]); err != nil || !bytes.Equal(aside, file) {
			t.Errorf("%s: what was set aside is not what was there: %v", what, err)
		}
	}
	put(t, r, map[string][]byte{"one": []byte("more")})
	closed(t, j)
	if _, err := read(path); err != nil {
		t.Errorf("%s: the file is still damaged: %v", what, err)
	}
	return out.String(), len(got)
}

func TestWholeFile(t *testing.T) {
	t.Parallel()
	file, records := sample(t)
	if log, kept := openDamaged(t, "whole", file, records); log != "" || kept != len(records) {
		t.Errorf("%d of %d records, %s", kept, len(records), log)
	}
}

func TestTruncatedFiles(t *testing.T) {
	t.Parallel()
	file, records := sample(t)
	head, err := parseMeta(file)
	if err != nil {
		t.Fatal(err)
	}
	step := 97 // every length takes long, and lengths of one page differ little
	for n := 0; n < len(file); n += step {
		log, _ := openDamaged(t, fmt.Sprint("cut to ", n), file[:n], records)
		if inUse := int(head.pages) * pageBytes; (log == "") != (n >= inUse) {
			t.Errorf("cut to %d, %d in use: reported %s", n, inUse, log)
		}
		if n == 2*step { // past the first header
			step = 1531
		}
	}
}

func TestFlippedBits(t *testing.T) {
	t.Parallel()
	file, records := sample(t)
	random := rand.New(rand.NewPCG(1, 2))
	reported := 0
	flip := func(bit int) {
		damaged := bytes.Clone(file)
		damaged[bit/8] ^= 1 << (bit % 8)
		if log, _ := openDamaged(t, fmt.Sprint("bit ", bit), damaged, records); log != "" {
			reported++
		}
	}
	for range 100 {
		flip(random.IntN(8 * len(file)))
	}
	for start := 0; start < len(file); start += pageBytes { // where it hurts most
		for range 8 {
			flip(8*start + random.IntN(8*(headerBytes+3*elementBytes)))
		}
	}
	if reported == 0 {
		t.Error("no damage was reported")
	}
}

// What cannot come from one flipped bit: pages that lead back to themselves,
// rubbish, and other programs' files.
func TestOtherFiles(t *testing.T) {
	t.Parallel()
	file, records := sample(t)
	random := rand.New(rand.NewPCG(3, 4))
	noise := make([]byte, len(file))
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	circle := bytes.Clone(file)
	for start := 2 * pageBytes; start < len(file); start += pageBytes {
		if native.Uint16(circle[start+8:]) == branchPage {
			native.PutUint64(circle[start+headerBytes+8:], native.Uint64(circle[start:]))
		}
	}
	for name, damaged := range map[string][]byte{
		"noise":          noise,
		"a circle":       circle,
		"text":           []byte("not a database\n"),
		"zeros":          make([]byte, len(file)),
		"only the heads": append(bytes.Clone(file[:2*pageBytes]), noise[2*pageBytes:]...),
	} {
		if bytes.Equal(damaged, file) {
			t.Errorf("%s: the file is unchanged", name)
		}
		if log, _ := openDamaged(t, name, damaged, records); log == "" {
			t.Errorf("%s: nothing is reported", name)
		}
	}
}

// A record that is put back to what it was before matches its own checksum,
// and not that of all together.
func TestStaleRecordsAreNoticed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	put(t, j.Bucket(Overrides), map[string][]byte{"a": []byte("old!"), "b": {2}})
	before := seal(string(Overrides), "a", []byte("old!"))
	put(t, j.Bucket(Overrides), map[string][]byte{"a": []byte("new!")})
	closed(t, j)
	file, err := os.ReadFile(filepath.Join(dir, fileName))
	if err != nil {
		t.Fatal(err)
	}
	stale := bytes.ReplaceAll(file, seal(string(Overrides), "a", []byte("new!")), before)
	log, _ := openDamaged(t, "stale", stale, map[string][]byte{"a": []byte("old!"), "b": {2}})
	if !strings.Contains(log, "records of overrides are missing") {
		t.Errorf("reported: %s", log)
	}
}
