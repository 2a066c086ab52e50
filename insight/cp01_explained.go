package insight

import (
	"fmt"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

// dominates is the share of the CPU time from which on a hot function of which the source shows what is wrong is a
// warning. Chosen: as for sorting (CP19).
const dominates = 0.25

// explainHot says of a hot function what the source shows of it: that it asks itself for the same again and again, or that
// a cache calls it where it has nothing.
func explainHot(in *Input, w *facts.Weights, h *hotFunction, share stats.Interval, f *Finding) {
	at := h.line.Caller
	d := newDerivations(in.code)
	if o, ok := recursesOver(d, at); ok {
		f.Title = recursionTitle
		f.Summary += fmt.Sprintf("; each call makes up to %s of itself, two of which come to the same arguments, and keeps no result: the number of calls grows exponentially", unit.Plural(int64(o.calls), "call"))
		f.Advice = "Keep the results by the arguments (a map, or a table that is filled from the smallest case on), or go on with a loop over the two last ones: then each case is computed once. The function computes its result from its arguments alone, so that a kept one is the same."
		f.Evidence = append(f.Evidence, in.code.shownAt(at.File, o.line, "it calls itself here"))
		f.saves, f.grows = true, true
		if share.Low >= dominates {
			f.Severity = Warning
		}
		return
	}
	if tellQuery(in, w, h, share, f) || tellGraph(in, d, w, h, share, f) || tellPages(in, d, w, h, f) || tellDiscards(in, d, w, h, f) || tellMapLoops(in, d, w, h, f) || tellPowers(in, d, w, h, f) {
		return
	}
	v := in.view(w.Profile)
	by, known, most := map[string]int64{}, map[string]missed{}, ""
	loads := map[string]stack.Frame{}
	for id, n := range w.Profile.Samples(w.Index) {
		frames := v.t.Frames(id)
		for i, frame := range frames { // the innermost one
			if v.t.Frame(frame).Func != at.Func {
				continue
			}
			if m, ok := missesOn(in, v, frames, i); ok {
				key := fileLine(m.at.File, m.at.Line) + " " + m.key
				known[key], loads[key] = m, loadedBy(v, frames, m.at)
				if by[key] += n; by[key] >= by[most] {
					most = key
				}
			}
			break
		}
	}
	if float64(by[most]) < nearlyAll*float64(h.samples) {
		tellTurns(in, at, f)
		return
	}
	cache := known[most]
	f.Summary += fmt.Sprintf("; it is called at %s only where a cache does not have the result", place(cache.at))
	f.Evidence = append(f.Evidence, in.code.shownAt(cache.at.File, cache.at.Line, "it is called here where the cache has nothing: %d samples", by[most]))
	if cache.key == "" && tellHits(in, cache, loads[most], share, f) {
		return
	}
	if cache.key == "" {
		f.Advice = "The time goes into misses of a cache: count its hits and misses. If it rarely hits, look at what its key is made of (a time, an address, a counter or an ID that differs each time), and when entries leave it. " + f.Advice
		return
	}
	f.Title = "A cache never hits: its key is another one each time"
	f.Summary += fmt.Sprintf(", and its key has the result of %s in it, which is another one each time", cache.key)
	f.Evidence = append(f.Evidence, cache.put)
	f.Advice = "Leave out of the key what differs each time: with it, no entry is ever found, and the cache only grows. If entries have to expire, keep the time in the entry and compare it when it is read."
	f.saves = true
	if share.Low >= dominates {
		f.Severity = Warning
	}
}
