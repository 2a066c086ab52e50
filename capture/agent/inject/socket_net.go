//go:build !unix

package inject

import (
	loupe_errors "errors"
	loupe_net "net"
	loupe_os "os"
	loupe_time "time"
)

func loupeLeaveSignals() {}

// loupeNetConn waits in Go's poller, where sockets cannot block a thread.
type loupeNetConn struct{ loupe_net.Conn }

// loupeListen listens on a Unix socket of that name.
func loupeListen(path string) (accept func() (loupeConn, error), err error) {
	l, err := loupe_net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	return func() (loupeConn, error) {
		c, err := l.Accept()
		return loupeNetConn{c}, err
	}, nil
}

func (c loupeNetConn) wait(d loupe_time.Duration) (hungUp bool) {
	end := loupe_time.Time{}
	if d != loupeForever {
		end = loupe_time.Now().Add(d)
	}
	c.SetReadDeadline(end)
	for b := make([]byte, 1); ; {
		if _, err := c.Read(b); err != nil {
			return !loupe_errors.Is(err, loupe_os.ErrDeadlineExceeded)
		}
	}
}

// loupePauser is not needed: the runtime's own search for deadlocks is off while
// the agent listens.
func loupePauser() (loupeConn, error) { return nil, loupe_errors.ErrUnsupported }

func loupeUsedCPU() loupe_time.Duration { return 0 }

func loupeExit(code int) { loupe_os.Exit(code) }
