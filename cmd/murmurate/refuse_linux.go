package main

import (
	"errors"
	"net"
	"syscall"
)

// Where the flags are in a TCP header, and the one of a segment that opens a
// connection (RFC 9293, section 3.1).
const (
	tcpFlags = 13
	tcpSYN   = 0x02
)

// refuseNew has the kernel drop what would open a connection on l, so that
// the queue of l only shrinks. Without that, a connection can always slip in
// between the last look at the queue and the end of the listener. Clients
// try again for a while, and are refused once l is closed.
func refuseNew(l *net.TCPListener) error {
	raw, err := l.SyscallConn()
	if err != nil {
		return err
	}
	//nolint:staticcheck // its replacement is a module that nothing else needs
	filter := []syscall.SockFilter{
		*syscall.LsfStmt(syscall.BPF_LD|syscall.BPF_B|syscall.BPF_ABS, tcpFlags),
		*syscall.LsfJump(syscall.BPF_JMP|syscall.BPF_JSET|syscall.BPF_K, tcpSYN, 0, 1),
		*syscall.LsfStmt(syscall.BPF_RET|syscall.BPF_K, 0),     // bytes to keep: none
		*syscall.LsfStmt(syscall.BPF_RET|syscall.BPF_K, 1<<16), // all
	}
	var attached error
	err = raw.Control(func(fd uintptr) {
		attached = syscall.AttachLsf(int(fd), filter) //nolint:staticcheck // as above
	})
	return errors.Join(err, attached)
}
