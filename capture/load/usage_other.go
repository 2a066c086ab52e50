//go:build !unix

package load

import (
	"runtime/debug"
	"time"
)

// usage is what the generator used so far; CPU time is not told here.
type usage struct {
	cpu time.Duration
	gcs int
}

func takeUsage() usage {
	var gc debug.GCStats
	debug.ReadGCStats(&gc)
	return usage{gcs: int(gc.NumGC)}
}

func (u usage) since(before usage) usage {
	return usage{u.cpu - before.cpu, u.gcs - before.gcs}
}
