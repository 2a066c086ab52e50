package insight

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

// Linear searches by functions of other modules, whose source a recording does not have: what they do is in a table, and which list they
// look through is in the line of the program that calls them.

// moduleSearch is what a function of a module does with a list.
type moduleSearch struct {
	// list is the place of the list among the arguments.
	list int
	// by tells that the last argument says what is looked for, as a function.
	by bool
	// each is the place of the list of which every element is looked for; -1 is none.
	each int
	// only tells that it searches only where another function of the table is below it, as versions of the module differ.
	only bool
	// since is the version of the module from which on it does not, with what it does then.
	since string
}

var (
	byValue = moduleSearch{each: -1}
	byFunc  = moduleSearch{each: -1, by: true}
)

// ownSet is what package lo does in the place of a search for each element.
const ownSet = "Version 1.53 of the module makes such a set itself, but anew in each call."

// moduleSearches are the functions by their packages, each read in its source.
var moduleSearches = map[string]map[string]moduleSearch{
	"github.com/samber/lo": {
		"Contains": byValue, "IndexOf": byValue, "LastIndexOf": byValue,
		"ContainsBy": byFunc, "SomeBy": byFunc, "Find": byFunc, "FindIndexOf": byFunc, "FindLastIndexOf": byFunc, "FindOrElse": byFunc,
		"Every": {each: 1, only: true, since: ownSet}, "Some": {each: 1, only: true, since: ownSet}, "None": {each: 1, only: true, since: ownSet},
	},
	"github.com/thoas/go-funk": {
		"Contains": byValue, "IndexOf": byValue, "LastIndexOf": byValue,
		"ContainsInt": byValue, "ContainsInt32": byValue, "ContainsInt64": byValue, "ContainsUInt": byValue, "ContainsUInt32": byValue, "ContainsUInt64": byValue,
		"ContainsString": byValue, "ContainsFloat32": byValue, "ContainsFloat64": byValue,
		"IndexOfInt": byValue, "IndexOfInt32": byValue, "IndexOfInt64": byValue, "IndexOfUInt": byValue, "IndexOfUInt32": byValue, "IndexOfUInt64": byValue,
		"IndexOfString": byValue, "IndexOfFloat64": byValue,
		"Find": byFunc, "FindInt": byFunc, "FindInt32": byFunc, "FindInt64": byFunc, "FindString": byFunc, "FindFloat32": byFunc, "FindFloat64": byFunc,
		"Subset": {list: 1, each: 0, only: true},
	},
	"golang.org/x/exp/slices": {"Index": byValue, "Contains": byValue, "IndexFunc": byFunc, "ContainsFunc": byFunc},

	"github.com/elliotchance/pie/v2": {"Contains": byValue, "FindFirstUsing": byFunc, "Any": byFunc},
}

// moduleFunction is the package of a function and its name in it, without what it is instantiated with.
func moduleFunction(function string) (pkg, name string) {
	name, _, _ = strings.Cut(stack.Local(stack.FoldGenerics(function)), "[")
	return stack.Package(function), name
}

// moduleCall is a line of the program that has a function of a module search, and the samples in it.
type moduleCall struct {
	at       stack.Frame
	pkg      string
	name     string // what the line calls
	callee   string // as profiles name it, generic types folded
	of       moduleSearch
	samples  int64
	repeated bool // the line is in a loop, or its function is called again and again
	inLoop   bool
}

// searchOnStack finds a search of a module on a stack. Everything from the function that searches to the line of the program belongs to the
// module; where a function of the program says what is looked for, that may be below it.
func searchOnStack(in *Input, v *view, frames []stack.FrameID) (x moduleCall, ok bool) {
	function := func(i int) string { return v.t.Frame(frames[i]).Func }
	for i := range frames {
		pkg, name := moduleFunction(function(i))
		of, known := moduleSearches[pkg][name]
		if !known {
			continue
		}
		user := nextUser(v, frames, i+1)
		if below := nextUser(v, frames[:i], 0); of.only || user < 0 || below >= 0 && !of.by || slices.ContainsFunc(frames[:i], func(f stack.FrameID) bool {
			return slices.Contains([]string{"strings", "bytes"}, stack.Package(v.t.Frame(f).Func)) && !of.by
		}) {
			return x, false
		}
		outer := name
		for k := i + 1; k < user; k++ {
			p, n := moduleFunction(function(k))
			if p != pkg {
				return x, false // what another module, or another part of this one, searches in is its own
			}
			outer = n
		}
		if outer != name {
			if of, known = moduleSearches[pkg][outer]; !known {
				return x, false
			}
		}
		at := v.t.Frame(frames[user])
		x = moduleCall{at: lineOnly(at), pkg: pkg, name: outer, callee: stack.FoldGenerics(function(user - 1)), of: of}
		x.inLoop = len(loopsAround(in.code, at)) > 0
		x.repeated = x.inLoop || user+1 < len(frames) && repeatsAbove(in.code, v, frames[user+1:])
		return x, true
	}
	return x, false
}

// searchesInModules finds the lines by which modules search much of the time.
func searchesInModules(r *Rule, in *Input) (found []Finding) {
	w, err := in.Facts.Weights(facts.CPU, "samples")
	if err != nil || float64(w.Total()) < r.param("samples") {
		return nil
	}
	type key struct {
		at   stack.Frame
		name string
	}
	v, all := in.view(w.Profile), map[key]*moduleCall{}
	for id, n := range w.Profile.Samples(w.Index) {
		x, ok := searchOnStack(in, v, w.Profile.Stacks.Frames(id))
		if n <= 0 || !ok {
			continue
		}
		k := key{x.at, x.name}
		if all[k] == nil {
			all[k] = &x
		}
		all[k].samples += n
		all[k].repeated = all[k].repeated || x.repeated
	}
	for _, x := range all {
		share := stats.Wilson(float64(x.samples), float64(w.Total()), compare.Confidence)
		if share.Low < r.param("share") || x.samples < minHits || !x.repeated && x.of.each < 0 {
			continue
		}
		if f, ok := x.finding(r, in, w, share); ok {
			found = append(found, f)
		}
	}
	slices.SortFunc(found, func(a, b Finding) int { return cmp.Or(b.Score-a.Score, strings.Compare(a.Summary, b.Summary)) })
	return found[:min(len(found), 3)]
}

// finding says which list is searched, and what finds its elements; false where a function says what is looked for, and nothing shows that a
// lookup answers it.
func (x *moduleCall) finding(r *Rule, in *Input, w *facts.Weights, share stats.Interval) (f Finding, ok bool) {
	name, list, each := x.pkg[strings.LastIndexByte(x.pkg, '/')+1:]+"."+x.name, "its list", "the other list"
	var listed ast.Expr
	for _, call := range in.code.lineCalls(x.at) {
		if calledName(call) != x.name || x.of.list >= len(call.Args) || x.of.each >= len(call.Args) {
			continue
		}
		name, listed = types.ExprString(uninstantiated(call)), call.Args[x.of.list]
		list = types.ExprString(listed)
		if x.of.each >= 0 {
			each = types.ExprString(call.Args[x.of.each])
		}
		break
	}
	by, same := matchEqual, sameBy{}
	if x.of.by {
		if by, same = predicateOn(in.code, x.at, x.name); by == matchNone {
			return f, false
		}
	}
	does := fmt.Sprintf("%s looks through %s from its start, over and over", name, list)
	if x.of.each >= 0 {
		does = fmt.Sprintf("%s looks through %s from its start for each element of %s", name, list, each)
	}
	f = r.answer(Found, "%s of the CPU time goes into linear searches by %s%s: %s", unit.Percent(share.Estimate), x.pkg, atFrame(x.at), does)
	f.Impact = &Impact{share.Estimate, "share of CPU time", share.Low, share.High}
	f.Severity, f.Score = Info, score(share.Estimate, r.param("share"), 0.6)
	if share.Low >= r.param("warn") {
		f.Severity = Warning
	}
	f.saves, f.grows = true, true
	f.Evidence = []Evidence{in.lineAt(w.Entry, x.at, "%d of %d samples, in %s", x.samples, w.Total(), name)}
	f.costs = []cost{{file: x.at.File, line: x.at.Line, callee: x.callee}}
	f.Verify = "Record again with the same input: the CPU time of these searches should vanish."
	if x.of.each >= 0 {
		f.Advice = fmt.Sprintf("Build a set of %s once (a map with its elements as keys), where it is filled or outside of all loops, and look up each element of %s in that. The time grows with the product of both lengths: twice as many of each take four times as long.", list, each)
		if x.of.since != "" {
			f.Advice += " " + x.of.since
		}
		f.Doubts = []string{"if " + list + " changes between the searches, the set has to change with it", fewDoubt}
	} else {
		x.advise(in, &f, listed, by, same)
	}
	return f, true
}

// advise says what to do about a search for one element.
func (x *moduleCall) advise(in *Input, f *Finding, listed ast.Expr, by comparison, same sameBy) {
	if listed != nil {
		if few := literalSize(in.code, in.code.scopeAt(x.at), listed); few > 0 && few <= fewElements {
			adviseSearch(f, handLoop{kind: searchFew, name: types.ExprString(listed), few: few}, true)
			f.saves, f.grows = false, false
			return
		}
		if loops := loopsAround(in.code, x.at); len(loops) > 0 && setBy(loops[len(loops)-1].stmt, listed) {
			adviseSearch(f, handLoop{kind: searchEach, name: types.ExprString(listed)}, true)
			f.saves, f.grows = false, false
			return
		}
	}
	f.Advice = lookUpBy(by)
	f.Doubts = []string{changesDoubt, fewDoubt}
	if several(by) || x.of.by {
		f.Doubts = []string{firstDoubt, changesDoubt, fewDoubt}
	}
	if !x.inLoop {
		f.Doubts = append(f.Doubts, "if it is another list in each call, building a map of it costs more than searching it once")
	}
	if by == matchRules {
		asRules(f)
		return
	}
	if by == matchEqual || by == matchFold || by == matchGroup {
		same.tell(f)
	}
	if f.grows {
		tellGrows(in.code, x.at, f)
		tellChanges(in.code, x.at, f)
	}
}
