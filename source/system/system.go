// Package system is what the operating system does for whoever reads large files
// and measures processes: mapping a file, and the memory that a process needed.
// It is the one place for the differences between systems in both; it starts no
// process and parses nothing.
package system

import (
	"io/fs"
	"time"
)

// NonBlocking opens a pipe without waiting for its writer (see os.OpenFile).
const NonBlocking = nonBlocking

// settled is how long a file must not have changed to be mapped: reading a
// mapping beyond the end of a file that shrinks kills the program.
const settled = 2 * time.Second

// Settled tells whether a file may be mapped: it is regular, has something in
// it, and nobody seems to be writing it.
func Settled(info fs.FileInfo) bool {
	return info.Mode().IsRegular() && info.Size() > 0 && time.Since(info.ModTime()) >= settled
}

// MemoryLimit returns how much memory this process can have, in bytes: the machine's,
// or less where a limit of its own or of its container says so; 0 where it is not told.
func MemoryLimit() int64 { return memoryLimit() }
