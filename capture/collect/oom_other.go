//go:build !linux

package collect

// oomKill knows of no kernel log here.
func oomKill(int) string { return "" }

// kernelLog says so.
func kernelLog() Permission {
	return Permission{What: "oom", How: "the kernel's log", Why: "only Linux tells what it has killed for want of memory"}
}

func oomCounter(int) func() int64 { return func() int64 { return 0 } }
