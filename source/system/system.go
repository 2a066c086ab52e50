// Package system is what the operating system does for whoever reads large files
// and measures processes: mapping a file, and the memory that a process needed.
// It is the one place for the differences between systems in both; it starts no
// process and parses nothing.
package system

// NonBlocking opens a pipe without waiting for its writer (see os.OpenFile).
const NonBlocking = nonBlocking

// MemoryLimit returns how much memory this process can have, in bytes: the machine's,
// or less where a limit of its own or of its container says so; 0 where it is not told.
func MemoryLimit() int64 { return memoryLimit() }
