package collect

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// awaitEnd returns when a child has ended, or at once where the kernel has no way to tell
// (before 5.4, see [holdable]).
//
// Note: To wait for a child by wait4 takes every event of it, also that it stands still
// because this program holds it for a core: the child would seem to have ended.
func awaitEnd(p *os.Process) {
	p.WithHandle(func(handle uintptr) {
		for {
			if _, err := unix.Poll([]unix.PollFd{{Fd: int32(handle), Events: unix.POLLIN}}, -1); err != unix.EINTR {
				return
			}
		}
	})
}

// holdable tells whether a child may be held still while somebody waits for its end.
func holdable(p *os.Process) error {
	if err := p.WithHandle(func(uintptr) {}); errors.Is(err, os.ErrNoHandle) {
		return errors.New("this kernel is too old to hold a child still (Linux 5.4 is needed)")
	}
	return nil
}
