package insight

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"

	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/analysis/repetition"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

// callsAgain finds functions that make or load something, by their names, within requests or
// loops, from arguments that are the same each time by the source, and those of libraries that
// compile a text.
func callsAgain(r *Rule, in *Input) (found []Finding) {
	w, err := in.Facts.Weights(facts.CPU, "samples")
	if err != nil {
		return nil
	}
	v := in.view(w.Profile)
	total, at, known := int64(0), map[sameCall]int64{}, map[string]*sameCall{}
	for id, n := range w.Profile.Samples(w.Index) {
		total += n
		frames := v.t.Frames(id)
		way, inner := v.program(frames)
		if len(way) == 0 || slices.ContainsFunc(frames, func(f stack.FrameID) bool { return inSet("once", v.t.Frame(f).Func) }) {
			continue
		}
		key := fmt.Sprint(way, inner)
		call, ok := known[key]
		if !ok {
			if compiles(inner) {
				call = &sameCall{at: way[0], callee: inner}
			} else if c, same := sameCallOn(in.code, way, inner); same && !c.changed {
				call = &c
			}
			known[key] = call
		}
		if call == nil || filledOnce(in.code, v, frames) {
			continue
		}
		i := placeOf(v, frames, call.at)
		if i < 0 || !repeatsFrom(in.code, v, frames, i) {
			continue
		}
		one := *call
		if compiles(inner) && itemsOf(againProgram, in.code, v, frames, i) == otherItem {
			one.unsure = itemDoubt
		}
		at[one] += n
	}
	calls := slices.SortedFunc(maps.Keys(at), func(a, b sameCall) int { return int(at[b] - at[a]) })
	for _, call := range calls {
		share := stats.Wilson(float64(at[call]), float64(total), compare.Confidence)
		if share.Low >= r.param("share") && !usedByCaller(in, call) {
			call.unsteady(in)
			found = append(found, callAgainFinding(r, in, w, call, at[call], share))
		}
	}
	return found[:min(1, len(found))]
}

// usedByCaller tells of a call that what it returns is changed, or used up, by who gets it, as the source shows or the run that counts has seen:
// each needs its own.
func usedByCaller(in *Input, call sameCall) bool {
	if changes, counted := repetition.ChangesOf(in.Session, stack.FoldGenerics(call.callee)); counted && changes {
		return true
	}
	d := derivationsOf(in.code)
	calls, decls := call.declared(d)
	return slices.ContainsFunc(decls, func(decl *ast.FuncDecl) bool {
		_, written := resultWritten(d, decl, calls)
		return written
	})
}

// declared are the calls on the line, and the functions of the sources that they may mean.
func (s *sameCall) declared(d *derivations) (calls []*ast.CallExpr, decls []*ast.FuncDecl) {
	at, ok := d.at(s.at)
	if !ok {
		return nil, nil
	}
	calls = d.callsOn(at, s.at, ownName(s.callee))
	for _, x := range calls {
		if fn := d.t.callee(x); fn != nil {
			decls = append(decls, d.declsOf(fn)...)
		}
	}
	return calls, decls
}

// unsteady notes what may change what the function reads, as CP28 asks it.
func (s *sameCall) unsteady(in *Input) {
	d := derivationsOf(in.code)
	_, decls := s.declared(d)
	for _, decl := range decls {
		if s.unsure != "" {
			return
		}
		at := d.placeOf(decl.Name)
		if why := changedMeanwhile(in.code, s.at, stack.Frame{Func: s.callee, File: at.file, Line: at.line}); why != "" {
			s.unsure = "it may give something else each time: " + why
		}
	}
}

// program is the way of a stack through the program's own code, and the function of a library
// that the first frame of it calls; "" for none.
func (v *view) program(frames []stack.FrameID) (way []stack.Frame, inner string) {
	for i, f := range frames {
		if v.origins[f] != stack.User {
			continue
		}
		if len(way) == 0 && i > 0 {
			inner = v.t.Frame(frames[i-1]).Func
		}
		way = append(way, v.t.Frame(f))
	}
	return way, inner
}

// placeOf is the position of the outermost frame of a line of the program on a stack; -1 for none.
func placeOf(v *view, frames []stack.FrameID, line stack.Frame) int {
	for i, f := range slices.Backward(frames) {
		if v.origins[f] == stack.User && v.t.Frame(f) == line {
			return i
		}
	}
	return -1
}

func callAgainFinding(r *Rule, in *Input, w *facts.Weights, call sameCall, samples int64, share stats.Interval) Finding {
	with := " " + call.sameness("")
	if compiles(call.callee) {
		with = ""
	}
	f := r.answer(Found, "%s of the CPU time goes into repeated calls of %s%s"+with, unit.Percent(share.Estimate), stack.Short(call.callee), atFrame(call.at))
	f.takes(r, share)
	f.Evidence = []Evidence{in.lineAt(w.Entry, call.at, "%s of %s", unit.Count(samples), unit.Plural(w.Profile.Total(w.Index), "sample"))}
	f.costs = []cost{{file: call.at.File, line: call.at.Line, callee: stack.FoldGenerics(call.callee)}}
	f.Advice = "Call it once and keep the result: at startup, or when it is first needed (sync.OnceValue). If what it is made from can change, make it again when that has changed."
	if i := slices.IndexFunc(agains, func(a again) bool { return a.set == againProgram }); compiles(call.callee) {
		f.Advice, f.Doubts = agains[i].advice, append(f.Doubts, agains[i].doubt)
		if call.unsure != "" {
			f.Severity, f.saves, f.Advice = Info, false, itemAdvice
			f.Doubts = append(f.Doubts, call.unsure)
		}
		return f
	}
	if call.tellOneUser(in.code, &f) {
		return f
	}
	if call.unsure != "" {
		f.Severity, f.saves = Info, false
		f.Advice = "If it gives the same each time, call it once and keep the result: at startup, or when it is first needed (sync.OnceValue); make it again when what it is made from has changed."
		f.Doubts = append(f.Doubts, call.unsure)
		return f
	}
	f.Doubts = append(f.Doubts, "that the arguments are the same is read in the source; what they point to may change, and a result that is used up cannot be kept")
	return f
}
