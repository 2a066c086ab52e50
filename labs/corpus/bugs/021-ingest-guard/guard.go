package main

import (
	"runtime"
	"runtime/metrics"
)

type guard struct {
	limit uint64
	cheap bool
}

func (g *guard) full() bool {
	if g.cheap {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64() > g.limit
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.Alloc > g.limit
}
