//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// peakMemory returns the largest resident set of a process that has ended.
func peakMemory(p *os.ProcessState) int64 {
	use, ok := p.SysUsage().(*syscall.Rusage)
	switch {
	case !ok:
		return 0
	case runtime.GOOS == "darwin": // which counts bytes
		return int64(use.Maxrss)
	}
	return int64(use.Maxrss) << 10
}
