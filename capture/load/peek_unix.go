//go:build unix

package load

import (
	"net"
	"syscall"
)

// peek looks at what has come on a connection without waiting and without taking
// it away: closed tells that the other side has hung up, waiting that there are
// bytes nobody has read.
func peek(conn net.Conn) (closed, waiting bool) {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return false, false
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return true, false
	}
	var b [1]byte
	err = raw.Control(func(fd uintptr) {
		n, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK)
		switch {
		case err == syscall.EAGAIN || err == syscall.EINTR:
		case err != nil || n == 0:
			closed = true
		default:
			waiting = true
		}
	})
	return closed || err != nil, waiting
}
