//go:build unix && !linux

package inject

import loupe_syscall "syscall"

func loupeLeaveSignals() {}

func loupeAccept(fd int) (int, error) {
	c, _, err := loupe_syscall.Accept(fd)
	if err == nil {
		loupe_syscall.CloseOnExec(c)
	}
	return c, err
}

func loupeSend(fd int, p []byte) (int, error) { return loupe_syscall.Write(fd, p) }
