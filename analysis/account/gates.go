package account

import (
	"cmp"
	"slices"

	"loupe/format/exectrace"
	"loupe/value/stack"
	"loupe/value/timeline"
)

// Gate is a line where units wait for a slot that others have: of a semaphore, of a pool,
// or of workers that do one thing at a time.
type Gate struct {
	// Kind and Site are those of the rows whose Queued time it is.
	Kind Kind
	Site Site
	// Frees is the line that ends the waits.
	Frees Site
	// Waits is how often a unit waited for others there.
	Waits int64
	// Width is how many were inside at once when somebody had to wait, most often, and
	// Steady the part of the waits at whose end it was so. Workers tells that they are
	// goroutines that serve one after another, of which there were as many.
	Width   int
	Steady  float64
	Workers bool
}

// mostPass is the part of the waits at a gate, at least, that are ended by one that has
// waited there itself. Of an event that others wait for hardly any is.
const mostPass = 0.5

// gateKey names a gate.
type gateKey struct {
	kind Kind
	site siteID
}

// gate is one in the making.
type gate struct {
	key     gateKey
	frees   siteID
	inside  int // of those that have waited
	passed  int64
	waits   int64
	widths  map[int]int64
	workers map[exectrace.GoID]int64
}

// muchLonger is how many times as long as it is served a unit may wait for others that the
// same goroutine serves: beyond, one event has ended the waits of all.
const muchLonger = 100

// fewGives is from how often on a goroutine that ends waits is a worker.
const fewGives = 3

// queued is the part of a wait of a unit that was for others and not for it: whoever ended
// it works on another unit, or has served one before. Who sends, and has to wait for that,
// has waited until whoever takes it was done with others: it is served from then on alone.
func queued(t, by *track, kind Kind, sends bool, span timeline.Span) timeline.Span {
	if t.units != nil && (kind == Channel || kind == Cond || kind == Pool) {
		switch from := max(span.Start, by.idle); {
		case t.sameRoot(by):
			return span
		case !t.works():
		case by.serves(), kind == Pool: // the goroutine of a connection gives it back
			return span
		case sends && by.gaveTo != t.id && by.gave > from:
			return timeline.Span{Start: from, End: span.End}
		case by.gaveTo != t.id && by.gave > from && by.gave-from <= muchLonger*(span.End-by.gave):
			return timeline.Span{Start: from, End: by.gave}
		}
	}
	return timeline.Span{}
}

// serves tells whether a goroutine works on a request or a task.
func (t *track) serves() bool {
	for u := t.units; u != nil; u = u.next {
		if u.unit <= Task {
			return true
		}
	}
	return false
}

// pass notes that a wait at a gate is over.
func (f *follower) pass(t, by *track, own key, frees siteID) {
	g := f.gate(gateKey{own.kind, own.site})
	g.waits++
	g.frees = frees
	if !by.serves() && !t.sameRoot(by) {
		g.workers[by.id]++
		return
	}
	if by.gate == g {
		f.leave(by)
		g.passed++
	}
	f.leave(t)
	t.gate = g
	g.inside++
	g.widths[g.inside]++
}

// leave takes a goroutine out of the gate that it is in.
func (f *follower) leave(t *track) {
	if t.gate != nil {
		t.gate.inside--
		t.gate = nil
	}
}

func (f *follower) gate(k gateKey) *gate {
	g := f.gates[k]
	if g == nil {
		if f.gates == nil {
			f.gates = map[gateKey]*gate{}
		}
		g = &gate{key: k, widths: map[int]int64{}, workers: map[exectrace.GoID]int64{}}
		f.gates[k] = g
	}
	return g
}

// idled notes that a wait is over in which a goroutine that works on no unit had nothing to
// do: it waited for somebody to give it something, and asked nobody for it.
func (f *follower) idled(t *track, kind Kind, where stack.ID, e *exectrace.Event) {
	switch kind {
	case Channel:
		// Goroutines of libraries bring the answer to a call, its own do a part of its work.
		if by := f.living(e.GSlot); by != nil && (by.maker == t.id || !f.w.user(f.w.site(e.Stack))) {
			return
		}
	case Answer, Pipe:
		asks := f.w.out(where).asks
		if kind == Answer && asks == never { // the rest of an answer
			return
		}
		if t.sent > 0 || asks == always {
			t.sent = 0
			return
		}
	case Cond, Timer, Accept:
	default:
		return
	}
	t.idle = e.Time
}

// gatesOf puts the gates in words, those first where most waits were, and sorts out what is
// none: what units wait for there is an event.
func (f *follower) gatesOf() (all []Gate) {
	for _, g := range f.gates {
		out := Gate{Kind: g.key.kind, Site: f.w.sites[g.key.site], Frees: f.w.sites[g.frees], Waits: g.waits}
		held, most := int64(0), int64(0)
		for width, n := range g.widths {
			if held += n; n > most || n == most && width < out.Width {
				out.Width, most = width, n
			}
		}
		workers, served := 0, int64(0)
		for _, n := range g.workers {
			if served += n; n >= fewGives {
				workers++
			}
		}
		if out.Workers = served > held; out.Workers {
			out.Width, out.Steady = workers, 1
		} else if out.Steady = float64(most) / float64(held); float64(g.passed) < mostPass*float64(held) {
			f.w.events[g.key] = true
			continue
		}
		all = append(all, out)
	}
	slices.SortFunc(all, func(a, b Gate) int {
		return cmp.Or(cmp.Compare(b.Waits, a.Waits), compareSites(a.Site, b.Site), cmp.Compare(a.Kind, b.Kind))
	})
	return all
}
