package exectrace

import (
	"fmt"
	"io"

	"loupe/value/timeline"
)

// Cut writes a valid trace with the generations that overlap the span, which
// is in the trace's own time, and returns how many it has written. A trace can
// be cut between generations alone, of which the runtime writes about one a
// second; formats before 1.22 have no generations. Nothing is written when
// nothing overlaps.
func (t *Trace) Cut(w io.Writer, span timeline.Span) (written int, err error) {
	if t.Version < 22 {
		return 0, fmt.Errorf("cannot cut a trace of format %v: it is one piece; since 1.22 traces have generations", t.Version)
	}
	for i, g := range t.index.gens {
		at, err := t.spanOf(g)
		if err != nil {
			return written, err
		}
		if i+1 < len(t.index.gens) { // up to the next one, so that no instant is in none
			next, err := t.spanOf(t.index.gens[i+1])
			if err != nil {
				return written, err
			}
			at.End = max(at.End, next.Start)
		}
		if at.End < span.Start || at.Start >= span.End {
			continue
		}
		if written == 0 {
			if err := t.copy(w, 0, headerSize); err != nil {
				return 0, err
			}
		}
		if err := t.copy(w, g.start, g.bytes); err != nil {
			return written, err
		}
		written++
	}
	return written, nil
}

// spanOf is the time from the first batch of a generation to the begin of its
// last one.
func (t *Trace) spanOf(g *generation) (timeline.Span, error) {
	data, err := t.data.load(g, nil)
	if err != nil {
		return timeline.Span{}, err
	}
	tab := tables{data: data}
	for _, b := range g.syncs {
		tab.readSync(g.slice(data, b), b.time, t.Version)
	}
	if tab.clock == (clock{}) {
		tab.clock = newClock(defaultFrequency)
	}
	last := g.minTime
	for _, th := range g.threads {
		last = max(last, th.batches[len(th.batches)-1].time)
	}
	return timeline.Span{Start: tab.clock.ns(g.minTime), End: tab.clock.ns(last)}, nil
}

// copy writes n bytes of the trace from off on, a piece at a time.
func (t *Trace) copy(w io.Writer, off, n int64) error {
	var buf []byte
	for n > 0 {
		b, err := t.data.read(off, min(n, 1<<20), buf)
		if err != nil {
			return err
		}
		if len(b) == 0 {
			return fmt.Errorf("cannot read the trace at byte %d: the file has shrunk", off)
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
		buf = b[:0]
		if t.data.at == nil {
			buf = nil
		}
		off, n = off+int64(len(b)), n-int64(len(b))
	}
	return nil
}
