package exectrace

import (
	"slices"
)

// Reader gives the events of a trace in order. Many readers may read one
// trace at the same time, each from its own goroutine.
type Reader struct {
	symbols // what events refer to by number

	t        *Trace
	merge    merger // of what the generation has that is read
	pace     pace
	place    place
	problems problems
	old      *oldReader // formats before 1.22
}

// place is where in the trace a reader is.
type place struct {
	next  int    // index of the following generation
	until int    // index behind the last one to read; 0 for all
	done  bool   // the last sync was given
	buf   []byte // for the bytes of a generation
}

// Reader returns a reader of the whole trace.
func (t *Trace) Reader() *Reader { return t.ReaderAt(0) }

// ReaderAt returns a reader that begins at generation i, counted from 0. What
// it says is what [Trace.Reader] says of these generations, but that states
// begin Undetermined, and that an event which falls together with one of an
// earlier generation may differ by nanoseconds.
func (t *Trace) ReaderAt(i int) *Reader {
	r := &Reader{t: t, place: place{next: i}, pace: pace{horizon: maxTime / 2}, problems: problems{strict: t.opts.Strict}}
	r.symbols = newSymbols(&r.problems)
	r.merge.strict = t.opts.Strict
	r.merge.out.symbols, r.merge.out.ev = &r.symbols, new(Event)
	r.merge.losses.data, r.merge.losses.problems = &t.data, &r.problems
	r.merge.program.forget()
	t.readers.Add(1)
	if t.old != nil {
		r.old = newOldReader(t.old, &r.merge.program, &r.merge.out, t.opts.Symbolize)
		r.pace.last = -2 // the sync in front of the first event, which is at 0, is at -1
	}
	return r
}

// Next goes on to the following event and says whether there is one. At the
// end, see [Reader.Err].
func (r *Reader) Next() bool {
	m := &r.merge
	if m.out.pop() {
		return r.pace.stamp(m.out.ev, &r.problems)
	}
	for len(m.order.frontier) > 0 {
		c := m.order.frontier[0].c
		if c.time > m.order.limit {
			if c = m.order.sift(m.samples.first()); c == nil {
				m.takeSample()
				return r.pace.stamp(m.out.ev, &r.problems)
			}
		}
		if out := m.program.advance(&m.out, c); out != advanced {
			if m.hindered(c, out) {
				return r.problems.err == nil && r.pace.stamp(m.out.ev, &r.problems)
			}
			if r.problems.err != nil {
				return false
			}
			continue
		}
		if m.order.storm != nil {
			m.order.calm()
		}
		if !c.next(m.g, &r.tables) {
			m.end(0)
		}
		return r.pace.stamp(m.out.ev, &r.problems)
	}
	return r.nextBare()
}

// nextBare is Next when no M has anything more to say in this generation.
func (r *Reader) nextBare() bool {
	if len(r.merge.samples) > 0 {
		r.merge.takeSample()
		return r.pace.stamp(r.merge.out.ev, &r.problems)
	}
	next := r.nextGeneration
	if r.old != nil {
		next = r.nextOld
	}
	return next() && r.pace.stamp(r.merge.out.ev, &r.problems)
}

// nextGeneration goes on with the following generation; the current event becomes
// the sync in front of it, or the last one.
func (r *Reader) nextGeneration() bool {
	m := &r.merge
	if r.place.done || r.problems.err != nil {
		return false
	}
	m.losses.tellForced()
	gens := r.t.index.gens
	if r.place.until > 0 {
		gens = gens[:min(r.place.until, len(gens))]
	}
	i := r.place.next
	if i >= len(gens) || r.t.opts.Live && !gens[i].complete {
		if r.t.opts.Live {
			return false
		}
		m.losses.reset = m.losses.reset || m.losses.lossy
		r.finish()
		return true
	}
	g := gens[i]
	if (m.losses.lossy || g.torn || g.anew) && m.program.gen > 0 {
		m.program.forget()
		m.losses.reset = true
	}
	r.place.next++
	m.program.begin()
	m.losses.lossy = g.damaged || g.torn
	r.problems.generation = g.number
	data, err := r.t.data.load(g, r.place.buf)
	r.t.read.Add(1)
	if err != nil {
		r.problems.err = err
		return false
	}
	if r.t.data.at != nil {
		r.place.buf = data
	}
	if n := int64(len(data)); n < g.bytes {
		m.losses.shrunk(g, n)
	}
	r.symbols.load(g, data, r.t.Version)
	r.pace.begin(r.t.index.horizon(i, r.tables.clock))
	m.samples.read(g, data, r.tables.clock, &r.problems)
	m.begin(g)
	m.out.sync(r.tables.clock.ns(g.minTime), m.losses.takeReset())
	return r.problems.err == nil
}

// finish makes the current event the sync behind the last generation.
func (r *Reader) finish() {
	r.place.done = true
	r.problems.generation, r.tables.snap = 0, nil
	r.merge.out.sync(r.pace.last, r.merge.losses.takeReset())
}

// nextOld goes on in a format before 1.22.
func (r *Reader) nextOld() bool {
	if r.place.done || r.problems.err != nil || r.place.next > 0 {
		return false
	}
	if g := r.t.index.gens[0]; !r.old.begun {
		if r.t.opts.Live && !g.complete {
			return false
		}
		r.problems.generation = g.number
		if at, ok := r.old.begin(len(r.t.index.problems.list) > 0); ok {
			r.merge.out.sync(at-1, false)
			return true
		}
	}
	if !r.old.next() {
		r.finish()
	}
	return r.problems.err == nil
}

// Event returns the current event. It is overwritten by [Reader.Next].
func (r *Reader) Event() *Event { return r.merge.out.ev }

// Err returns what ended the reading early: a file that cannot be read, or
// with [Options.Strict] the first problem.
func (r *Reader) Err() error { return r.problems.err }

// Problems returns what was wrong with the trace so far: at most a hundred of
// the index and a hundred of the reader.
func (r *Reader) Problems() []*Problem {
	return slices.Concat(r.t.index.problems.list, r.problems.list)
}

// Threads returns how many Ms the events so far have named.
func (r *Reader) Threads() int { return len(r.merge.program.machines) }

// Message returns the text of the current log event.
func (r *Reader) Message() string {
	e := r.Event()
	if e.Kind != KindLog {
		return ""
	}
	if o := r.old; o != nil {
		return string(o.t.data[o.message.start:o.message.end])
	}
	return r.tables.text(e.Args[2], r.names)
}

// PCs appends the addresses of the current event's Stack to dst, leaf first.
func (r *Reader) PCs(dst []uint64) []uint64 {
	return appendPCs(r, dst, r.merge.out.stackRef)
}

// SubjectPCs appends the addresses of the current event's SubjectStack.
func (r *Reader) SubjectPCs(dst []uint64) []uint64 {
	return appendPCs(r, dst, r.merge.out.subjectRef)
}

func appendPCs(r *Reader, dst []uint64, id uint64) []uint64 {
	if r.old != nil {
		return r.old.symbols.appendPCs(dst, id)
	}
	return r.tables.appendPCs(dst, id)
}

// Clock returns what ties the current generation's clock to others, or nil.
func (r *Reader) Clock() *ClockSnapshot { return r.tables.snap }
