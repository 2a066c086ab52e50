package sweep

import (
	"runtime"
	"runtime/debug"

	"loupe/format/exectrace"
)

// oldestAhead is the version of the format from which on it is worth to read ahead:
// the ones before have no generations.
const oldestAhead = 22

const (
	// batchLen is how many events go from one goroutine to the other at once.
	batchLen = 4096
	// batches is how many of them there are, of 360 kB each.
	batches = 4
)

// Ahead lets the pass read on while its listeners still have the events before, on
// two goroutines. The listeners ask the reader for names and stacks, but for nothing that
// it tells of its current event alone ([exectrace.Reader.Message]), and add no names.
//
// Note: Handing the events over costs CPU time (13 ns an event of 60), which is worth it
// for several listeners that follow goroutines, and not for one.
func (p *Pass) Ahead() {
	p.InBatches()
	p.ahead = p.batches && runtime.GOMAXPROCS(0) > 1
}

// InBatches lets the pass read some events before it hands them out, on one goroutine, so
// that what they need can be fetched together, see [Warmer]. The listeners keep to what
// [Pass.Ahead] says.
func (p *Pass) InBatches() { p.batches = p.t.Version >= oldestAhead }

// shortLen is how many events are read at once without another goroutine: few enough to
// stay in the nearest cache.
const shortLen = 128

// runBatches is [Pass.Run] in batches on one goroutine.
func runBatches(p *Pass, stop func() bool) error {
	events := make([]exectrace.Event, shortLen)
	for {
		n, _ := p.r.Fill(events)
		if n == 0 {
			return p.r.Err()
		}
		left := events[:n]
		if over, err := p.batch(&left, stop); over {
			if len(left) > 0 {
				p.rest = append(p.rest, left)
			}
			return err
		}
	}
}

// lead reads ahead: batches of events go to full, and come back by free.
type lead struct {
	full, free chan []exectrace.Event
	panicked   any
}

// read reads until the trace ends, or free is closed. Neither channel ever blocks who
// sends: there is room for all batches.
func (l *lead) read(r *exectrace.Reader) {
	defer close(l.full)
	defer func() { l.panicked = recover() }()
	debug.SetPanicOnFault(true) // the trace may lie in a file that becomes shorter
	idle := make([][]exectrace.Event, 0, batches)
	for range batches {
		idle = append(idle, make([]exectrace.Event, batchLen))
	}
	for whole := false; ; {
		// The tables of a generation stay until everybody is done with it.
		for len(idle) == 0 || whole && len(idle) < batches {
			b, ok := <-l.free
			if !ok {
				return
			}
			idle = append(idle, b[:batchLen])
		}
		b, n := idle[len(idle)-1], 0
		idle = idle[:len(idle)-1]
		if n, whole = r.Fill(b); n == 0 {
			return
		}
		l.full <- b[:n]
	}
}

// runAhead is [Pass.Run] on two goroutines.
func (p *Pass) runAhead(stop func() bool) error {
	for len(p.rest) > 0 {
		if over, err := p.batch(&p.rest[0], stop); over {
			return err
		}
		p.rest = p.rest[1:]
	}
	l := &lead{full: make(chan []exectrace.Event, batches), free: make(chan []exectrace.Event, batches)}
	go l.read(p.r)
	defer func() {
		close(l.free)
		for b := range l.full { // until it has gone
			p.rest = append(p.rest, b)
		}
		if l.panicked != nil {
			panic(l.panicked)
		}
	}()
	for b := range l.full {
		left := b
		if over, err := p.batch(&left, stop); over {
			p.rest = append(p.rest, left)
			return err
		}
		l.free <- b
	}
	return p.r.Err()
}

// batch hands the events of a batch to the listeners, and leaves those that it has not
// come to.
func (p *Pass) batch(left *[]exectrace.Event, stop func() bool) (over bool, err error) {
	// Where it is is noted at the end alone: for each event that would be a pointer more
	// that the garbage collector is told of.
	events := *left
	for i := range events {
		if i%warmLen == 0 {
			p.warmers.warm(p.gs, events[i:min(i+warmLen, len(events))])
		}
		if over, err := p.event(&events[i], stop); over {
			*left = events[i+1:]
			return over, err
		}
	}
	*left = nil
	return false, nil
}
