package insight

import (
	"fmt"
	"slices"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/unit"
)

// tried is a loop of the source in which pauses lie between calls that are made until one works.
type tried struct {
	asking
	call facts.UnitSite // the line that is called again
	way  []stack.Frame  // from the loop to what it calls, the loop's line last
}

// triesBetween finds the loop of the source in which pauses lie between calls that are made
// until one works.
func (w *waiting) triesBetween(in *Input, t *traced) (tried, bool) {
	for _, o := range outwards(w.group) {
		if 5*o.calls < 4*w.count {
			continue
		}
		if a, ok := retryAround(in.code, o.path); ok && a.around(t.Frames(w.site.Stack)) {
			return tried{a, facts.UnitSite{Stack: o.stack, Frame: a.at}, wayTo(o.path, a.at)}, true
		}
	}
	return tried{}, false
}

// tellTries says that the pauses lie between tries. Where typical units have one each, the call
// fails as a rule: that is no passing trouble of whoever is asked.
func (w *waiting) tellTries(in *Input, t *traced, a tried, f *Finding, info func(string)) {
	f.Advice = againAdvice
	if tellPeerSays(w, in, t, f) {
		return
	}
	if what, ok := awaits(in.code, a.way); ok {
		w.there = what == ofThere
		what.tell(t, a.call, place(a.at), f)
		return
	}
	if !a.showsFailure(in.code) {
		tellHoped(a, t, f, info)
		return
	}
	switch again := typically(w); {
	case a.bounded && again < 1:
		info("the pauses are between a bounded number of retries: the failing call costs the time")
	case again >= 1:
		f.Summary += fmt.Sprintf("; these are pauses before the call at %s is tried again, because it has failed", place(a.at))
		f.Evidence = append(f.Evidence, t.seen(a.call.Stack, "tried again after each pause"))
		often, then := fmt.Sprintf("a typical one of these %s tries again %s times on average", w.group.Unit.String()+"s", unit.Number(again)), "do what a request need not wait for after it."
		switch {
		case w.group.Unit.String() == "worker":
			often, then = fmt.Sprintf("each of these goroutines tries again %s times on average", unit.Number(again)), "go on with other items meanwhile."
		case w.group.Wall.Count == 1:
			often = fmt.Sprintf("it is tried again %s times in all", unit.Number(again))
		}
		f.Advice = "Find out why the call fails: " + often + ". Try again only what may work the next time (a timeout, a refused connection, the statuses 429 and 503), and give up at once where the answer will stay the same " +
			"(not found, not allowed, a bad argument, a certificate that is refused); where the answer may be kept, keep also that there is none. Bound all tries together by a deadline, and " + then
		f.Doubts = append(f.Doubts, "an error may also say that something is not ready yet: then the pauses are those of a poll", "if whoever is called was down only while this was recorded, the tries are what they are meant for")
	}
}

// wayTo is the part of a way through the code up to a frame.
func wayTo(path []stack.Frame, last stack.Frame) []stack.Frame {
	return path[:slices.Index(path, last)+1]
}

// typically is how often a typical unit waits there on average.
func typically(w *waiting) float64 {
	n := int64(0)
	for i := range w.group.Typical.Rows {
		if row := &w.group.Typical.Rows[i]; row.Kind.Key() == w.kind && row.Site.Frame == w.site.Frame {
			n += row.Count
		}
	}
	return float64(n) / float64(max(1, w.group.Typical.Units))
}

// triedElsewhere tells whether the goroutine that ends the wait pauses between tries of
// something that fails.
func (w *waiting) triedElsewhere(in *Input) bool {
	if len(w.causes) == 0 || !w.ofAnother(w.reason()) {
		return false
	}
	pause := w.causes[0].Cause.Site.Frame
	return retriesAround(in.code, pause) && !pollsUntilThere(in.code, pause)
}

// adviseTries looks for tries of something that fails, between which the units, or the goroutine that they wait for, pause;
// and for a walk through files that nobody wants.
func adviseTries(w *waiting, in *Input, t *traced, f *Finding) {
	if w.vain = vainTries(w, in, t); w.triedElsewhere(in) {
		f.Advice = elsewhereAdvice
	}
	if w.kind == "file_call" {
		tellSkips(in, w.site.Frame, f)
	}
}

// elsewhereAdvice is what to do about a goroutine that pauses between tries while others wait
// for it.
const elsewhereAdvice = "The goroutine waited for pauses between tries of something that fails, and does nothing else meanwhile. Put the item back to be tried later (time.AfterFunc, a queue ordered by time) and take the next one; limit pauses and tries; and find out why the first try fails."

// againOf is what to do about a call that is made again after each pause: where it asks no peer, none can say anything.
func againOf(call *facts.UnitRow) string {
	if call.Kind.Key() == "file_call" {
		return "It calls, pauses and calls again. If it waits until a file, or what is in it, is there, have whoever makes it say so (a notification, such as package fsnotify; a pipe), or look more often at first and less often later. If the calls fail, stop after a few attempts or when the caller's context ends."
	}
	return againAdvice
}

// againAdvice is what to do about a call that is made again after each pause.
const againAdvice = "It calls, pauses and calls again. If the calls fail, wait longer after each (exponential backoff with jitter), stop after a few attempts or when the request's context ends, and fail at once while the peer is known to be down. If it polls whether something is ready, have the peer say so (a long poll, a callback, a notification)."
