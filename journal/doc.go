// Package journal keeps on disk what must outlive a process.
//
// [Open] takes the one file in a data directory, for this process alone. A
// caller asks for the records of its [Bucket], reads them once with
// [Records.All], and from then on writes what has changed with [Records.Put],
// which returns when it is durable. In between lies bbolt, which writes pages
// beside those in force and then switches to them, so that a process that is
// killed at any instant leaves the last whole state behind.
//
// bbolt trusts its pages: one flipped bit could let it crash, run in circles,
// or lose records without a word. So before it gets to see a file, the file's
// pages are walked here, each record is held against a checksum of its own,
// and all records of a bucket against a checksum of them together. A file
// that does not hold is set aside under another name, what is whole in it goes
// into a new one, and the log says so.
//
// Guaranteed: Open succeeds whatever the file contains. What is read was
// written. What Put acknowledged is there after a crash of the process, and
// of the machine if its disk keeps its word.
//
// A file that is removed or replaced while the process runs is noticed within a
// second, and so is a write that fails: [Journal.Trouble].
//
// Not promised: that other damage while the process runs is noticed before the
// next Open; what a record means.
package journal
