//go:build unix

package system

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"
)

const nonBlocking = syscall.O_NONBLOCK

// Map maps a file for reading and returns its bytes and what ends the mapping.
// The file must be regular and must not shrink: reading a mapping beyond the end
// of its file kills the program. An empty file has no bytes.
//
// Where the system has no mappings, the file is read.
func Map(name string) (data []byte, unmap func() error, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	return mapFile(f)
}

// mapFile is [Map] for an open file, which may be closed before the mapping
// ends.
func mapFile(f *os.File) (data []byte, unmap func() error, err error) {
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if info.Size() == 0 {
		return nil, func() error { return nil }, nil
	}
	if data, err = syscall.Mmap(int(f.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_SHARED); err != nil {
		return nil, nil, fmt.Errorf("cannot map %s: %w", f.Name(), err)
	}
	return data, func() error { return syscall.Munmap(data) }, nil
}

// PeakMemory returns the largest resident set, in bytes, of a process that has
// ended; 0 where it is not told.
func PeakMemory(p *os.ProcessState) int64 {
	use, ok := p.SysUsage().(*syscall.Rusage)
	switch {
	case !ok:
		return 0
	case runtime.GOOS == "darwin" || runtime.GOOS == "ios": // which count bytes
		return int64(use.Maxrss)
	}
	return int64(use.Maxrss) << 10
}

// CPUTime returns the CPU time that this process has used, 0 where it is not told.
func CPUTime() time.Duration {
	var use syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &use) != nil {
		return 0
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// OwnPrivateDir tells whether name is a directory, and no link to one, that
// belongs to this user and that nobody else can put anything into.
func OwnPrivateDir(name string) bool {
	info, err := os.Lstat(name)
	if err != nil || !info.IsDir() || info.Mode().Perm() != 0o700 {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}
