package insight

import (
	"fmt"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/analysis/sched"
	"loupe/value/stack"
	"loupe/value/unit"
)

// A limiter with a burst lets the first calls of a run through, and has the rest wait. Where a program that ends has more calls
// to make than that, the burst is what makes it slow, though its rate may be right for one that runs for long. A
// limiter without a burst keeps a pace that is meant.

// burstSpent counts the calls of a run that go through a limiter: made is how many, waits how many of them waited.
type burstSpent struct{ made, waits int64 }

// Chosen: how many calls go through without a wait, and which part of all, where a limiter has a burst.
const (
	leastThrough = 10
	partThrough  = 0.1
)

// through is how many went through without a wait.
func (b burstSpent) through() int64 { return b.made - b.waits }

// hasBurst tells whether so many did that the limiter has a burst.
func (b burstSpent) hasBurst() bool {
	return b.made > 0 && b.through() >= leastThrough && float64(b.through()) >= partThrough*float64(b.made)
}

// limiterBurst counts, of a program that runs to its end, the calls that go out of the function that asks the limiter which main waits
// for, of main and all its goroutines.
func limiterBurst(w *waiting, in *Input, t *traced, limiter string) (b burstSpent) {
	u := in.Facts.Units()
	frames := limiterFrames(w, t)
	asks, ok := asksLimiter(t, frames)
	if ok && takesSeveral(t, frames) {
		return b // its burst is no number of calls
	}
	if w.group.Unit.String() != "main" || !facts.EndsByItself(in.Session) || u.Err != nil || !ok {
		return b
	}
	made := map[stack.Frame]int64{} // by the line: a call may have several
	for _, g := range u.Groups {
		if name := g.Unit.String(); name != "main" && name != "worker" {
			continue
		}
		for _, o := range outwards(g) {
			if slices.ContainsFunc(o.path, func(f stack.Frame) bool { return sameFunction(f, asks) }) {
				made[o.path[0]] += o.calls
				b.made = max(b.made, made[o.path[0]])
			}
		}
	}
	for _, x := range limiterWaits(t, asks) {
		b.waits += x.Wait.Count
	}
	return b
}

// asksLimiter is the line of the program that asks the limiter of a stack.
func asksLimiter(t *traced, frames []stack.Frame) (at stack.Frame, ok bool) {
	n := slices.IndexFunc(frames, t.Scope.IsUser)
	if name, _ := limits(frames); n < 0 || name == "" {
		return at, false
	}
	return frames[n], true
}

// takesSeveral tells of a call of a limiter that it may take several of its tokens: the program says how many.
func takesSeveral(t *traced, frames []stack.Frame) bool {
	n := slices.IndexFunc(frames, t.Scope.IsUser)
	return n > 0 && strings.HasSuffix(frames[n-1].Func, "N")
}

// limiterWaits are the waits for a limiter that a function of the program asks.
func limiterWaits(t *traced, asks stack.Frame) []*sched.Block {
	return t.OwnBlocks(func(b *sched.Block) bool {
		at, ok := asksLimiter(t, t.Frames(b.Stack))
		return ok && sameFunction(at, asks)
	})
}

// tell says of a finding that the limiter's burst is spent.
func (b burstSpent) tell(limiter string, made []Evidence, f *Finding) {
	f.Summary += fmt.Sprintf("; %s keeps the rate of the program's own calls, going by its name: %s of %s in the trace went through without a wait, as its burst permits, and the others waited",
		stack.Short(limiter), unit.Count(b.through()), unit.Plural(b.made, "call"))
	f.Advice = "The limiter's burst is too small for a run: make it as large as the number of calls that a run makes" + atMade(made) + ", or raise the rate, as far as the peer's own limit permits. Or make fewer calls (one that asks for more at once, a cache). More goroutines gain nothing: all of them wait for the limiter."
	f.Evidence = append(f.Evidence, made...)
	f.Doubts = append(f.Doubts, "if the peer permits no more than this rate, it is the intended limit")
}

// tellLimiterBeside says of calls that are advised to be made concurrently that a limiter makes them wait, too: then that alone
// makes them no faster than it permits.
func tellLimiterBeside(in *Input, t *traced, path []stack.Frame, calls int64, f *Finding) {
	if !strings.Contains(f.Advice, "concurrently") {
		return
	}
	for _, at := range path {
		waits, one := int64(0), stack.Frame{}
		name := ""
		for _, b := range limiterWaits(t, at) {
			waits += b.Wait.Count
			one, _ = asksLimiter(t, t.Frames(b.Stack))
			name, _ = limits(t.Frames(b.Stack))
		}
		if 2*waits < calls || waits == 0 {
			continue
		}
		made := limiterMade(in.code, name)
		f.Advice += fmt.Sprintf(" A limiter makes %s of these calls wait as well, in %s: however many are made at once, they go no faster than it permits. Raise its burst or its rate%s too, as far as the peer permits that.", unit.Count(waits), place(one), atMade(made))
		f.Evidence = append(f.Evidence, made...)
		return
	}
}
