package exectrace

import (
	"encoding/binary"

	"loupe/stack"
	"loupe/timeline"
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
	r *Reader
	t *oldTrace

	cursors []oldCursor
	run     *oldCursor // whose turn it is
	left    int        // events of the run
	pos     int        // in the runs
	index   int        // events so far, not counting exits
	exits   []oldExit  // that are still to come
	calls   int        // system calls so far

	nsPerTick float64
	begun     bool
	message   oldText // of the current log event
	known     State   // of the goroutine, before its transition

	// Until the first Gomaxprocs event the trace lists what there was before
	// it began: created holds the goroutines of which no state is known yet.
	starting bool
	created  map[GoID]bool
	threads  []ThreadID // by cursor: what the P runs on
	seen     []bool     // by cursor: the P has been mentioned
	polled   []bool     // by slot: the goroutine waits for the network
	stw      NameID     // why the world was stopped last

	reasons  [oldKinds]NameID
	names    idTable[NameID]
	stackIDs idTable[stack.ID]
	frames   map[uint64]stack.FrameID
}

// defaultTicks are the ticks of 64 cycles in a second of a processor with
// 2.5 GHz, for a trace that is cut in front of its frequency.
const defaultTicks = 2.5e9 / 64

func newOldReader(r *Reader) *oldReader {
	t := r.t.old
	o := &oldReader{r: r, t: t, cursors: t.cursors(), exits: t.exits, starting: true, created: make(map[GoID]bool),
		frames: make(map[uint64]stack.FrameID)}
	o.threads = make([]ThreadID, len(o.cursors))
	o.seen = make([]bool, len(o.cursors))
	for i := range o.threads {
		o.threads[i] = NoThread
	}
	for kind, m := range oldMeanings {
		o.reasons[kind] = r.names.intern(m.name)
	}
	ticks := float64(defaultTicks)
	if t.frequency != 0 {
		ticks = float64(int64(t.frequency))
	}
	o.nsPerTick = 1e9 / ticks
	r.tables.absent = t.frequency == 0
	r.last = -2 // the sync in front of the first event, which is at 0, is at -1
	return o
}

// next makes the reader's event the following one.
func (o *oldReader) next() bool {
	r := o.r
	if r.done || r.err != nil || r.next > 0 {
		return false
	}
	if !o.begun {
		if r.t.opts.Live && !r.t.gens[0].complete {
			return false
		}
		o.begun = true
		r.g = r.t.gens[0]
		if o.step(); o.run != nil {
			r.sync(o.ns(o.run.time) - 1)
			return true
		}
	}
	for o.run != nil || len(o.exits) > 0 {
		switch {
		case o.run != nil && o.run.isExit():
			o.step() // it is among the exits
		case o.exitIsDue():
			o.exit(o.exits[0])
			o.exits = o.exits[1:]
			return r.err == nil
		default:
			shown := o.translate(o.run)
			o.index++
			o.step()
			if shown {
				return r.err == nil
			}
		}
	}
	r.done = true
	r.g = nil
	r.sync(r.last)
	return true
}

// step goes on to the next event of the runs; o.run is nil behind the last.
func (o *oldReader) step() {
	if o.left == 0 {
		v, n := binary.Uvarint(o.t.runs[o.pos:])
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
	case o.run == nil:
		return true
	}
	e := o.exits[0]
	if !o.t.byTime || e.time == o.run.time {
		return e.index <= o.index
	}
	return e.time < o.run.time
}

// ns turns ticks into the time since the first event.
func (o *oldReader) ns(ticks int64) timeline.Time {
	return timeline.Time(float64(ticks-o.t.start) * o.nsPerTick)
}
