package insight

import (
	"fmt"
	"go/ast"
	"slices"

	"loupe/analysis/repetition"
	"loupe/value/stack"
	"loupe/value/unit"
)

// What each of those computes again who are sent the same value.

// computedByEach are findings about functions whose arguments several goroutines were sent, and whose calls returned the same again.
func computedByEach(r *Rule, in *Input) (found []Finding) {
	all, err := repetition.AgainIn(in.Session)
	if err != nil || len(all) == 0 {
		return nil
	}
	d := derivationsOf(in.code)
	sent := handouts(d)
	if len(sent) == 0 {
		return nil
	}
	var told []repetition.Everywhere
	for _, x := range all {
		k := newRepeated(in, repetition.Call{Entry: x.Entry, Func: x.Func, Inner: repeatsAll(x), Outer: repeatsAll(x)}, true)
		share, ok := k.profiled(in)
		if !ok || share.Estimate < r.param("share") || len(found) > 1 {
			continue
		}
		at, ok := sentTo(d, sent, k.site, x.Func)
		if !ok || slices.ContainsFunc(told, x.PartOf) {
			continue
		}
		told = append(told, x)
		same, kinds := "returned the same for the same", unit.Plural(x.All.Distinct, "different argument")
		if k.unsure {
			same, kinds = "returned the same for those that look the same", unit.Count(x.All.Distinct)+" arguments that look different"
		}
		f := r.answer(Found, "%s was called %s with %s%s, and %s: a loop sends each value to several goroutines (%s), and each of them computes this anew; the calls after the first take %s of the CPU time",
			k.called(), unit.Plural(x.All.Calls, "time"), k.about(), kinds, same, at.text(), unit.Percent(share.Estimate))
		f.Title = "Each receiver computes the same again"
		f.Severity, f.Score = Info, score(share.Estimate, r.param("share"), 0.40)
		f.Impact = &Impact{share.Estimate, "share of CPU time", share.Low, share.High}
		if share.Low >= r.param("warn") {
			f.Severity = Warning
		}
		k.loop = 0
		k.evidence(in, &f, x.Entry, stack.Frame{Func: x.Func.Name, File: x.Func.File, Line: x.Func.Line},
			fmt.Sprintf("%s, %s of them %s", unit.Plural(x.All.Calls, "call"), k.about()+unit.Count(x.All.Again), k.hadBeenThere()), "")
		f.Evidence = append(f.Evidence, in.code.shownAt(at.file, at.line, "each value is sent to all from here"))
		f.Advice = fmt.Sprintf("Call %s once for each value, before it is sent to all, and send the result with it; or keep the result in the value, where sync.Once has the first who needs it make it. It is one for all then: nobody may change it.", k.called())
		f.costs, f.waits, f.saves, f.part = k.costs, k.rows, true, k.againPart()
		k.tellCompared(&f)
		f.Doubts = append(f.Doubts, "where receivers need different results of the same value, one of each kind is needed: here none returned anything else for the same arguments")
		f.Verify = "Record again under the same load: the number of calls, and the share, should fall (-phases repeats)."
		found = append(found, f)
	}
	return found
}

// repeatsAll are the counts of all calls in the form of those within others.
func repeatsAll(x repetition.Everywhere) repetition.Within {
	return repetition.Within{Around: 1, Counts: x.All}
}

// sentTo tells of the call of a counted function at a line that one of its arguments, or what its method is called on, was sent to several, and where.
func sentTo(d *derivations, sent []handedOut, site stack.Frame, f repetition.Func) (at codeLine, ok bool) {
	in, found := d.at(site)
	if !found {
		return at, false
	}
	ast.Inspect(in.decl.Body, func(n ast.Node) bool {
		call, isCall := n.(*ast.CallExpr)
		if !isCall || ok || calledName(call) != ownName(f.Name) {
			return true
		}
		if _, line, _ := d.t.at(call.Pos()); line != site.Line {
			return true
		}
		given := call.Args
		if sel, isMethod := call.Fun.(*ast.SelectorExpr); isMethod && d.t.fromPackage(sel) == "" {
			given = append([]ast.Expr{sel.X}, given...)
		}
		for _, x := range given {
			if at, ok = handedToMany(d, sent, in.decl, x, 0); ok {
				return false
			}
		}
		return true
	})
	return at, ok
}
