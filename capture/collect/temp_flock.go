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

// ownPrivateDir tells whether name is a directory, and no link to one, that
// belongs to this user and that nobody else can put anything into.
func ownPrivateDir(name string) bool {
	info, err := os.Lstat(name)
	if err != nil || !info.IsDir() || info.Mode().Perm() != 0o700 {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}
