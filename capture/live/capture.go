package live

import "time"

// Captured says what [Capture] has done.
type Captured struct {
	// Size is how long the file is, Disk how many bytes it takes on the disk, and
	// Written how many were written; the rest are holes.
	Size, Disk int64
	Written    uint64
	Threads    int
	// Stopped is how long the process stood still.
	Stopped time.Duration
	// Unreadable is how many bytes of memory the kernel has refused to read.
	Unreadable uint64
	// Cut is why the core ends before all was written, nil where it is whole.
	Cut error
}
