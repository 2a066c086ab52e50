package insight

import (
	"slices"
	"strings"
	"time"

	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/value/stack"
)

// allAtOnce is what to do where all that a unit waits for ask at the same time already; it names no fault either.
const allAtOnce = "The goroutines waited for here ask all at once already, and the last response ends the wait: look at the peer. If it has one call for all of them, make that one; keep answers that do not change."

// shareOne is what to do where those who wait share one call that is under way; it names no fault either.
const shareOne = "They share one call that is under way, and wait for its answer: look at the peer. If the answer is good for a while, keep it, and ask for the next one in the background before it expires."

// sharesCall tells of the frames of a wait that they are in a singleflight.Group, whose callers of one key share a call. Copies of
// golang.org/x/sync/singleflight have the same names of types.
func sharesCall(frames []stack.Frame) bool {
	return slices.ContainsFunc(frames, func(f stack.Frame) bool { return strings.Contains(f.Func, "singleflight.(*Group") })
}

// queuedLittle is the part of the waits of such goroutines, at most, that are for each other. Chosen.
const queuedLittle = 0.1

// askAtOnce tells of the goroutines that a unit waits for once, together, that as many calls are under way as there are items: each
// goroutine makes its call once, none waits for a slot that another has, and the unit itself does not either before
// it starts the next one.
func askAtOnce(w *waiting, in *Input, t *traced) bool {
	if w.kind != "wait_group" || len(w.causes) == 0 || w.count > w.group.Wall.Count {
		return false
	}
	cause := w.causes[0].Cause.Site
	root, own := userRoot(t, cause.Stack), userRoot(t, w.site.Stack)
	once := false
	for _, g := range in.Facts.Units().Groups {
		if g.Unit.String() != "worker" || g.Name != root {
			continue
		}
		for _, o := range outwards(g) {
			if o.path[0] == cause.Frame {
				if o.calls > g.Seen.Count {
					return false
				}
				once = once || 2*o.calls >= g.Seen.Count // else they were not counted
			}
		}
	}
	if !once || root == "" {
		return false
	}
	queued, all := time.Duration(0), time.Duration(0)
	for _, b := range t.OwnBlocks(func(b *sched.Block) bool { return b.State == exectrace.Waiting }) {
		switch userRoot(t, b.Stack) {
		case root:
			all += b.Wait.Sum
			for _, by := range b.Wakers {
				if by.Stack != 0 && userRoot(t, by.Stack) == root {
					queued += by.Time
				}
			}
		case own:
			if !slices.Contains(handsSlots, b.Reason) {
				continue
			}
			if by, _ := endersOf(t, t.Site(b.Stack), handsSlots...); by[root] > 0 {
				return false
			}
		}
	}
	return float64(queued) <= queuedLittle*float64(all)
}

// elsewhereOf is where the goroutines that a unit waits for wait most, apart from a line: not for the unit itself, nor for each other.
func elsewhereOf(w *waiting, t *traced, apart stack.Frame) (at stack.Frame, most time.Duration) {
	root := userRoot(t, w.causes[0].Cause.Site.Stack)
	sums := map[stack.Frame]time.Duration{}
	for _, b := range t.OwnBlocks(func(b *sched.Block) bool {
		return root != "" && b.State == exectrace.Waiting && userRoot(t, b.Stack) == root && t.Site(b.Stack) != apart
	}) {
		site, d := t.Site(b.Stack), b.Wait.Sum
		for _, by := range b.Wakers {
			if by.Stack != 0 && (t.Site(by.Stack) == w.site.Frame || userRoot(t, by.Stack) == root) {
				d -= by.Time
			}
		}
		if sums[site] += d; sums[site] > most {
			at, most = site, sums[site]
		}
	}
	return at, most
}
