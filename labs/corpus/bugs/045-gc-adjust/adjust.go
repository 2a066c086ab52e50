package main

import (
	"errors"
	"runtime"
	"runtime/debug"
)

var errNoFit = errors.New("no percentage keeps the heap that small")

func adjust(maxBytes uint64) (int, error) {
	runtime.GC()
	var s runtime.MemStats
	for p := 100; p > 0; p -= 5 {
		debug.SetGCPercent(p)
		runtime.ReadMemStats(&s)
		if s.NextGC-min(s.NextGC, s.HeapAlloc) < maxBytes {
			return p, nil
		}
	}
	return 0, errNoFit
}

func limit(bytes int64) {
	debug.SetMemoryLimit(bytes)
}
