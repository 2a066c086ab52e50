package load

import (
	"os"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// monotonicAt returns what CLOCK_MONOTONIC was at an instant, 0 when it cannot
// be asked. Execution traces have the same clock.
func monotonicAt(t time.Time) int64 {
	const clockMonotonic = 1
	var ts syscall.Timespec
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&ts)), 0); errno != 0 {
		return 0
	}
	return ts.Nano() - int64(time.Since(t))
}

// bootID names the start of this machine, and the time namespace, for which
// CLOCK_MONOTONIC counts.
func bootID() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	space, _ := os.Readlink("/proc/self/ns/time")
	return strings.TrimSpace(strings.TrimSpace(string(id)) + " " + space)
}
