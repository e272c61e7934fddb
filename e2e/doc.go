// Package e2e tests the built program: real processes on loopback, joined by
// real gossip, asked over HTTP, killed with signals.
//
// The tests need nothing but Go, and run with the others; -short leaves them
// out. Those of servers that are not installed (nginx, Caddy, HAProxy) are
// skipped, unless the environment has CI=true. Those in the folder long take minutes and run on their own.
package e2e
