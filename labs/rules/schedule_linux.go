package main

import (
	"sync/atomic"
	"syscall"
	"time"
)

// sc15 waits in the kernel, as a call of a driver does, for a little while each time, with
// others that want to run meanwhile; the other form computes as long.
func sc15() {
	var all atomic.Int64
	end := time.Now().Add(time.Second)
	together(32, func(int) {
		for time.Now().Before(end) {
			if fixed {
				all.Add(int64(count(100_000)))
				continue
			}
			t := syscall.NsecToTimespec(100_000)
			_ = syscall.Nanosleep(&t, nil) // a signal may end it earlier
			count(1000)
		}
	})
}
