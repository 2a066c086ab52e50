//go:build linux && (amd64 || arm64)

package live

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// regset reads a set of registers of a thread that stands still, and returns how
// many bytes it has.
func regset(tid int, set uintptr, buf []byte) (int, error) {
	v := unix.Iovec{Base: &buf[0], Len: uint64(len(buf))}
	_, _, err := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_GETREGSET, uintptr(tid), set, uintptr(unsafe.Pointer(&v)), 0, 0)
	if err != 0 {
		return 0, err
	}
	return int(v.Len), nil
}
