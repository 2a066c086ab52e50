package sched

import (
	"cmp"
	"slices"
	"time"

	"loupe/format/exectrace"
)

// LongRun is the time after which the runtime asks a goroutine to give up its
// P (forcePreemptNS in runtime/proc.go). Whoever runs longer was late to do
// so, or nobody else was there.
const LongRun = 10 * time.Millisecond

// Hog is what the goroutines of one function kept from running by long runs of
// their own.
type Hog struct {
	Name exectrace.NameID
	// Runs are the runs of LongRun and more while which some goroutine of the
	// program waited for a P, without the time for which the world was stopped.
	Runs Histogram
	// Delay is the time that goroutines of the program waited meanwhile, all
	// together: that of two that wait at once counts twice, that of one for which
	// two of these run counts once. It is never more than [Parallel.Waited].
	Delay time.Duration
	// Worst is the run with the most delay, WorstDelay that delay.
	Worst      Interval
	WorstDelay time.Duration

	counted []waits // of these runs, apart from each other, in their order
}

// waits are the waits for a P of all goroutines together, from what they were at one
// time to what they were later: a time line on which only waits count.
type waits struct{ from, to time.Duration }

func (w waits) len() time.Duration { return w.to - w.from }

// maxCounted bounds what a hog remembers of its runs. What is older is counted for good:
// only a run that began before it all could count it twice.
const maxCounted = 256

// count adds waits to the delay, without those that are in it. Runs come in the order of
// their ends.
func (h *Hog) count(w waits) {
	for n := len(h.counted); n > 0 && h.counted[n-1].to > w.from; n-- {
		last := h.counted[n-1]
		h.Delay -= last.len()
		w.from = min(w.from, last.from)
		h.counted = h.counted[:n-1]
	}
	h.Delay += w.len()
	if len(h.counted) == maxCounted {
		h.counted = append(h.counted[:0], h.counted[maxCounted/2:]...)
	}
	h.counted = append(h.counted, w)
}

// hogs finds them.
type hogs struct {
	byName map[exectrace.NameID]*Hog
}

// add takes a run, for how much of it the world was stopped, and how long others waited
// for the rest of it. Waits of less than a tenth of the run are those of goroutines that
// found another P.
func (h *hogs) add(i *Interval, t *track, halted time.Duration, others waits) {
	ran, delay := i.Len()-halted, others.len()
	if t.system || ran < LongRun || delay < ran/10 {
		return
	}
	if h.byName == nil {
		h.byName = make(map[exectrace.NameID]*Hog)
	}
	hog := h.byName[i.Name]
	if hog == nil {
		hog = &Hog{Name: i.Name}
		h.byName[i.Name] = hog
	}
	hog.Runs.Add(ran)
	hog.count(others)
	if delay > hog.WorstDelay {
		hog.Worst, hog.WorstDelay = *i, delay
	}
}

// sorted returns all hogs, the most delay first.
func (h *hogs) sorted() []*Hog {
	var out []*Hog
	for _, hog := range h.byName {
		out = append(out, hog)
	}
	slices.SortFunc(out, func(x, y *Hog) int {
		return cmp.Or(cmp.Compare(y.Delay, x.Delay), cmp.Compare(x.Name, y.Name))
	})
	return out
}
