package repeats

import (
	"fmt"
	"io"
	"sync"
)

// What repeats from one request to the next is in no call around them: the calls of a function in the whole run are counted too.

// everywhere counts all calls of a function.
type everywhere struct {
	mu sync.Mutex
	tally
}

// countEverywhere adds a call, unless those of the function are too short for what they repeat to matter.
func (f *fn) countEverywhere(c call) {
	if n := f.calls.Load(); n > fewLooked && f.ns.Load() < worthLooking*n {
		return
	}
	e := f.everywhere.Load()
	if e == nil {
		e = &everywhere{}
		if !f.everywhere.CompareAndSwap(nil, e) {
			e = f.everywhere.Load()
		}
	}
	c.results = nil // nothing is held for that long
	e.mu.Lock()
	e.add(&c)
	e.mu.Unlock()
}

func (f *fn) writeEverywhere(w io.Writer, id int) {
	e := f.everywhere.Load()
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	var s sum
	if s.add(&e.tally, 0, false); s.again > 0 {
		fmt.Fprintln(w, "e", id, s.calls, s.ns, s.distinct, s.again, s.againNS, s.differ, s.sampled, uint16(s.traits))
	}
}
