package insight

import (
	"fmt"
	"slices"
	"time"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/unit"
)

// What holds up the goroutines that a tool does its work with holds up main, which only waits for all of them. Of what
// they wait for that is told which is no part of the work: pauses before a call is tried again, in which they do
// nothing else, or have a slot that others wait for.

// checkWaits looks at units of work, and at the workers of a tool where nothing of main is a fault.
func checkWaits(r *Rule, in *Input) []Finding {
	found := onUnits(checkWaiting)(r, in)
	if slices.ContainsFunc(found, func(f Finding) bool { return f.State == Found && f.Severity.AtLeast(Warning) }) {
		return found
	}
	more := onTrace(checkWorkers)(r, in)
	if len(more) == 0 || !more[0].Severity.AtLeast(Warning) {
		return found
	}
	return more[:1]
}

// checkWorkers looks for pauses between tries that workers make, or that those make who have a slot for which they wait.
func checkWorkers(r *Rule, in *Input, t *traced) (found []Finding) {
	u := in.Facts.Units()
	if u.Err != nil {
		return nil
	}
	for _, g := range u.Workers {
		w := mostly(g)
		if w == nil || w.share() < r.param("warning") || w.each().Seconds() < r.param("each") {
			continue
		}
		f := waitingFinding(r, in, t, w)
		_, tries := w.triesBetween(in, t)
		switch held := heldInPause(w, in, t); {
		case held.Func != "":
			weighHeld(w, r, &f)
			f.Advice = "Whoever has a slot here keeps it during the pause before it tries again, " + place(held) + ": give it back before the pause and take one for the next try, or take it around a single try. A higher limit only lets more of them pause. And find out why the first try fails."
			f.Doubts = append(f.Doubts, "if the slot stands for more than the single try (a connection, a place in an order), or is kept so that fewer calls go out while the peer is overloaded, it has to be kept")
		case w.vain == nil && !(tries && (w.kind == "sleep" || w.kind == "timer")):
			continue
		}
		found = append(found, f)
	}
	slices.SortStableFunc(found, func(a, b Finding) int { return b.Severity.rank() - a.Severity.rank() })
	return found
}

// weighHeld has a finding about a slot that is held in a pause account for the part of the wait in which those who have it pause: of the
// waits that have ended, since of the others nobody knows.
func weighHeld(w *waiting, r *Rule, f *Finding) {
	ended := time.Duration(0)
	for _, row := range w.causes {
		ended += row.Time
	}
	paused := float64(heldFor(w, w.reason())) / float64(max(1, ended))
	share := w.share() * paused
	f.Summary += fmt.Sprintf("; of the waits that ended in the trace, %s passed while whoever had a slot paused", unit.Percent(paused))
	f.Impact = exactly(share, "share of the "+timeOfUnits(w.group))
	f.Score = score(share, r.param("share"), 0.9)
	if f.Severity = Info; share >= r.param("warning") {
		f.Severity = Warning
	}
}

// heldInPause is the line at which workers pause between tries while they have the slot that others of them wait for: the
// zero value where they do not mostly.
func heldInPause(w *waiting, in *Input, t *traced) (at stack.Frame) {
	if !w.queues() || !w.ofAnother(w.reason()) {
		return at
	}
	pause := w.causes[0].Cause.Site
	if limiter, _ := limits(t.Frames(pause.Stack)); limiter != "" || !retriesAround(in.code, pause.Frame) || pollsUntilThere(in.code, pause.Frame) {
		return at
	}
	own := slices.ContainsFunc(w.group.All.Rows, func(row facts.UnitRow) bool {
		return row.Site.Frame == pause.Frame && row.Cause.Kind.Key() == "none"
	})
	if !own {
		return at
	}
	return pause.Frame
}
