package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
)

// The format of bbolt's files, version 2, as its package internal/common has
// it (go.etcd.io/bbolt v1.5.0), in the byte order of the machine:
//
//	page     id 8 bytes, flags 2, count 2, overflow 4 (further pages that belong to it), then
//	meta     magic 4, version 4, page size 4, flags 4, root page 8, sequence 8,
//	         free list 8, pages in use 8, transaction 8, FNV-1a of the above 8
//	branch   count elements: offset of the key 4, its length 4, page 8; then keys
//	leaf     count elements: flags 4, offset 4, lengths of key and value 4 each; then keys and values
//
// Offsets count from their element. A leaf element with flag 1 is a bucket:
// its value is a root page 8, a sequence 8, and if the root is 0 a whole leaf
// page of its own.
const (
	pageBytes    = 4096
	headerBytes  = 16
	elementBytes = 16
	metaBytes    = 64

	magic         = 0xED0CDAED
	formatVersion = 2

	branchPage = 1
	leafPage   = 2
	bucketFlag = 1
)

var native = binary.NativeEndian

// meta is one of the two places from which everything is found. The one with
// the higher transaction is in force.
type meta struct{ root, pages, transaction uint64 }

// parseMeta reads the meta of a page.
func parseMeta(page []byte) (meta, error) {
	b := page[headerBytes : headerBytes+metaBytes]
	sum := fnv.New64a()
	_, _ = sum.Write(b[:metaBytes-8]) // never fails
	switch {
	case native.Uint32(b) != magic || native.Uint32(b[4:]) != formatVersion || native.Uint32(b[8:]) != pageBytes:
		return meta{}, errors.New("a head page is not one")
	case native.Uint64(b[metaBytes-8:]) != sum.Sum64():
		return meta{}, errors.New("a head page does not match its checksum")
	}
	return meta{root: native.Uint64(b[16:]), pages: native.Uint64(b[40:]), transaction: native.Uint64(b[48:])}, nil
}

// page is one page with those that belong to it.
type page struct {
	kind  uint16
	count int
	bytes []byte // from the header on
}

// readPage reads the page with the given id, of pages in use.
func readPage(f *os.File, id, pages uint64) (p page, overflow uint64, err error) {
	var header [headerBytes]byte
	if id < 2 || id >= pages {
		return page{}, 0, fmt.Errorf("there is no page %d", id)
	}
	if _, err := f.ReadAt(header[:], int64(id*pageBytes)); err != nil {
		return page{}, 0, fmt.Errorf("page %d: %w", id, err)
	}
	p = page{kind: native.Uint16(header[8:]), count: int(native.Uint16(header[10:]))}
	overflow = uint64(native.Uint32(header[12:]))
	if native.Uint64(header[:]) != id || p.kind != branchPage && p.kind != leafPage || overflow >= pages-id {
		return page{}, 0, fmt.Errorf("the head of page %d makes no sense", id)
	}
	p.bytes = make([]byte, (1+overflow)*pageBytes)
	if _, err := f.ReadAt(p.bytes, int64(id*pageBytes)); err != nil {
		return page{}, 0, fmt.Errorf("page %d: %w", id, err)
	}
	return p, overflow, nil
}

// inlinePage is the page in the value of a bucket.
func inlinePage(b []byte) (page, error) {
	if len(b) < headerBytes || native.Uint16(b[8:]) != leafPage {
		return page{}, errors.New("a small bucket is not one")
	}
	return page{kind: leafPage, count: int(native.Uint16(b[10:])), bytes: b}, nil
}

// element is one entry of a page.
type element struct {
	key    []byte
	child  uint64 // of a branch
	value  []byte // of a leaf
	bucket bool   // of a leaf
}

// element reads the i-th entry of p.
func (p *page) element(i int) (element, error) {
	at := uint64(headerBytes + i*elementBytes)
	if at+elementBytes > uint64(len(p.bytes)) {
		return element{}, errors.New("a page has more entries than room")
	}
	b := p.bytes[at:]
	if p.kind == branchPage {
		key, err := slice(b, uint64(native.Uint32(b)), uint64(native.Uint32(b[4:])))
		return element{key: key, child: native.Uint64(b[8:])}, err
	}
	flags, offset, keyLength := native.Uint32(b), uint64(native.Uint32(b[4:])), uint64(native.Uint32(b[8:]))
	if flags > bucketFlag {
		return element{}, errors.New("an entry has unknown flags")
	}
	key, err := slice(b, offset, keyLength)
	if err != nil {
		return element{}, err
	}
	value, err := slice(b, offset+keyLength, uint64(native.Uint32(b[12:])))
	return element{key: key, value: value, bucket: flags == bucketFlag}, err
}

func slice(b []byte, offset, length uint64) ([]byte, error) {
	if offset+length > uint64(len(b)) {
		return nil, errors.New("an entry lies outside of its page")
	}
	return b[offset : offset+length], nil
}
