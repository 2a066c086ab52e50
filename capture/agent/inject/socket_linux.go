//go:build linux

package inject

import (
	loupe_runtime "runtime"
	loupe_syscall "syscall"
	loupe_unsafe "unsafe"
)

// loupeLeaveSignals gives the goroutine a thread of its own, to which the kernel
// does not give a SIGQUIT for the program: the runtime would print what the
// agent does in front of the program's goroutines. The thread ends with the
// goroutine.
func loupeLeaveSignals() {
	loupe_runtime.LockOSThread()
	const block, size = 0, 8
	set := uint64(1) << (loupe_syscall.SIGQUIT - 1)
	loupe_syscall.RawSyscall6(loupe_syscall.SYS_RT_SIGPROCMASK, block, uintptr(loupe_unsafe.Pointer(&set)), 0, size, 0, 0)
}

func loupeAccept(fd int) (int, error) {
	c, _, err := loupe_syscall.Accept4(fd, loupe_syscall.SOCK_CLOEXEC)
	return c, err
}

// loupeSend writes without a SIGPIPE, of which the program may be told.
func loupeSend(fd int, p []byte) (int, error) {
	return loupe_syscall.SendmsgN(fd, p, nil, nil, loupe_syscall.MSG_NOSIGNAL)
}
