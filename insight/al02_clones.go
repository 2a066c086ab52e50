package insight

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/unit"
)

// Functions that copy a value with all that it refers to, and so allocate at many lines: what is to be had is not one of
// the lines but the call, where whoever gets the copy only reads it.

// clonesTitle is that of a finding about such a function.
const clonesTitle = "A copy allocates much, at several lines of the function that makes it"

// cloneNames are names of functions that copy.
var cloneNames = lazily(`^(?i:deep)?_?(?i:clone|copy|dup)(licate)?([A-Z_].*|All|s)?$`)

// isCloner tells of a function that it returns a copy of its receiver, or of its only parameter: a new struct of the same type that is
// filled from it, and from nothing else.
func isCloner(d *derivations, decl *ast.FuncDecl) bool {
	if decl.Body == nil || decl.Type.Results == nil || len(decl.Type.Results.List) == 0 {
		return false
	}
	given := parametersOf(d, decl)
	if len(given) != 1 {
		return false
	}
	from := given[0]
	result := d.t.typeOf(decl.Type.Results.List[0].Type)
	if result == nil || !isStruct(pointedType(result)) || !types.Identical(pointedType(result), pointedType(from.Type())) {
		return false
	}
	made, filled := false, false
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		if ret, ok := n.(*ast.ReturnStmt); ok && len(ret.Results) > 0 && !isNamed(ret.Results[0], "nil") {
			x := pointed(ast.Unparen(ret.Results[0]))
			made = made || d.makes(decl, nil, x) || d.isMade(decl, x) || isStructValue(d, decl, x)
		}
		return true
	})
	eachAssigned(decl.Body, func(lhs, rhs ast.Expr) {
		filled = filled || derivedMentions(d, rhs, from) && d.isOwn(decl, lhs)
	})
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			filled = filled || derivedMentions(d, n, from)
		case *ast.RangeStmt:
			filled = filled || derivedMentions(d, n.X, from) && cloneNames.MatchString(decl.Name.Name)
		}
		return true
	})
	return made && filled
}

// isStructValue tells of a variable of a function that it is a struct itself: to set it is to copy.
func isStructValue(d *derivations, decl *ast.FuncDecl, x ast.Expr) bool {
	v := d.variable(x)
	return v != nil && isLocal(decl, v) && !isGiven(decl, v) && isStruct(v.Type())
}

// pointedType is the type that a pointer points to, or the type itself.
func pointedType(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}

// clones is a function that copies, with what it allocates.
type clones struct {
	decl    *ast.FuncDecl
	name    string
	lines   map[stack.Frame]int64 // its own lines, by bytes
	callers map[stack.Frame]int64
	users   map[stack.Frame]int64 // the nearest lines further out that are no copiers themselves
	samples map[int]bool
	allocated
}

// clonesOf finds the functions of the program that copy, by the samples of the allocs profile.
func clonesOf(in *Input, r *reasons) (all []*clones) {
	d, v := newDerivations(in.code), in.view(r.profile)
	known, by := map[string]*ast.FuncDecl{}, map[*ast.FuncDecl]*clones{}
	copier := func(f stack.Frame) *ast.FuncDecl {
		key := f.Func + " " + f.File
		if decl, ok := known[key]; ok {
			return decl
		}
		known[key] = nil
		if at, ok := d.at(f); ok && !strings.Contains(f.Func, ".func") && isCloner(d, at.decl) {
			known[key] = at.decl
		}
		return known[key]
	}
	kept := facts.StillInUse(r.profile)
	for n, id := range r.profile.StackIDs {
		if r.bytes[n] == 0 || kept(n) {
			continue
		}
		frames := v.t.Frames(id)
		for i := len(frames) - 1; i >= 0; i-- { // the outermost one copies all
			f := v.t.Frame(frames[i])
			if v.origins[frames[i]] != stack.User {
				continue
			}
			decl := copier(f)
			if decl == nil {
				continue
			}
			x := by[decl]
			if x == nil {
				x = &clones{decl: decl, name: f.Func, lines: map[stack.Frame]int64{}, callers: map[stack.Frame]int64{}, users: map[stack.Frame]int64{}, samples: map[int]bool{}}
				by[decl] = x
			}
			x.add(r.of(n))
			x.samples[n] = true
			x.lines[lineOnly(f)] += r.bytes[n]
			x.calledFrom(v, frames[i+1:], r.bytes[n])
			break
		}
	}
	return slices.SortedFunc(maps.Values(by), func(a, b *clones) int {
		return cmp.Or(cmp.Compare(b.bytes, a.bytes), strings.Compare(a.name, b.name))
	})
}

// calledFrom counts the line that calls it, and the one for which the copy is made: not of a function whose name says that
// it copies.
func (x *clones) calledFrom(v *view, outward []stack.FrameID, bytes int64) {
	first := true
	for _, id := range outward {
		if v.origins[id] != stack.User {
			continue
		}
		f := lineOnly(v.t.Frame(id))
		if first {
			x.callers[f] += bytes
			first = false
		}
		if !cloneNames.MatchString(ownName(f.Func)) {
			x.users[f] += bytes
			return
		}
	}
}

// withClones puts one finding about a function that copies in the place of those about its lines.
func withClones(rule *Rule, in *Input, found []Finding) []Finding {
	if len(found) == 0 || found[0].State != Found || len(in.Session.Manifest().Of(recording.Source)) == 0 {
		return found
	}
	r := in.reasons()
	lines := r.judged.found[rule.ID]
	lines = lines[:min(len(lines), len(found))]
	for _, x := range clonesOf(in, r) {
		g := &reasonLine{kind: rule.ID, allocated: x.allocated}
		if len(x.lines) < 2 || !r.isLarge(g) {
			continue
		}
		var left []Finding
		var rest []*reasonLine
		var first *Finding
		for i, l := range lines {
			if !x.has(l) {
				left, rest = append(left, found[i]), append(rest, l)
			} else if first == nil {
				first = &found[i]
			}
		}
		if first != nil {
			return append([]Finding{x.finding(rule, in, r, g, first)}, left...)
		}
	}
	return found
}

// has tells of a line that nearly all that it allocates belongs to the copies.
func (x *clones) has(l *reasonLine) bool {
	in, all := 0, 0
	for _, s := range l.sites {
		for _, n := range s.Samples {
			if all++; x.samples[int(n)] {
				in++
			}
		}
	}
	return float64(in) >= allButLittle*float64(all)
}

// heaviestFrame is the one with the most.
func heaviestFrame(of map[stack.Frame]int64) (most stack.Frame) {
	for f, n := range of {
		if m := of[most]; n > m || n == m && (f.File < most.File || f.File == most.File && f.Line < most.Line) {
			most = f
		}
	}
	return most
}

// finding says which function copies, at how many lines, for whom, and whether who gets the copy needs one. first is the
// finding of its heaviest line.
func (x *clones) finding(rule *Rule, in *Input, r *reasons, g *reasonLine, first *Finding) Finding {
	name := stack.Short(x.name)
	f := rule.answer(Found, "%s of the %s (%s in %s objects) at %s of %s, which makes a copy", unit.Percent(g.share.Estimate), g.of,
		unit.BytesOf(float64(g.bytes)), unit.Count(g.objects), unit.Plural(int64(len(x.lines)), "line"), name)
	f.Title = clonesTitle
	f.Severity, f.Score = Info, score(g.share.Estimate, 2*rule.param("share"), 0.5)
	if g.share.Low >= warnShare && r.shareOf(g.allocated, inBytes).Estimate >= lightBytes {
		f.Severity = Warning
	}
	f.Impact = &Impact{g.share.Estimate, "share of " + g.of, g.share.Low, g.share.High}
	f.saves = true
	part := func(n int64) string { return unit.Percent(float64(n) / float64(max(1, g.bytes))) }
	user, caller := heaviestFrame(x.users), heaviestFrame(x.callers)
	f.Evidence = []Evidence{first.Evidence[0]}
	own := slices.SortedFunc(maps.Keys(x.lines), func(a, b stack.Frame) int {
		return cmp.Or(cmp.Compare(x.lines[b], x.lines[a]), cmp.Compare(a.Line, b.Line))
	})
	for _, at := range own {
		if at.Line != f.Evidence[0].Line || at.File != f.Evidence[0].File {
			f.Evidence = append(f.Evidence, in.lineAt(r.entry, at, "%s of what it allocates", part(x.lines[at])))
		}
	}
	f.Evidence = f.Evidence[:min(len(f.Evidence), 8)]
	if caller.Line > 0 {
		f.Evidence = append(f.Evidence, in.lineAt(r.entry, caller, "it is called here, for %s of that", part(x.callers[caller])))
	}
	forWhom := ""
	if user.Line > 0 {
		forWhom = fmt.Sprintf(" The call at %s in %s gets %s of the copies' bytes.", fileLine(user.File, user.Line), stack.Short(user.Func), part(x.users[user]))
		if user != caller {
			f.Evidence = append(f.Evidence, in.lineAt(r.entry, user, "the copies are for this line, %s of them", part(x.users[user])))
		}
	}
	most := f.Severity
	if needed := x.advise(in, &f, forWhom); needed { // how many of them nobody knows
		f.Severity = Info
	} else if s := spentOf(in); s != nil && f.Severity == Info {
		if m := s.mark(f.costs); m != nil && s.interval(m).Low >= halfOfAll {
			f.Severity = Warning
		}
	}
	f.Verify = "Record again under the same load: " + name + " should be gone from loupe pprof -top -sample_index alloc_space, and allocations per request should fall by as much."
	if c, ok := x.filteredAfter(newDerivations(in.code)); ok {
		f.Severity = most
		x.tellFiltered(in, c, r.entry.Path, &f)
	}
	return f
}

// advise says whether the copies can be shared: not where somebody writes through one. Then some of them are needed.
func (x *clones) advise(in *Input, f *Finding, forWhom string) (needed bool) {
	d := newDerivations(in.code)
	calls := callsTo(d, x.decl)
	var places []writtenPlace
	shallow, kept := true, false
	if fn, ok := d.t.info.Defs[x.decl.Name].(*types.Func); ok && len(calls) > 0 && fn.Signature().Results().Len() > 0 {
		flow := flowOf(d, calls, fn.Signature().Results().At(0).Type())
		kept = throughField(flow)
		for _, w := range flow.writes() {
			if !ofMaking(in.code, w.in.Name.Name, x.decl.Name.Name, 0) && w.in != x.decl {
				places = append(places, w)
				shallow = shallow && setsFieldsAlone(d, w.n, pointedType(fn.Signature().Results().At(0).Type()))
			}
		}
	}
	if at, ok := x.changedElsewhere(in.code, d, places); ok && shallow { // else it is needed anyway
		f.Advice = fmt.Sprintf("The source also writes to what the original refers to, as at %s: a copy that is there to stay as it was (a snapshot, a version to go back to, a value that others read meanwhile) is needed. Share the original only with who has read it before that.%s", at.text(), forWhom)
		f.Evidence = append(f.Evidence, in.code.shownAt(at.file, at.line, "what it copies may be changed here"))
		return true
	}
	switch {
	case len(places) == 0:
		f.Advice = "Who only reads it needs no copy: share the original where nobody modifies it, by the source nobody writes through a copy, and copy where one is changed." + forWhom
		f.Doubts = []string{"the original may not change either while somebody reads it: replace it by a new one instead of writing into it"}
		f.costs = x.costs()
		return false
	case shallow:
		f.Advice = fmt.Sprintf("A shallow copy is enough: the source sets fields of the copy itself (%s), and nothing that they refer to. Copy the struct alone (c := *v), many of them in one slice, and share what its fields point to; who only reads needs no copy at all.%s", d.placeOf(places[0].n).text(), forWhom)
	case kept:
		f.Advice = fmt.Sprintf("Somebody may write through the copy, at %s, if what is written to there comes of it and not of the original: then copy only for that, or only what is written there. Share the original with who only reads.%s", d.placeOf(places[0].n).text(), forWhom)
	default:
		f.Advice = fmt.Sprintf("Somebody writes through the copy, at %s: copy only for that, or only what is written there, and share the original with who only reads.%s", d.placeOf(places[0].n).text(), forWhom)
	}
	written := "the copy is written to here"
	if kept && !shallow {
		written = "the copy may be written to here"
	}
	f.Evidence = append(f.Evidence, in.code.shownAt(d.placeOf(places[0].n).file, d.placeOf(places[0].n).line, "%s", written))
	f.Doubts = []string{"what is shared may not be written to by anybody while another one reads it"}
	f.costs = x.costs()
	return !shallow
}

// throughField tells of what is followed that a field has it: then what else the fields of that name have, as the original, is not told from it.
func throughField(f *memoryFlow) bool {
	for v := range f.vars {
		if x, ok := v.(*types.Var); ok && x.IsField() {
			return true
		}
	}
	return false
}

// costs are the calls of the function that copies: to copy takes more than to allocate.
func (x *clones) costs() (all []cost) {
	for _, at := range slices.SortedFunc(maps.Keys(x.callers), func(a, b stack.Frame) int { return cmp.Or(strings.Compare(a.File, b.File), a.Line-b.Line) }) {
		all = append(all, cost{file: at.File, line: at.Line, callee: stack.FoldGenerics(x.name)})
	}
	return all
}

// changedElsewhere finds where the program writes into memory of a kind that the copied values refer to, other than through a
// copy, in the function that copies or in what makes such a value: the original may change there.
func (x *clones) changedElsewhere(c *code, d *derivations, through []writtenPlace) (at codeLine, found bool) {
	refers := cellsOf(d.t.typeOf(x.decl.Type.Results.List[0].Type), false)
	for _, node := range flowNodes(d) {
		if node.in == nil || node.in == x.decl || slices.ContainsFunc(through, func(w writtenPlace) bool { return w.n == node.n }) {
			continue
		}
		for _, place := range placesSet(node.n) {
			if refers.of[keyOf(d, place)] && !d.isOwn(node.in, place) && !ofMaking(c, node.in.Name.Name, x.decl.Name.Name, 0) {
				return d.placeOf(node.n), true
			}
		}
	}
	return at, false
}

// setsFieldsAlone tells of a node that writes that all it sets are fields of a value of a type itself.
func setsFieldsAlone(d *derivations, n ast.Node, of types.Type) bool {
	a, ok := n.(*ast.AssignStmt)
	return ok && !slices.ContainsFunc(a.Lhs, func(lhs ast.Expr) bool {
		sel, ok := ast.Unparen(lhs).(*ast.SelectorExpr)
		if !ok {
			return !isIdent(lhs)
		}
		t := d.t.typeOf(sel.X)
		return t == nil || !types.Identical(pointedType(t), of)
	})
}
