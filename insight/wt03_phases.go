package insight

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
	"time"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/unit"
)

// Two phases of one unit, of which one uses the CPU and the other one waits for a network or for processes, though the second
// one goes item by item through what the first one has gathered: they could overlap.

// phasesTitle is the title of such phases.
const phasesTitle = "Two phases run one after another that could overlap (pipeline)"

// wholly is the part of a phase that has to be of one kind. Chosen: with less the other one would not overlap with it.
const wholly = 0.75

// phase is a part of the time of some units: what their goroutine computes, and what it waits for outside of the program, by
// itself or for others that do.
type phase struct {
	all, computes, outside time.Duration
	most                   *facts.UnitRow // of the kind that it mostly is
	rows                   []*facts.UnitRow
}

// add adds a part of the time.
func (p *phase) add(row *facts.UnitRow) {
	p.all += row.Time
	p.rows = append(p.rows, row)
	switch {
	case computesIn(row):
		p.computes += row.Time
	case outsideIn(row):
		p.outside += row.Time
	default:
		return
	}
	if p.most == nil || row.Time > p.most.Time {
		p.most = row
	}
}

// computesIn tells of a part of the time that a CPU or a disk works in it, or that it waits for a CPU.
func computesIn(row *facts.UnitRow) bool {
	switch row.Kind.Key() {
	case "running", "runnable", "mark_assist", "file_call", "system_call", "cgo":
		return true
	case "channel", "wait_group", "cond":
		cause := row.Cause.Kind.Key()
		return cause == "running" || cause == "runnable" || cause == "file_call"
	}
	return false
}

// outsideIn tells of a part of the time that it passes with waiting for a peer or for a process, by itself or for another goroutine
// that does.
func outsideIn(row *facts.UnitRow) bool {
	kind := row.Kind
	switch kind.Key() {
	case "channel", "wait_group", "cond":
		kind = row.Cause.Kind
	}
	return kind.Network() || kind.Key() == "process"
}

// phases are two of them with the list between.
type phases struct {
	*gathered
	d             *derivations
	first, second phase
	computesFirst bool
	gain          time.Duration
}

// phasesOf finds the two phases of a group that would gain most if they overlapped.
func phasesOf(in *Input, t *traced, g facts.UnitGroup) (best *phases) {
	d := newDerivations(in.code)
	seen := map[string]bool{}
	var all []*phases
	frames := make([][]stack.Frame, len(g.All.Rows))
	for i := range g.All.Rows {
		frames[i] = t.Frames(g.All.Rows[i].Site.Stack)
		for _, f := range frames[i] {
			if !t.Scope.IsUser(f) {
				continue
			}
			fn, ok := d.at(f)
			if !ok || seen[d.placeOf(fn.decl).file+d.placeOf(fn.decl).text()] {
				continue
			}
			seen[d.placeOf(fn.decl).file+d.placeOf(fn.decl).text()] = true
			for _, list := range gatheredLists(d, fn.decl) {
				if list.against == "" && len(list.passes) == 1 && len(list.others) == 0 && list.field == nil {
					all = append(all, &phases{gathered: list, d: d})
				}
			}
		}
	}
	for _, p := range all {
		for i := range g.All.Rows {
			row := &g.All.Rows[i]
			switch {
			case slices.ContainsFunc(frames[i], func(f stack.Frame) bool { return p.inWhole(d, f.File, f.Line) }):
				p.first.add(row)
			case slices.ContainsFunc(frames[i], func(f stack.Frame) bool { return inPass(d, p.last(), f, row) }):
				p.second.add(row)
			}
		}
		p.weigh()
		if best == nil || p.gain > best.gain {
			best = p
		}
	}
	return best
}

// inPass tells of a frame that it is in the loop that goes through a list, or behind it, waiting for those that it has handed the
// items to.
func inPass(d *derivations, p passThrough, f stack.Frame, row *facts.UnitRow) bool {
	if d.placeOf(p.loop).file != f.File {
		return false
	}
	if coversLine(d, p.loop, f.Line) {
		return true
	}
	_, end, _ := d.t.at(p.decl.End())
	kind := row.Kind.Key()
	return f.Line > d.placeOf(p.loop).line && f.Line <= end && handsOver(p.body) && (kind == "wait_group" || kind == "channel")
}

// handsOver tells of the body of a loop that it starts goroutines or sends.
func handsOver(body ast.Node) bool {
	found := startsFrom(body)
	ast.Inspect(body, func(n ast.Node) bool {
		_, sends := n.(*ast.SendStmt)
		found = found || sends
		return !found
	})
	return found
}

// weigh finds what could be gained.
func (p *phases) weigh() {
	mostly := func(part, all time.Duration) bool { return float64(part) >= wholly*float64(all) }
	switch a, b := &p.first, &p.second; {
	case mostly(a.computes, a.all) && mostly(b.outside, b.all):
		p.computesFirst, p.gain = true, min(a.computes, b.outside)
	case mostly(a.outside, a.all) && mostly(b.computes, b.all):
		p.gain = min(a.outside, b.computes)
	}
}

// phasesFinding tells of two phases that could overlap; false where there are none, or where too little would be gained.
func phasesFinding(r *Rule, in *Input, t *traced, g facts.UnitGroup) (f Finding, ok bool) {
	p := phasesOf(in, t, g)
	if p == nil || g.All.Share(p.gain) < r.param("phase") {
		return f, false
	}
	n, share := unitCount(g), g.All.Share(p.gain)
	add, last := p.d.placeOf(p.adds[0]), p.whereLast(p.d)
	gathers, handles := "computes", "waits"
	a, b := p.first.computes, p.second.outside
	if !p.computesFirst {
		gathers, handles = "waits", "computes"
		a, b = p.first.outside, p.second.computes
	}
	f = r.answer(Found, "%s %s for %s while it gathers %s (%s), and only then goes through it, one item after the other, at %s, and %s for %s%s: of %s%s, each phase leaves idle what the other one needs",
		unitOf(g), gathers, unit.Duration(a/n), p.of.Name(), add.text(), last.text(), handles, unit.Duration(b/n), p.forWhom(), unit.Duration(g.All.Wall/n), overUnits(g))
	f.Title = phasesTitle
	f.Summary += fmt.Sprintf("; overlapped they would save up to %s", unit.Duration(p.gain/n))
	f.Impact = exactly(ofAll(in, g, share), "share of the "+timeOfUnits(g))
	f.Score = score(share, r.param("phase"), 0.5)
	f.Severity = Warning
	f.Evidence = []Evidence{
		in.code.shownAt(add.file, add.line, "%s in each until all items are gathered here", unit.Duration(a/n)),
		in.code.shownAt(last.file, last.line, "%s in each to go through them", unit.Duration(b/n)),
	}
	if p.second.most != nil {
		f.Evidence = append(f.Evidence, t.seenAt(t.Frames(p.second.most.Site.Stack), p.second.most.Site.Frame, "%s in each, %s", unit.Duration(p.second.most.Time/n), p.second.most.Kind.Clause()))
	}
	f.Evidence = slices.CompactFunc(f.Evidence, func(a, b Evidence) bool { return evidenceLine(a) == evidenceLine(b) })
	f.Advice = fmt.Sprintf("Let the two overlap: start what handles the items first, and hand each one over where %s is appended to now (%s), by a channel with a bound, which is closed when all are found; then wait for the rest. More at a time in one of the two phases alone leaves the other one as it is.", p.of.Name(), add.text())
	if !p.computesFirst {
		f.Advice = fmt.Sprintf("Let the two overlap: handle each item on another goroutine while the next one is asked for: hand it over where %s is appended to now (%s), by a channel with a bound, which is closed when all are there.", p.of.Name(), add.text())
	}
	f.Verify = "Record again under the same load: the time should come close to that of the longer phase."
	f.Doubts = in.traceDoubts(t)
	if need := secondNeeds(p.d, p.gathered); need == nil {
		f.Doubts = append(f.Doubts, "all that the second phase reads, by the source, is the item at hand and what was there before the first one", allOrNothing)
	} else {
		p.tellNeed(in, &f, need)
	}
	if p.fails != nil {
		at := p.d.placeOf(p.fails)
		f.Severity = Info
		f.Evidence = append(f.Evidence, in.code.shownAt(at.file, at.line, "ends before anything is handled"))
		f.Advice += " That is right only if items may be handled though a later one is found to be bad."
	}
	if p.closes {
		f.Severity = Info
		f.Doubts = append(f.Doubts, "something is closed before the items are handled: overlapped it would stay open for as long")
	}
	f.waits = append(f.waits, p.second.rows...)
	if !p.computesFirst {
		f.waits = p.first.rows
	}
	return f, true
}

// tellNeed says where the second phase may need all items before it can begin with the first one.
func (p *phases) tellNeed(in *Input, f *Finding, need *secondNeed) {
	at := p.d.placeOf(need.at)
	f.Severity, f.saves = Info, false
	f.Evidence = append(f.Evidence, in.code.shownAt(at.file, at.line, "the second phase may need all items for this"))
	f.Advice = fmt.Sprintf("Only if what %s needs is known before the last item is, or can be made in a short pass of its own first: %s%s", at.text(), strings.ToLower(f.Advice[:1]), f.Advice[1:])
	f.Doubts = append(f.Doubts, need.text+" ("+at.text()+"): the source does not show that an item can be handled before all are there", allOrNothing)
}

// forWhom says whom the second phase waits for.
func (p *phases) forWhom() string {
	if !p.computesFirst || p.second.most == nil {
		return ""
	}
	if c := p.second.most.Cause; c.Kind.Key() != "none" {
		return " for others that are " + c.Kind.Clause() + atPlace(c.Site)
	}
	return ", " + p.second.most.Kind.Clause()
}
