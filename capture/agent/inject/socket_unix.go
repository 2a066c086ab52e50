//go:build unix

package inject

import (
	loupe_io "io"
	loupe_syscall "syscall"
	loupe_time "time"
)

// loupeSocket is a socket that blocks its thread, outside of Go's poller.
type loupeSocket int

// loupeListen listens on a Unix socket of that name.
func loupeListen(path string) (accept func() (loupeConn, error), err error) {
	loupe_syscall.ForkLock.RLock()
	fd, err := loupe_syscall.Socket(loupe_syscall.AF_UNIX, loupe_syscall.SOCK_STREAM, 0)
	if err == nil {
		loupe_syscall.CloseOnExec(fd)
	}
	loupe_syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, err
	}
	if err = loupe_syscall.Bind(fd, &loupe_syscall.SockaddrUnix{Name: path}); err == nil {
		err = loupe_syscall.Listen(fd, 16)
	}
	if err != nil {
		loupe_syscall.Close(fd)
		return nil, err
	}
	return func() (loupeConn, error) {
		for {
			c, err := loupeAccept(fd)
			if err != loupe_syscall.EINTR && err != loupe_syscall.ECONNABORTED {
				return loupeSocket(c), err
			}
		}
	}, nil
}

// Read reads what there is.
func (s loupeSocket) Read(p []byte) (int, error) {
	for {
		n, err := loupe_syscall.Read(int(s), p)
		switch {
		case err == loupe_syscall.EINTR:
			continue
		case err != nil:
			return 0, err
		case n == 0:
			return 0, loupe_io.EOF
		}
		return n, nil
	}
}

// Write writes all of p.
func (s loupeSocket) Write(p []byte) (int, error) {
	done := 0
	for done < len(p) {
		n, err := loupeSend(int(s), p[done:])
		if n > 0 {
			done += n
		}
		if err != nil && err != loupe_syscall.EINTR {
			return done, err
		}
	}
	return done, nil
}

// Close closes the socket.
func (s loupeSocket) Close() error { return loupe_syscall.Close(int(s)) }

func (s loupeSocket) wait(d loupe_time.Duration) (hungUp bool) {
	end := loupe_time.Now().Add(d)
	for {
		limit := loupe_syscall.Timeval{} // none
		if d != loupeForever {
			left := loupe_time.Until(end)
			if left <= 0 {
				return false
			}
			if left < loupe_time.Millisecond {
				left = loupe_time.Millisecond
			}
			limit = loupe_syscall.NsecToTimeval(int64(left))
		}
		loupe_syscall.SetsockoptTimeval(int(s), loupe_syscall.SOL_SOCKET, loupe_syscall.SO_RCVTIMEO, &limit)
		var b [1]byte
		n, err := loupe_syscall.Read(int(s), b[:])
		switch {
		case err == loupe_syscall.EINTR, err == loupe_syscall.EAGAIN, n > 0:
		default:
			return true
		}
	}
}

// loupePauser returns a connection to nobody, whose wait is a pause.
func loupePauser() (loupeConn, error) {
	loupe_syscall.ForkLock.RLock()
	defer loupe_syscall.ForkLock.RUnlock()
	fds, err := loupe_syscall.Socketpair(loupe_syscall.AF_UNIX, loupe_syscall.SOCK_STREAM, 0)
	if err != nil {
		return nil, err
	}
	loupe_syscall.CloseOnExec(fds[0])
	loupe_syscall.CloseOnExec(fds[1])
	return loupeSocket(fds[0]), nil
}

// loupeUsedCPU returns the CPU time of the process.
func loupeUsedCPU() loupe_time.Duration {
	var u loupe_syscall.Rusage
	if loupe_syscall.Getrusage(loupe_syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return loupe_time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// loupeExit ends the program without its exit hooks, as the runtime does when it
// gives up.
func loupeExit(code int) { loupe_syscall.Exit(code) }
