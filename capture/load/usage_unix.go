//go:build unix

package load

import (
	"runtime/debug"
	"syscall"
	"time"
)

// usage is what the generator used so far.
type usage struct {
	cpu time.Duration
	gcs int
}

func takeUsage() usage {
	var u usage
	var ru syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &ru) == nil {
		u.cpu = time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
	}
	var gc debug.GCStats
	debug.ReadGCStats(&gc)
	u.gcs = int(gc.NumGC)
	return u
}

func (u usage) since(before usage) usage {
	return usage{u.cpu - before.cpu, u.gcs - before.gcs}
}
