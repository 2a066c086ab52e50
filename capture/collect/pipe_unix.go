//go:build unix

package collect

import (
	"os"
	"syscall"
)

// leftIn reads what lies in a pipe now that its deadline has passed, after which Go's
// own Read gives nothing any more: on a busy machine the time may be over before what
// came in time was read.
func leftIn(pipe *os.File) []byte {
	conn, err := pipe.SyscallConn()
	if err != nil {
		return nil
	}
	buf, n := make([]byte, 1<<20), 0 // the most that an unprivileged pipe holds
	conn.Control(func(fd uintptr) {
		// The pipe does not block: os.Pipe gives it to Go's poller.
		n, _ = syscall.Read(int(fd), buf)
	})
	return buf[:max(n, 0)]
}
