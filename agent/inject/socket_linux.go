//go:build linux

package inject

import loupe_syscall "syscall"

func loupeAccept(fd int) (int, error) {
	c, _, err := loupe_syscall.Accept4(fd, loupe_syscall.SOCK_CLOEXEC)
	return c, err
}

// loupeSend writes without a SIGPIPE, of which the program may be told.
func loupeSend(fd int, p []byte) (int, error) {
	return loupe_syscall.SendmsgN(fd, p, nil, nil, loupe_syscall.MSG_NOSIGNAL)
}
