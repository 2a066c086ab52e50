package insight

import (
	"errors"
	"fmt"
	"strings"

	"loupe/analysis/facts"
	"loupe/analysis/holders"
	"loupe/session"
	"loupe/value/stack"
	"loupe/value/unit"
)

// What is said of a core, chosen: a keeper is named as that of a line of which it is sure to
// hold mostOf; without a line, where it has mostOf of all. A heap profile beside the core
// that has another amount by more than apart is of another heap.
const (
	mostOf = 0.5
	partOf = 0.2
	apart  = 2
)

// tellHeap says of a finding about memory what holds it by the core of the recording (phase
// core), where there is one: the path from a root, and how much hangs on it. at is the line
// that has allocated the memory; the zero Frame where the finding names none.
func tellHeap(in *Input, f *Finding, at stack.Frame) {
	held, err := holders.Of(in.Session)
	if errors.Is(err, session.ErrNone) {
		return
	}
	if err != nil {
		f.Doubts = append(f.Doubts, fmt.Sprintf("the heap graph could not show what holds it: %v", err))
		return
	}
	heapTeller{in, held, besideCore(in, held)}.tell(f, at)
}

// besideCore is what was in use right before the core, by a heap profile of the same heap; nil where there is none.
func besideCore(in *Input, held *holders.Held) *facts.InUse {
	b, err := facts.BesideCore(in.Facts)
	if err != nil || float64(b.Bytes) >= apart*float64(held.Reached) || float64(held.Reached) >= apart*float64(b.Bytes) {
		return nil
	}
	return b
}

// ofSizes is what a line had in use right before the core, by the size of the objects, and in all.
func (t heapTeller) ofSizes(at stack.Frame) (sizes map[int64]int64, sum int64) {
	sizes = t.beside.SizesAt(at)
	for _, n := range sizes {
		sum += n
	}
	return sizes, sum
}

// heapTeller says what holds memory.
type heapTeller struct {
	in     *Input
	held   *holders.Held
	beside *facts.InUse // right before the core; nil where that is not known
}

func (t heapTeller) tell(f *Finding, at stack.Frame) {
	var sizes map[int64]int64
	sum := int64(0)
	if t.beside != nil && at.File != "" {
		sizes, sum = t.ofSizes(at)
		all := t.held.OfSizes(sizes)
		if len(all) > 0 && float64(all[0].Low) >= mostOf*float64(sum) {
			t.ofLine(f, all[0], sum)
			return
		}
		if t.together(f, at, sizes, sum) || t.parts(f, all, sum) {
			return
		}
	}
	if k := t.held.Keepers; len(k) > 0 && float64(k[0].Bytes) >= mostOf*float64(t.held.Reached) {
		e := t.evidence(&k[0])
		if at.File == "" {
			t.tellPinned(f, &k[0])
		}
		if at.File != "" {
			e.Text += "; it does not show whether that is what the line allocates"
		}
		f.Evidence = append(f.Evidence, e)
		t.begin(f, &k[0])
		if float64(k[0].Bytes) >= allButLittle*float64(t.held.Reached) { // that of the line is under it, too
			t.tellParted(f, &k[0], f.Advice)
		}
		return
	}
	if sizes == nil && t.together(f, at, nil, 0) || t.few(f, at) {
		return
	}
	f.Evidence = append(f.Evidence, Evidence{Path: t.held.Entry.Path, Phase: t.held.Entry.Phase,
		Text: fmt.Sprintf("according to the heap graph, no single place holds half of the %s in use", unit.BytesOf(float64(t.held.Reached)))})
}

// parts names the places that are sure to hold a part of what a line has in use each, where
// none has most of it; false where none is.
func (t heapTeller) parts(f *Finding, all []holders.Share, bytes int64) (any bool) {
	for _, s := range all {
		if float64(s.Low) < partOf*float64(bytes) {
			break
		}
		f.Evidence = append(f.Evidence, t.ofBytes(s, bytes))
		if !any {
			t.begin(f, s.Keeper)
		}
		any = true
	}
	return any
}

// few names the places that hold much of what is in use each, and half of it with one another, where none does alone.
func (t heapTeller) few(f *Finding, at stack.Frame) bool {
	n, sum := 0, int64(0)
	for n < min(mostFew, len(t.held.Keepers)) && float64(t.held.Keepers[n].Bytes) >= partOf*float64(t.held.Reached) {
		sum += t.held.Keepers[n].Bytes
		n++
	}
	if float64(sum) < mostOf*float64(t.held.Reached) {
		return false
	}
	for i := range t.held.Keepers[:n] {
		e := t.evidence(&t.held.Keepers[i])
		if at.File != "" {
			e.Text += "; it does not show whether that is what the line allocates"
		}
		f.Evidence = append(f.Evidence, e)
	}
	t.begin(f, &t.held.Keepers[0])
	return true
}

// mostFew is how many places are told of that hold most of what is in use with one another; chosen.
const mostFew = 3

// begin has the advice of a finding begin with a keeper that holds much of what is in use, where the source does not say what holds it.
func (t heapTeller) begin(f *Finding, k *holders.Keeper) {
	if !strings.HasPrefix(f.Advice, heldBy) {
		return
	}
	p := holders.PlaceOf(k)
	advice := t.advice(k, p)
	if advice == "" && p.Expr != "" {
		advice = ofCore(p.Expr, p.Type)
	}
	if advice == "" {
		advice = "Find out what adds to " + p.Name + ", and when it is released."
	}
	f.Advice = "Begin with what holds most of the heap. " + advice
}

// ofBytes is the evidence of a keeper of a part of what a line has in use.
func (t heapTeller) ofBytes(s holders.Share, bytes int64) Evidence {
	e := t.evidence(s.Keeper)
	e.Text += fmt.Sprintf("; at least %s of the %s that this line had in use then", unit.Percent(float64(s.Low)/float64(bytes)), unit.BytesOf(float64(bytes)))
	return e
}

// ofLine names the keeper of what a line has allocated, of which so much was in use.
func (t heapTeller) ofLine(f *Finding, s holders.Share, bytes int64) {
	p := holders.PlaceOf(s.Keeper)
	f.Summary += fmt.Sprintf("; held by %s", p.Name)
	if p.Type != "" {
		f.Summary += fmt.Sprintf(" (%s)", p.Type)
	}
	f.Evidence = append(f.Evidence, t.ofBytes(s, bytes))
	said := f.Advice
	// Where the source speaks of the same, it says more.
	if advice := t.advice(s.Keeper, p); advice != "" && (p.Expr == "" || !strings.Contains(f.Advice, lastName(p.Expr)+",")) {
		f.Advice = advice
	} else if p.Expr != "" && strings.HasPrefix(f.Advice, heldBy) {
		f.Advice = ofCore(p.Expr, p.Type)
	} else if strings.HasPrefix(f.Advice, heldBy) {
		f.Advice = "Find out what adds to " + p.Name + ", and when it is released."
	}
	t.tellPinned(f, s.Keeper)
	t.tellParted(f, s.Keeper, said)
	if s.Shared {
		f.Doubts = append(f.Doubts, p.Name+" is one of several references to it: cutting only that one frees nothing")
	}
	if t.held.Missing > 0 || t.held.Damaged > 0 {
		f.Doubts = append(f.Doubts, fmt.Sprintf("the core lacks %s of the heap, and %d of its spans made no sense", unit.BytesOf(float64(t.held.Missing)), t.held.Damaged))
	}
}

// evidence is what the core shows of a keeper.
func (t heapTeller) evidence(k *holders.Keeper) Evidence {
	p := holders.PlaceOf(k)
	if p.Expr != "" {
		p.Name = strings.Replace(p.Name, p.Expr, p.Path, 1)
	}
	if p.Type != "" {
		p.Name += " (" + p.Type + ")"
	}
	text := fmt.Sprintf("according to the heap graph, %s holds %s of %s", p.Name, unit.BytesOf(float64(k.Bytes)), unit.BytesOf(float64(t.held.Reached)))
	if of := holders.ObjectsOf(k); of != "" {
		text += " (" + of + ")"
	}
	e := Evidence{Text: text, Path: t.held.Entry.Path, Phase: t.held.Entry.Phase}
	if k.File != "" {
		e = t.in.lineAt(t.held.Entry, stack.Frame{Func: k.Frame, File: k.File, Line: k.Line}, "%s", text)
	}
	if p, ok := t.in.Session.Manifest().PhaseNamed(e.Phase); ok {
		e.Span = span(p.Span)
	}
	return e
}

// advice fits what the keeper is; empty where its kind says nothing.
func (t heapTeller) advice(k *holders.Keeper, p holders.Place) string {
	switch {
	case p.Stack && (len(k.Steps) == 0 || k.Goroutines > 1):
		return "It lives as long as the goroutine: let that end, work in parts, or set the variable to nil when it is no longer needed."
	case p.Expr == "":
		return ""
	case strings.HasPrefix(p.Type, "map["):
		return fmt.Sprintf("It is in the map %s: check whether entries are deleted as fast as they are added, and give the map a bound (an LRU, a limit on its length), or let entries expire.", p.Expr) + mustReload(t.in.code, p.Expr) + ofDependency(t.in, holders.PackageOf(k.Root.Name), k.Type, &Finding{})
	case strings.HasPrefix(p.Type, "["):
		return fmt.Sprintf("It is in the slice %s: check whether that is ever shortened. Bound it, write it out in parts, or keep only the most recent elements in a ring buffer.", p.Expr)
	case strings.HasPrefix(p.Type, "chan "):
		return fmt.Sprintf("It is queued in the channel %s: check whether it is received as fast as it is sent, and bound the queue.", p.Expr)
	}
	return ""
}
