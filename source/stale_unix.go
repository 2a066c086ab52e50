//go:build unix

package source

import (
	"errors"
	"syscall"
)

// gone tells whether no process has a number any more.
func gone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
