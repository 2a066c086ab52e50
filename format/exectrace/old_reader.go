package exectrace

import (
	"encoding/binary"

	"loupe/value/stack"
	"loupe/value/timeline"
)

// The Ps that internal/trace gives to events which no P can be blamed for.
const (
	procTimer ProcID = 1000001 + iota
	procNetwork
	procExits
	procCollector
)

// oldReader turns the events of a trace before Go 1.22 into those of a reader.
// The translation is that of internal/trace/tracev1.go, event for event.
type oldReader struct {
	t       *oldTrace
	program *program
	out     *output
	runs    oldRuns
	symbols oldSymbols

	exits   []oldExit // that are still to come
	calls   int       // system calls so far
	begun   bool
	damaged bool    // the trace has problems
	message oldText // of the current log event
	known   State   // of the goroutine, before its transition

	nsPerTick float64

	// Until the first Gomaxprocs event the trace lists what there was before
	// it began: created holds the goroutines of which no state is known yet.
	starting bool
	created  map[GoID]bool
	threads  []ThreadID // by cursor: what the P runs on
	seen     []bool     // by cursor: the P has been mentioned
	polled   []bool     // by slot: the goroutine waits for the network
	stw      NameID     // why the world was stopped last

	reasons [oldKinds]NameID
}

// defaultTicks are the ticks of 64 cycles in a second of a processor with
// 2.5 GHz, for a trace that is cut in front of its frequency.
const defaultTicks = 2.5e9 / 64

func newOldReader(t *oldTrace, w *program, out *output, symbolize func(pc uint64) stack.Frame) *oldReader {
	o := &oldReader{t: t, program: w, out: out, runs: oldRuns{runs: t.runs, cursors: t.cursors()}, exits: t.exits, starting: true,
		created: make(map[GoID]bool),
		symbols: oldSymbols{t: t, symbols: out.symbols, frames: make(map[uint64]stack.FrameID), symbolize: symbolize}}
	o.threads = make([]ThreadID, len(o.runs.cursors))
	o.seen = make([]bool, len(o.runs.cursors))
	for i := range o.threads {
		o.threads[i] = NoThread
	}
	for kind, m := range oldMeanings {
		o.reasons[kind] = out.symbols.names.intern(m.name)
	}
	ticks := float64(defaultTicks)
	if t.frequency != 0 {
		ticks = float64(int64(t.frequency))
	}
	o.nsPerTick = 1e9 / ticks
	out.symbols.tables.absent = t.frequency == 0
	return o
}

// begin goes to the first event and returns its time; false says that there is
// none. damaged tells that the trace has problems.
func (o *oldReader) begin(damaged bool) (first timeline.Time, ok bool) {
	o.begun, o.damaged = true, damaged
	if o.runs.step(); o.runs.run == nil {
		return 0, false
	}
	return o.ns(o.runs.run.time), true
}

// next makes the following event the current one, if there is one.
func (o *oldReader) next() bool {
	for o.runs.run != nil || len(o.exits) > 0 {
		switch {
		case o.runs.run != nil && o.runs.run.isExit():
			o.runs.step() // it is among the exits
		case o.exitIsDue():
			o.exit(o.exits[0])
			o.exits = o.exits[1:]
			return true
		default:
			shown := o.translate(o.runs.run)
			o.runs.index++
			o.runs.step()
			if shown {
				return true
			}
		}
	}
	return false
}

// oldRuns are the events of all Ps in their order.
type oldRuns struct {
	runs    []byte // see [oldOrder]
	cursors []oldCursor
	run     *oldCursor // whose turn it is
	left    int        // events of the run
	pos     int        // in the runs
	index   int        // events so far, not counting exits
}

// step goes on to the next event of the runs; run is nil behind the last.
func (o *oldRuns) step() {
	if o.left == 0 {
		v, n := binary.Uvarint(o.runs[o.pos:])
		if n <= 0 {
			o.run = nil
			return
		}
		o.pos += n
		o.run, o.left = &o.cursors[v%uint64(len(o.cursors))], int(v/uint64(len(o.cursors)))+1
	}
	o.left--
	o.run.next()
}

// exitIsDue says whether a system call ends before the next event.
func (o *oldReader) exitIsDue() bool {
	switch {
	case len(o.exits) == 0:
		return false
	case o.runs.run == nil:
		return true
	}
	e := o.exits[0]
	if !o.t.byTime || e.time == o.runs.run.time {
		return e.index <= o.runs.index
	}
	return e.time < o.runs.run.time
}

// ns turns ticks into the time since the first event.
func (o *oldReader) ns(ticks int64) timeline.Time {
	return timeline.Time(float64(ticks-o.t.start) * o.nsPerTick)
}
