package insight

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"slices"
	"strings"

	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

// A value that functions of the program compute anew each time they are asked for it, although what it is
// computed from has not changed.

// withDerived adds such values to what else is done again.
func withDerived(r *Rule, in *Input, all []Finding) []Finding {
	found := derivedAgain(r, in)
	found = slices.DeleteFunc(found, func(f Finding) bool {
		return slices.ContainsFunc(all, func(o Finding) bool {
			return o.State == Found && slices.ContainsFunc(o.costs, func(c cost) bool { return slices.Contains(f.costs, c) })
		})
	})
	all = withRereads(found, all)
	return withRereads(tablesAgain(r, in, all), all)
}

// derivedValue is a function whose result is computed again, with the samples in it.
type derivedValue struct {
	f       *derived
	name    string
	at      stack.Frame // its heaviest line
	most    int64
	lines   map[stack.Frame]int64
	samples int64
	sure    int64 // those where nothing speaks against the same result
	rec     recomputed
	loops   map[codeLine]int64    // the samples by the loop that repeats it
	calls   map[stack.Frame]int64 // the lines that call it
	stacks  map[stack.ID]int64
	depth   int // how many functions of the program are around it
	d       *derivations
}

// derivedAgain finds them by the CPU samples.
func derivedAgain(r *Rule, in *Input) (found []Finding) {
	w, err := in.Facts.Weights(facts.CPU, "samples")
	if err != nil || float64(w.Total()) < r.param("samples") || len(in.Session.Manifest().Of(recording.Source)) == 0 {
		return nil
	}
	all := derivedValues(in, w, r.param("derived"))
	var told []*derivedValue
	for _, x := range all {
		share := stats.Wilson(float64(x.samples), float64(w.Total()), compare.Confidence)
		overlaps := slices.ContainsFunc(told, func(o *derivedValue) bool { return 2*o.shared(x) > x.samples })
		if share.Low < r.param("derived") || overlaps || len(told) == 2 {
			continue
		}
		told = append(told, x)
		found = append(found, x.finding(r, in, w, share))
	}
	return found
}

// shared is how many samples two of them have in common.
func (x *derivedValue) shared(o *derivedValue) (n int64) {
	for id, m := range o.stacks {
		if _, ok := x.stacks[id]; ok {
			n += m
		}
	}
	return n
}

// derivedValues are the functions that give the same again, those with the most samples first; of those
// that share them the outermost.
func derivedValues(in *Input, w *facts.Weights, least float64) []*derivedValue {
	v := in.view(w.Profile)
	inclusive := map[string]int64{}
	samples := w.Profile.Samples(w.Index)
	for id, n := range samples {
		seen := map[string]bool{}
		for _, f := range v.t.Frames(id) {
			if fn := v.t.Frame(f).Func; v.origins[f] == stack.User && !seen[fn] {
				seen[fn] = true
				inclusive[fn] += n
			}
		}
	}
	enough := func(fn string) bool { return float64(inclusive[fn]) >= least*float64(w.Total()) }
	if !slices.ContainsFunc(slices.Collect(maps.Keys(inclusive)), enough) {
		return nil
	}
	s := &derivedScan{d: newDerivations(in.code), v: v, known: map[string]*recomputed{}, values: map[*ast.FuncDecl]*derivedValue{}, enough: enough}
	for id, n := range samples {
		s.add(id, n)
	}
	return slices.SortedFunc(maps.Values(s.values), func(a, b *derivedValue) int {
		return cmp.Or(cmp.Compare(b.sure, a.sure), cmp.Compare(b.samples, a.samples), cmp.Compare(a.depth, b.depth), strings.Compare(a.name, b.name))
	})
}

// derivedScan goes through the stacks.
type derivedScan struct {
	d      *derivations
	v      *view
	known  map[string]*recomputed
	values map[*ast.FuncDecl]*derivedValue
	enough func(string) bool
}

// add asks of each function of the program on a stack whether it gives the same again there.
func (s *derivedScan) add(id stack.ID, n int64) {
	frames := s.v.t.Frames(id)
	seen := map[*ast.FuncDecl]bool{}
	for i := len(frames) - 1; i >= 0; i-- {
		at := s.v.t.Frame(frames[i])
		if s.v.origins[frames[i]] != stack.User || !s.enough(at.Func) || strings.Contains(at.Func, ".func") {
			continue
		}
		in, ok := s.d.at(at)
		if !ok || seen[in.decl] || i+1 == len(frames) {
			continue
		}
		f := s.d.value(in.decl)
		if f == nil || !f.works {
			continue
		}
		seen[in.decl] = true
		rec := s.ask(f, frames[i:])
		if rec == nil {
			continue
		}
		x := s.values[in.decl]
		if x == nil {
			x = &derivedValue{f: f, d: s.d, name: at.Func, lines: map[stack.Frame]int64{}, calls: map[stack.Frame]int64{}, loops: map[codeLine]int64{}, stacks: map[stack.ID]int64{}}
			s.values[in.decl] = x
		}
		x.add(rec, id, lineOnly(at), lineOnly(s.v.t.Frame(frames[i+1])), n)
		x.depth = len(frames) - i
	}
}

// lineOnly is a frame by its function and its line alone.
func lineOnly(f stack.Frame) stack.Frame {
	return stack.Frame{Func: f.Func, File: f.File, Line: f.Line}
}

func (x *derivedValue) add(rec *recomputed, id stack.ID, at, caller stack.Frame, n int64) {
	x.samples += n
	x.stacks[id] += n
	x.calls[caller] += n
	if x.lines[at] += n; x.lines[at] > x.most {
		x.at, x.most = at, x.lines[at]
	}
	if rec.certain() {
		x.sure += n
	}
	// What is told is the heaviest one of those of which nothing speaks against it.
	if x.loops[rec.loop] += n; x.rec.kind == againNot || rec.certain() && !x.rec.certain() || rec.certain() == x.rec.certain() && x.loops[rec.loop] > x.loops[x.rec.loop] {
		x.rec = *rec
	}
}

// certain tells that nothing speaks against the same result.
func (rec *recomputed) certain() bool { return rec.sure && !(rec.waits && rec.others()) }

// others tells whether something is changed while the program runs.
func (rec *recomputed) others() bool {
	return slices.ContainsFunc(rec.changes, func(c changing) bool { return !c.starts })
}

// ask is [derivations.again] for the first of some frames, remembered.
func (s *derivedScan) ask(f *derived, frames []stack.FrameID) *recomputed {
	key := fmt.Sprint(f.decl.Pos(), frames[1:])
	if rec, ok := s.known[key]; ok {
		return rec
	}
	way, user := make([]stack.Frame, len(frames)), make([]bool, len(frames))
	for i, id := range frames {
		way[i], user[i] = s.v.t.Frame(id), s.v.origins[id] == stack.User
	}
	s.known[key] = nil
	if rec, ok := s.d.again(f, way, user); ok {
		s.known[key] = &rec
	}
	return s.known[key]
}

// finding says what is computed again, where, and what changes it.
func (x *derivedValue) finding(r *Rule, in *Input, w *facts.Weights, share stats.Interval) Finding {
	rec := &x.rec
	over := ""
	if x.f.over != nil && !derivedOverLocal(x) {
		file, line, _ := typedOf(in.code).at(x.f.over.Pos())
		over = ", which goes through " + types.ExprString(x.f.over) + " (" + fileLine(file, line) + "),"
	}
	upTo := ""
	if x.loopAgain(in, w) {
		upTo = "up to "
	}
	f := r.answer(Found, "%s%s of the CPU time goes into computing the same again: %s%s %s%s", upTo, unit.Percent(share.Estimate), stack.Short(x.name), over, rec.where(), x.changesText(in))
	f.Title = "The same value is computed again and again"
	f.takes(r, share)
	sure := stats.Wilson(float64(x.sure), float64(w.Total()), compare.Confidence)
	if sure.Low < r.param("derived-warn") {
		f.Severity, f.saves = Info, false
	}
	inside := in.lineAt(w.Entry, x.at, "%d of %d samples are in %s where it is called so, %d of them go through this line", x.samples, w.Total(), stack.Short(x.name), x.most)
	if f.Evidence = []Evidence{inside}; rec.kind == againCompared {
		f.Evidence = nil // the comparison is what to change
	}
	calls := slices.SortedFunc(maps.Keys(x.calls), func(a, b stack.Frame) int {
		return cmp.Or(cmp.Compare(x.calls[b], x.calls[a]), cmp.Compare(a.Line, b.Line))
	})
	for i, at := range calls {
		if i < 3 {
			f.Evidence = append(f.Evidence, in.lineAt(w.Entry, at, "it is called here, in %d samples", x.calls[at]))
		}
		f.costs = append(f.costs, cost{file: at.File, line: at.Line, callee: stack.FoldGenerics(x.name)})
	}
	if rec.kind == againCompared {
		f.Evidence = append(f.Evidence, inside)
	}
	if c, ok := x.change(in); ok {
		at := typedOf(in.code).placeAt(c)
		f.Evidence = append(f.Evidence, in.code.shownAt(at.file, at.line, "what it is computed from changes here"))
	}
	f.Advice = rec.advice(x, in)
	f.Doubts = x.doubts(in)
	if upTo != "" {
		f.Doubts = append(f.Doubts, "the first turn of each run of the loop at "+rec.loop.text()+" is needed, and counted as well: where there are few turns, much of the share stays")
	}
	x.tellMeanwhile(in, &f)
	if at, ok := x.resultWritten(); ok {
		f.Severity, f.saves = Info, false
		f.Summary += "; its callers write to the result, as at " + at.text()
		f.Advice = "Kept as it is, the result would be changed for all of them. Compute it once and give each a copy, if a copy costs less: one that goes into the slices, maps and pointers in it."
		f.Evidence = append(f.Evidence, in.code.shownAt(at.file, at.line, "the result is written to here"))
	}
	return f
}

// tellMeanwhile makes a remark of a value of each request where something else may change what it is made of, as CP28 asks it.
func (x *derivedValue) tellMeanwhile(in *Input, f *Finding) {
	if x.rec.kind != againRequest || x.rec.others() {
		return
	}
	file, line, _ := x.d.t.at(x.f.decl.Name.Pos())
	decl := stack.Frame{Func: x.name, File: file, Line: line}
	for _, at := range slices.SortedFunc(maps.Keys(x.calls), func(a, b stack.Frame) int { return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line)) }) {
		why := changedMeanwhile(in.code, at, decl)
		if why == "" {
			continue
		}
		f.Severity, f.saves = Info, false
		f.Summary = strings.TrimSuffix(f.Summary, "; "+nothingChanges)
		f.Advice = "If it is the same for many requests, keep the result, and make it again, or forget it, where what it is made of changes."
		f.Doubts = []string{"another request may need another result: " + why}
		return
	}
}

// nothingChanges is said where no change of what is read was found.
const nothingChanges = "nothing in the source changes what it reads once that is made"

// derivedOverLocal tells whether what a value goes through is a variable of its function, or what that is given, which says nothing
// outside of it.
func derivedOverLocal(x *derivedValue) bool {
	root, ok := innermost(ast.Unparen(x.f.over)).(*ast.Ident)
	if !ok {
		return false
	}
	v := x.d.variable(root)
	_, plain := ast.Unparen(x.f.over).(*ast.Ident)
	return isLocal(x.f.decl, v) && (plain || !isGiven(x.f.decl, v))
}

// loopAgain tells of a value that is the same in each turn of a loop that the loop itself is run again and again: how
// many of the calls are the first of their run is not known then.
func (x *derivedValue) loopAgain(in *Input, w *facts.Weights) bool {
	if x.rec.kind != againSame {
		return false
	}
	v := in.view(w.Profile)
	for id := range x.stacks {
		frames := v.t.Frames(id)
		for i, f := range frames {
			at := v.t.Frame(f)
			if v.origins[f] != stack.User || at.File != x.rec.loop.file || at.Line < x.rec.loop.line {
				continue
			}
			for k, l := range loopsAround(in.code, at) {
				if first, _ := l.source.lines(l.stmt); first == x.rec.loop.line {
					return k > 0 || i+1 < len(frames) && repeatsFrom(in.code, v, frames, i+1)
				}
			}
		}
	}
	return false
}

// resultWritten finds where the program writes to what the calls have returned.
func (x *derivedValue) resultWritten() (at codeLine, ok bool) {
	var calls []*ast.CallExpr
	for f := range x.calls {
		if in, found := x.d.at(f); found {
			calls = append(calls, x.d.callsOn(in, f, x.f.decl.Name.Name)...)
		}
	}
	return resultWritten(x.d, x.f.decl, calls)
}

// placeAt is the line of a change.
func (t *typed) placeAt(c changing) codeLine {
	file, line, _ := t.at(c.at)
	return codeLine{file, line}
}

// where says in which loop a call gives the same.
func (rec *recomputed) where() string {
	switch rec.kind {
	case againSame:
		if rec.on == "" {
			return "is called in each turn of the loop at " + rec.loop.text()
		}
		return "is called with the same " + rec.on + " in each turn of the loop at " + rec.loop.text()
	case againCompared:
		return "is called for each comparison of the sort at " + rec.loop.text() + ", so several times for each element"
	case againRequest:
		on := ""
		if rec.elements != "" {
			on = " for each element of " + rec.elements
		}
		return "is called" + on + " in each call of the function at " + rec.loop.text() + ", which a server makes again and again"
	}
	if rec.elements == "" && rec.on != "" && rec.inner.line > 0 {
		return "is called for the same values of " + rec.on + " (" + rec.inner.text() + ") again in each turn of the loop at " + rec.loop.text()
	}
	if rec.elements == "" {
		return "is called in loops that go through the same elements again in each turn of the loop at " + rec.loop.text()
	}
	return "is called for all elements of " + rec.elements + " (" + rec.inner.text() + ") again in each turn of the loop at " + rec.loop.text()
}

// change is the place that changes what the function goes through, or else another thing that it reads,
// while the program runs.
func (x *derivedValue) change(in *Input) (c changing, ok bool) {
	best := -1
	for _, o := range x.rec.changes {
		rank := 0
		if x.f.over != nil && o.of.Name() == lastName(types.ExprString(x.f.over)) {
			rank += 2
		}
		if !o.starts {
			rank++
		}
		if rank > best {
			c, ok, best = o, true, rank
		}
	}
	return c, ok
}

// changesText says where what is read changes.
func (x *derivedValue) changesText(in *Input) string {
	c, ok := x.change(in)
	switch {
	case x.rec.kind == againCompared:
		return "; nothing that it reads changes meanwhile"
	case !ok:
		return "; " + nothingChanges
	case !x.rec.others():
		return "; the source changes what it reads only before that, as at " + typedOf(in.code).placeAt(c).text()
	}
	where := "; " + c.of.Name() + " is changed elsewhere, at "
	if c.inTurn {
		where = "; of " + c.of.Name() + " a turn changes that of one element at most, at "
	}
	return where + typedOf(in.code).placeAt(c).text()
}

// advice is what to do instead.
func (rec *recomputed) advice(x *derivedValue, in *Input) string {
	beside := "Keep the result beside what it is computed from"
	if c, ok := x.change(in); ok && rec.others() {
		beside += ", and update it, or forget it, where that changes (" + typedOf(in.code).placeAt(c).text() + ")"
	}
	switch rec.kind {
	case againSame:
		return "Compute it once before the loop at " + rec.loop.text() + " and use the result in each turn; or: " + strings.ToLower(beside[:1]) + beside[1:] + "."
	case againCompared:
		return "Compute it once for each element before sorting, into a slice of keys beside the elements or a field of them, and compare the keys."
	case againElements:
		return beside + "; or compute it once for each element before the loop at " + rec.loop.text() + "."
	}
	return beside + "."
}

// doubts are what speaks against it.
func (x *derivedValue) doubts(in *Input) (all []string) {
	rec := &x.rec
	if rec.kind == againRequest && rec.others() {
		return []string{"if what it is computed from changes between all of the calls, keeping the result saves nothing"}
	}
	if rec.waits && rec.others() {
		all = append(all, "others may change what it reads meanwhile: if they do so before each call, keeping the result saves nothing")
	}
	if !rec.sure {
		all = append(all, "a condition decides whether it is called: where that holds once for each, nothing is computed again")
	}
	if len(all) == 0 {
		all = append(all, "that nothing it reads changes meanwhile is read in the source; code of other modules that changes it is not seen there")
	}
	return all
}
