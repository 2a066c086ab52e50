//go:build unix

package cli

import (
	"fmt"
	"os"
	"syscall"
	"time"
)

// settled is how long a file must not have changed to be mapped: reading a
// mapping beyond the end of a file that shrinks kills the program.
const settled = 2 * time.Second

// mapFile returns the bytes of a file, mapped where that is safe.
func mapFile(name string) ([]byte, func() error, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() || info.Size() == 0 || time.Since(info.ModTime()) < settled {
		data, err := os.ReadFile(name)
		return data, func() error { return nil }, err
	}
	data, err := syscall.Mmap(int(f.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot map %s: %w", name, err)
	}
	return data, func() error { return syscall.Munmap(data) }, nil
}
