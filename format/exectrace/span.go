package exectrace

import "loupe/value/timeline"

// Span returns the time from the first event of the trace to behind the last
// one, as [Reader] gives them, within some nanoseconds. It reads the tables of
// two generations and the last batch of each M, which takes milliseconds
// where to read the trace takes seconds. A trace without events has none.
func (t *Trace) Span() (timeline.Span, error) {
	r := t.Reader()
	if !r.Next() {
		return timeline.Span{}, r.Err()
	}
	span := timeline.Span{Start: r.Event().Time}
	span.End = span.Start
	if r.old != nil {
		end := t.old.end
		for _, e := range t.old.exits {
			end = max(end, e.time)
		}
		span.End = max(span.End, r.old.ns(end)) + 1
		return span, nil
	}
	for i := len(t.index.gens) - 1; i >= 0; i-- {
		end, err := t.endOf(i)
		if err != nil {
			return span, err
		}
		if end > span.End {
			span.End = end
			break
		}
	}
	span.End++
	return span, nil
}

// endOf returns when the last event of generation i happens, 0 for one without
// events.
func (t *Trace) endOf(i int) (last timeline.Time, err error) {
	r := t.ReaderAt(i)
	if !r.nextGeneration() {
		return 0, r.problems.err
	}
	for n := range r.merge.g.threads {
		b := r.merge.g.threads[n].batches
		if len(b) == 0 {
			continue
		}
		c := cursor{batches: b[len(b)-1:], m: &machine{}}
		for c.next(r.merge.g, &r.tables) {
			last = max(last, c.time)
		}
	}
	if n := len(r.merge.samples); n > 0 {
		last = max(last, r.merge.samples[n-1].time)
	}
	return min(last, r.pace.horizon), nil
}
