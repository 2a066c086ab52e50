package sched

import (
	"cmp"
	"slices"

	"loupe/format/exectrace"
)

// Wired is a goroutine that ran on a thread which ran no other, as one that has called
// runtime.LockOSThread does: to wake it up takes a switch of threads.
type Wired struct {
	G    exectrace.GoID
	Name exectrace.NameID // the function that it began with
	// Starts is how often it was put on its thread.
	Starts int64
}

// leastWired is how many starts on one thread are told of: few may have come there by chance.
const leastWired = 1000

// wires are the threads, with the goroutine that each has run.
type wires struct {
	threads map[exectrace.ThreadID]*wire
	last    *wire
	lastM   exectrace.ThreadID
}

// wire is a thread.
type wire struct {
	g      exectrace.GoID
	slot   exectrace.Slot
	starts int64
	mixed  bool // it has run others, too
}

// started counts that a goroutine begins to run on a thread.
func (w *wires) started(e *exectrace.Event) {
	x := w.last
	if x == nil || w.lastM != e.M {
		x = w.threads[e.M]
		if x == nil {
			if w.threads == nil {
				w.threads = map[exectrace.ThreadID]*wire{}
			}
			x = &wire{g: exectrace.GoID(e.Subject), slot: e.SubjectSlot}
			w.threads[e.M] = x
		}
		w.last, w.lastM = x, e.M
	}
	x.mixed = x.mixed || x.g != exectrace.GoID(e.Subject)
	x.starts++
}

// wired lists the goroutines that have had a thread of their own, the most starts first.
func (a *analyzer) wired() (out []Wired) {
	for _, x := range a.wires.threads {
		if x.mixed || x.starts < leastWired {
			continue
		}
		one := Wired{G: x.g, Starts: x.starts}
		if g := a.tracks.at(x.slot).group; g != nil {
			one.Name = g.Name
		}
		out = append(out, one)
	}
	slices.SortFunc(out, func(a, b Wired) int { return cmp.Or(cmp.Compare(b.Starts, a.Starts), cmp.Compare(a.G, b.G)) })
	return out
}
