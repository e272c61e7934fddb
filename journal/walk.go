package journal

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
)

// read walks the file at path without bbolt. It returns the records that are
// whole, by bucket, and an error if there is anything in the file that bbolt
// could stumble over, or a record is missing.
func read(path string) (map[string]map[string][]byte, error) {
	f, err := os.Open(path) //nolint:gosec // the operator named the directory
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	w := walker{file: f, seen: make(map[uint64]bool), found: make(map[string]map[string][]byte)}
	if newest, ok := w.heads(); ok {
		w.pages = newest.pages
		w.length()
		w.tree(newest.root, w.bucket, nil, nil)
	}
	return w.check(), w.problem
}

type walker struct {
	file  *os.File
	pages uint64 // in use
	seen  map[uint64]bool
	// found are the sealed records by bucket.
	found map[string]map[string][]byte
	// problem is the first that was met.
	problem error
}

func (w *walker) fail(err error) {
	if w.problem == nil {
		w.problem = err
	}
}

// heads reads both head pages and returns the one in force. Both have to be
// whole: bbolt would quietly go back to the older one.
func (w *walker) heads() (newest meta, ok bool) {
	for i := range int64(2) {
		b := make([]byte, pageBytes)
		if _, err := w.file.ReadAt(b, i*pageBytes); err != nil {
			w.fail(fmt.Errorf("head page %d: %w", i, err))
			continue
		}
		m, err := parseMeta(b)
		if err != nil {
			w.fail(err)
			continue
		}
		if !ok || m.transaction > newest.transaction {
			newest, ok = m, true
		}
	}
	return newest, ok
}

// length checks that all pages in use are there, those that are free too.
func (w *walker) length() {
	info, err := w.file.Stat()
	switch {
	case err != nil:
		w.fail(err)
	case uint64(info.Size())/pageBytes < w.pages:
		w.fail(fmt.Errorf("it is cut short: %d bytes of %d pages", info.Size(), w.pages))
	}
}

// tree visits the leaves below page id in order. Their keys lie in
// [least, below), nil being no bound.
func (w *walker) tree(id uint64, visit func(element), least, below []byte) {
	p, overflow, err := readPage(w.file, id, w.pages)
	if err != nil {
		w.fail(err)
		return
	}
	for i := range overflow + 1 {
		if w.seen[id+i] {
			w.fail(fmt.Errorf("page %d belongs to two others", id+i))
			return
		}
		w.seen[id+i] = true
	}
	if p.kind == leafPage {
		w.leaf(&p, visit, least, below)
		return
	}
	if p.count == 0 {
		w.fail(fmt.Errorf("page %d leads nowhere", id))
	}
	elements := w.elements(&p, least, below)
	for i, e := range elements {
		next := below
		if i+1 < len(elements) {
			next = elements[i+1].key
		}
		w.tree(e.child, visit, e.key, next)
	}
}

func (w *walker) leaf(p *page, visit func(element), least, below []byte) {
	for _, e := range w.elements(p, least, below) {
		visit(e)
	}
}

// elements are the entries of p that are whole, in the order that they should
// have.
func (w *walker) elements(p *page, least, below []byte) []element {
	var all []element
	for i := range p.count {
		e, err := p.element(i)
		switch {
		case err != nil:
		case len(e.key) == 0:
			err = errors.New("an entry has no key")
		case bytes.Compare(e.key, least) < 0 || below != nil && bytes.Compare(e.key, below) >= 0:
			err = errors.New("an entry is in another's place")
		case len(all) > 0 && bytes.Equal(e.key, all[len(all)-1].key):
			err = errors.New("an entry is there twice")
		}
		if err != nil {
			w.fail(err)
			continue
		}
		least = e.key
		all = append(all, e)
	}
	return all
}

// bucket visits an entry of the root, which is a bucket.
func (w *walker) bucket(e element) {
	if !e.bucket || len(e.value) < headerBytes {
		w.fail(errors.New("a bucket is not one"))
		return
	}
	records := make(map[string][]byte)
	w.found[string(e.key)] = records
	visit := func(e element) {
		if e.bucket {
			w.fail(errors.New("a record is a bucket"))
			return
		}
		records[string(e.key)] = e.value
	}
	if root := native.Uint64(e.value); root != 0 {
		w.tree(root, visit, nil, nil)
		return
	}
	p, err := inlinePage(e.value[headerBytes:])
	if err != nil {
		w.fail(err)
		return
	}
	w.leaf(&p, visit, nil, nil)
}

// check returns the records that match their checksums.
func (w *walker) check() map[string]map[string][]byte {
	totals := w.found[sums]
	delete(w.found, sums)
	whole := make(map[string]map[string][]byte)
	for _, bucket := range slices.Sorted(maps.Keys(w.found)) {
		whole[bucket] = make(map[string][]byte)
		var sum uint64
		for key, sealed := range w.found[bucket] {
			sum ^= sumOf(sealed)
			value, ok := unseal(bucket, []byte(key), sealed)
			if !ok {
				w.fail(fmt.Errorf("a record of %s does not match its checksum", bucket))
				continue
			}
			whole[bucket][key] = value
		}
		if sum != sumOf(totals[bucket]) {
			w.fail(fmt.Errorf("records of %s are missing", bucket))
		}
		delete(totals, bucket)
	}
	if len(totals) > 0 {
		w.fail(errors.New("a bucket is missing"))
	}
	return whole
}
