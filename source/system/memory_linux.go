package system

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// memoryLimit is the least of the machine's memory, that of the control group, and
// what a limit of the address space leaves beside what is mapped already.
func memoryLimit() (least int64) {
	lower := func(n int64) {
		if n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		_, rest, _ := strings.Cut(string(text), "MemTotal:")
		if f := strings.Fields(rest); len(f) > 0 {
			lower(number(f[0]) << 10)
		}
	}
	// In a container its own group is seen as the root of all.
	for _, name := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		if text, err := os.ReadFile(name); err == nil {
			lower(number(strings.TrimSpace(string(text))))
		}
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &limit); err == nil && limit.Cur < 1<<62 {
		mapped := int64(0)
		if text, err := os.ReadFile("/proc/self/statm"); err == nil {
			if f := strings.Fields(string(text)); len(f) > 0 {
				mapped = number(f[0]) * int64(os.Getpagesize())
			}
		}
		lower(max(int64(limit.Cur)-mapped, 1))
	}
	return least
}

// number reads a number, 0 for what is none, such as "max".
func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
