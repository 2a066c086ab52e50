//go:build !unix

package system

import (
	"io"
	"os"
	"time"
)

const nonBlocking = 0 // a name of a file is never that of a pipe

// Map reads a file and returns its bytes.
func Map(name string) (data []byte, unmap func() error, err error) {
	data, err = os.ReadFile(name)
	return data, func() error { return nil }, err
}

// mapFile reads an open file from its begin and returns its bytes.
func mapFile(f *os.File) (data []byte, unmap func() error, err error) {
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	data, err = io.ReadAll(io.NewSectionReader(f, 0, info.Size()))
	return data, func() error { return nil }, err
}

// PeakMemory is not told here.
func PeakMemory(*os.ProcessState) int64 { return 0 }

// CPUTime is not told here.
func CPUTime() time.Duration { return 0 }

// OwnPrivateDir tells of no directory that it is private.
func OwnPrivateDir(string) bool { return false }
