// Package limitertest checks limiters against what limits mean.
//
// [Oracle] is a second, naive implementation of every algorithm in rational
// numbers, slow and without bounds, for tests that compare a table, or a
// whole cluster, with it. [ReadCases] reads recorded histories with their
// right answers, and [Case.Run] plays one against a fresh table; the program
// in the folder conformance does so from the command line.
//
// Nothing here is meant for production use.
package limitertest
