//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package collect

import (
	"os"
	"syscall"
)

// lockFile takes the lock of a file that is not locked. The kernel frees it
// when the process ends; programs that it starts do not inherit it.
func lockFile(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
