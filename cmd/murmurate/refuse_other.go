//go:build !linux

package main

import "net"

// refuseNew does nothing: this system cannot refuse connections on a socket
// that still has some to be accepted.
func refuseNew(*net.TCPListener) error { return nil }
