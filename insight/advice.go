package insight

import (
	"fmt"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/unit"
)

// Advice must do no harm to who follows it mechanically. What holds only under a
// condition is given where the recording proves it, and else with the condition.

// reuse says what must hold before a buffer is used again. Where a heap profile
// shows what the line has made as still in use, somebody keeps it, and one buffer
// for all of them would make them all the same.
func reuse(in *Input, g *reasonLine) string {
	l := livesOn(in, g.at)
	switch {
	case l.share >= keptShare:
		return notAgain(l)
	case l.known && l.share == 0:
		return "None of it was in use in the heap profile: if no callee keeps the slice or a part of it (a string made from it with unsafe, a field, a channel, a goroutine), the caller can pass in a buffer and reuse it" + oldContent
	}
	return "Reuse is safe only if nothing keeps the slice or a part of it (a field, a map, a channel, a goroutine, a return value); otherwise the kept data is overwritten. A heap profile (-phases heap) shows whether any is kept."
}

// oldContent ends every advice to use memory again that make would have cleared.
const oldContent = ": its old content is still in it, so that all of it has to be written or cleared (clear)."

// keptShare is which part of what a line has allocated must be in use for somebody to keep
// it. Chosen: below it is what was just being used; what is kept of it may be as little, and
// no advice says that it is safe.
const keptShare = 0.01

// surelyKept is the part of all that a line allocates from which on calls in progress and
// queues do not explain what is in use. Chosen.
const surelyKept = 0.1

// living is what heap profiles show of what a line has allocated.
type living struct {
	kept int64 // the most that was in use
	// share is the largest part of what the line had allocated by the time of a profile. One of
	// the first moments has few calls that have ended.
	share float64
	all   int64 // the most that the line had allocated by the time of one; 0 is unknown
	// steady tells that what is in use grows along with what is allocated.
	steady bool
	known  bool // a profile was taken while the program was at work
}

// ofAll is the most that was in use, as a part of all that was allocated.
func (l living) ofAll() float64 {
	if l.all <= 0 {
		return l.share
	}
	return min(1, float64(l.kept)/float64(l.all))
}

// steadyKept is how much must be in use for that it grows to be no chance: what is allocated
// while a collection marks is in use, too, which is more where the heap is larger; and of a few
// samples of a profile nobody knows how many more there are later. Chosen.
const steadyKept = 8 << 20

// surely tells that something keeps a part of what the line allocates: what is in use is much
// of all of it, or grows with it. A queue and calls in progress have a bound.
func (l living) surely() bool {
	return l.ofAll() >= surelyKept || l.steady && l.kept >= steadyKept && l.ofAll() >= steadyShare
}

// steadyShare is the part of all that a line allocates below which calls in progress, and what is
// allocated while a collection marks, may be all that is in use, though it grows. Chosen.
const steadyShare = 0.03

// livesOn is how much of what a line has made was in use in the heap profiles, those of the
// peaks among them.
func livesOn(in *Input, at stack.Frame) (l living) {
	all, _ := facts.RetentionIn(in.Facts)
	if all == nil {
		return l
	}
	l.kept, l.share, l.known = all.AtMost(at)
	var peaks []*facts.Look
	for _, look := range all.Looks {
		l.all = max(l.all, look.Allocated(at))
		if look.Peak {
			peaks = append(peaks, look)
		}
	}
	if n := len(peaks); n > 1 {
		l.steady = growsAlong(peaks[0].InUse.At(at), peaks[0].Allocated(at), peaks[n-1].InUse.At(at), peaks[n-1].Allocated(at))
	}
	return l
}

// Bounds of [growsAlong], chosen: what is in use falls behind what is allocated unless it is at
// least half of its first share, when four times as much has been allocated.
const (
	alongShare = 0.5
	alongTimes = 4
)

// growsAlong tells of two moments that what is in use has grown along with what is allocated.
func growsAlong(inUse, allocated, inUseLater, allocatedLater int64) bool {
	if inUse <= 0 || allocated <= 0 || allocatedLater < alongTimes*allocated {
		return false
	}
	return float64(inUseLater)/float64(allocatedLater) >= alongShare*float64(inUse)/float64(allocated)
}

// notAgain is said in place of advice to use memory again that somebody may keep.
func notAgain(l living) string {
	kept := unit.BytesOf(float64(l.kept))
	if !l.surely() {
		return fmt.Sprintf("As far as heap profiles saw, at most %s of what this line allocated were in use at a time, be it by calls in progress, in a queue, or because something keeps them. Use a buffer again only when its last user is done with it and nothing keeps it or a part of it; otherwise data still in use is overwritten. Its old content is still in it: write or clear all of it.", kept)
	}
	return "Do not reuse one buffer for the next call: " + kept + " of what this line allocated were still in use in the heap profile. If something keeps them, a shared buffer would overwrite the kept data; if they are those of calls in progress, each call needs its own. Only what is put back into a sync.Pool by its last user can be used again."
}

// whenDone stands behind every advice to put something into a sync.Pool: who puts back
// what is still in use gives it to two.
const whenDone = " Put each one back once, and only when nothing uses it or a part of it any more: data that is returned, stored, sent or read later by a goroutine would be overwritten by the next user."
