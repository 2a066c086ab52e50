//go:build !loupe_portable

package load

import (
	"syscall"
	"testing"
)

// BenchmarkSyscall is what going around the scheduler saves.
func BenchmarkSyscall(b *testing.B) {
	fd, err := syscall.Open("/dev/null", syscall.O_WRONLY, 0)
	if err != nil {
		b.Skip(err)
	}
	defer syscall.Close(fd)
	b.Run("scheduler", func(b *testing.B) {
		for b.Loop() {
			syscall.Write(fd, []byte("x"))
		}
	})
	b.Run("raw", func(b *testing.B) {
		for b.Loop() {
			writeFD(fd, []byte("x"))
		}
	})
}
