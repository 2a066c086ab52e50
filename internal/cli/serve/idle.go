package serve

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// settled is how long after its start a server gives back what only the start needed.
	settled = 2 * time.Second
	// restedEvery is how often it is looked whether nothing comes any more.
	restedEvery = 5 * time.Minute
	// busyBytes are allocated within that time by a server that has something to do; one that is looked at by a
	// page now and then allocates less.
	busyBytes = 16 << 20
)

// rest gives memory back when the server has nothing to do: the heap, and the pages of the program that were of use for
// the start or for what was done before. A server of which nobody wants anything is mostly such pages.
func rest(ctx context.Context) {
	timer := time.NewTimer(settled)
	defer timer.Stop()
	rested, last := false, uint64(0)
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		now := allocated()
		busy := now-last >= busyBytes
		if last == 0 || !busy && !rested {
			giveBack()
			now = allocated()
		}
		rested, last = !busy, now
		timer.Reset(restedEvery)
	}
}

// allocated is how many bytes were allocated since the start.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// giveBack gives back what can be had again.
func giveBack() {
	debug.FreeOSMemory()
	unmapProgram()
}
