// Command murmurate runs a node of the rate limiter and asks running nodes.
//
// It translates: flags, environment and file become the options of a node,
// signals become its end, and errors become exit codes. [run] is the whole
// program as a function; each command is one file that parses its flags,
// does its work through package murmurate or through the HTTP interface of a
// running node, and hands what it found to [shell.print].
//
// Results go to standard output, in the form that -o asks for; the log and
// errors go to standard error. Nothing is coloured, so NO_COLOR needs no
// care.
package main
