//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package collect

import (
	"os"

	"loupe/source/system"
)

// lockFile takes the lock of a file that is not locked.
func lockFile(f *os.File) bool { return system.LockFile(f) == nil }
