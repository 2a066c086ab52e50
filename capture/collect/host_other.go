//go:build !linux

package collect

import (
	"loupe/format/metrics"
	"loupe/recording"
)

func readHost(*recording.Host) {}

// sampleOS knows no portable way to look at another process.
func sampleOS(pid int) metrics.OSSample { return metrics.OSSample{PID: pid} }
