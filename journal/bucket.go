package journal

import (
	"encoding/binary"
	"fmt"

	"go.etcd.io/bbolt"
)

// Bucket names the records of one purpose.
type Bucket string

// Overrides are those that were set at run time.
const Overrides Bucket = "overrides"

// sums is the bucket with a sum for each other one.
const sums = "sums"

// Records are those of one bucket.
type Records struct {
	journal *Journal
	name    Bucket
}

// Bucket returns the records of one purpose.
func (j *Journal) Bucket(name Bucket) *Records { return &Records{j, name} }

// All returns all records by their keys.
func (r *Records) All() (map[string][]byte, error) {
	all := make(map[string][]byte)
	err := r.journal.db.View(func(tx *bbolt.Tx) error {
		b := tx.Bucket([]byte(r.name))
		if b == nil {
			return nil
		}
		return b.ForEach(func(key, sealed []byte) error {
			value, ok := unseal(string(r.name), key, sealed)
			if !ok {
				return fmt.Errorf("a record of %s has been damaged since the file was opened", r.name)
			}
			all[string(key)] = append([]byte{}, value...)
			return nil
		})
	})
	return all, err
}

// Put has made records durable when it returns nil: all of them, or none. A
// nil value takes the record of that key away. Keys are not empty.
func (r *Records) Put(records map[string][]byte) error {
	return r.journal.wrote(r.journal.db.Update(func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists([]byte(r.name))
		if err != nil {
			return err
		}
		totals, err := tx.CreateBucketIfNotExists([]byte(sums))
		if err != nil {
			return err
		}
		sum := sumOf(totals.Get([]byte(r.name)))
		for key, value := range records {
			sum ^= sumOf(b.Get([]byte(key)))
			if value == nil {
				err = b.Delete([]byte(key))
			} else {
				sealed := seal(string(r.name), key, value)
				sum ^= sumOf(sealed)
				err = b.Put([]byte(key), sealed)
			}
			if err != nil {
				return err
			}
		}
		return totals.Put([]byte(r.name), binary.BigEndian.AppendUint64(nil, sum))
	}))
}
