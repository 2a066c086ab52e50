package insight

import (
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
	kept, share, known := livesOn(in, g.at)
	switch {
	case share >= keptShare:
		return notAgain(in, g.at, kept, share)
	case known && share == 0:
		return "None of it was in use in the heap profile: if no callee keeps the slice or a part of it (a string made from it with unsafe, a field, a channel, a goroutine), the caller can pass in a buffer and reuse it."
	}
	return "Reuse is safe only if nothing keeps the slice or a part of it (a field, a map, a channel, a goroutine, a return value); otherwise the kept data is overwritten. A heap profile (-phases heap) shows whether any is kept."
}

// keptShare is which part of what a line has allocated must be in use for somebody to keep
// it. Chosen: below it is what was just being used; what is kept of it may be as little, and
// no advice says that it is safe.
const keptShare = 0.01

// surelyKept is the part from which on calls in progress do not explain what is in use.
// Chosen: a profile of the first moments has few calls that have ended.
const surelyKept = 0.1

// livesOn is how much of what a line has made was in use in a heap profile, be it that of a
// peak, and which part of all that it had made; known tells whether there is a profile of the program at work.
func livesOn(in *Input, at stack.Frame) (kept int64, share float64, known bool) {
	all, _ := facts.RetentionIn(in.Facts)
	if all == nil {
		return 0, 0, false
	}
	return all.AtMost(at)
}

// lasts is how much of what a line has made is kept for certain; 0 where all that is known of is
// what was in use at a peak, perhaps by calls in progress.
func lasts(in *Input, at stack.Frame) int64 {
	all, _ := facts.RetentionIn(in.Facts)
	if all == nil {
		return 0
	}
	return all.Lasting(at)
}

// goneLater tells that a heap profile of a quiet moment has nothing in use of what a line has made.
func goneLater(in *Input, at stack.Frame) (gone bool) {
	all, _ := facts.RetentionIn(in.Facts)
	if all == nil {
		return false
	}
	for _, look := range all.Looks {
		if look.Peak || look.AtExit || look.Entry.Partial {
			continue
		}
		if gone = look.InUse.At(at) == 0; !gone {
			return false
		}
	}
	return gone
}

// notAgain is said in place of advice to use memory again that somebody keeps, or may keep.
func notAgain(in *Input, at stack.Frame, kept int64, share float64) string {
	if lasting := lasts(in, at); share >= surelyKept && lasting > 0 && float64(lasting) >= surelyKept*float64(kept) {
		return "Do not reuse one buffer for the next call: " + unit.BytesOf(float64(lasting)) + " of what this line allocated were still in use in the heap profile, so something keeps them; a shared buffer would overwrite the kept data."
	}
	when := " of what this line allocated were in use in the heap profile, by calls in progress or because something keeps them"
	if goneLater(in, at) {
		when = " of what this line allocated were in use at a peak of the heap, and none after a later collection, so calls in progress or a queue held them"
	}
	return unit.BytesOf(float64(kept)) + when + ". Use a buffer again only where nothing keeps it or a part of it; otherwise the kept data is overwritten."
}

// whenDone stands behind every advice to put something into a sync.Pool: who puts back
// what is still in use gives it to two.
const whenDone = " Put each one back once, and only when nothing uses it or a part of it any more: data that is returned, stored, sent or read later by a goroutine would be overwritten by the next user."
