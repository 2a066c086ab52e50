//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package system

import (
	"errors"
	"os"
	"syscall"
)

// LockFile takes the lock of an open file, as [Lock] does. The kernel frees it when the process ends; programs that
// it starts do not inherit it.
func LockFile(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}
