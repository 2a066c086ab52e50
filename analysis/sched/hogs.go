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
	// program waited for a P.
	Runs Histogram
	// Delay is the time that goroutines of the program waited meanwhile, all
	// together: that of two that wait at once counts twice.
	Delay time.Duration
	// Worst is the run with the most delay, WorstDelay that delay.
	Worst      Interval
	WorstDelay time.Duration
}

// hogs finds them.
type hogs struct {
	byName map[exectrace.NameID]*Hog
}

// add takes a run and how long others waited meanwhile. Waits of less than a
// tenth of the run are those of goroutines that found another P.
func (h *hogs) add(i *Interval, t *track, delay time.Duration) {
	if t.system || i.Len() < LongRun || delay < i.Len()/10 {
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
	hog.Runs.Add(i.Len())
	hog.Delay += delay
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
