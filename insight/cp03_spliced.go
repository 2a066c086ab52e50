package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"loupe/value/stack"
)

// A value that is encoded for each of many receivers may be the same for all but for a few fields: a copy with a number set. Then the rest can be encoded once.

// splicedEncode is such a value.
type splicedEncode struct {
	loop   codeLine
	handed bool     // the loop sends the value to a goroutine of each receiver
	differ []string // fields that each receiver has of its own
	same   string   // what is the same: "the rest of e"
}

// encodedSpliced finds the value that a line encodes in a loop over receivers, where the source shows that all but a few of its fields are the same in each turn.
func encodedSpliced(h *hit, line *hitLine) (s splicedEncode, ok bool) {
	d := derivationsOf(h.in.code)
	in, found := d.at(line.Caller)
	if !found {
		return s, false
	}
	calls := d.callsOn(in, line.Caller, lastName(line.Callee))
	if len(calls) != 1 || len(calls[0].Args) == 0 || keptOverTurns(d, in, calls[0]) {
		return s, false
	}
	x := ast.Unparen(unrefer(ast.Unparen(calls[0].Args[0])))
	if encodesItself(d.t.typeOf(x)) {
		return s, false
	}
	v := d.variable(x)
	if v == nil || !isLocal(in.decl, v) {
		return s, false
	}
	of, _ := typeUnder(v.Type()).(*types.Struct)
	own := fieldsSet(d, in, v)
	if of == nil || len(own) == 0 || 2*len(own) > of.NumFields() {
		return s, false
	}
	defs := d.definitions(in.decl)[v]
	from := ast.Expr(nil)
	for _, def := range defs {
		if def.x != nil && !def.unknown && from == nil {
			from = ast.Unparen(def.x)
		}
	}
	if from == nil {
		return s, false
	}
	if star, is := from.(*ast.StarExpr); is {
		from = star.X
	}
	if changedOtherwise(d, in, v, calls[0]) {
		return s, false
	}
	loop, same := sameForReceivers(h, line, d, in, calls[0], from, own)
	handed := false
	if !same {
		if loop, handed = handedByLoop(d, in.decl, x); !handed || changedThrough(d, in, from, v) {
			return s, false
		}
	}
	s = splicedEncode{loop: loop, handed: handed, same: "the rest of " + types.ExprString(from)}
	if handed {
		s.same = "the rest of " + v.Name()
	}
	for _, f := range own {
		s.differ = append(s.differ, f.Name())
	}
	return s, true
}

// encodesItself tells of a type that it has a MarshalJSON method.
func encodesItself(t types.Type) bool {
	if t == nil {
		return true
	}
	m, _, _ := types.LookupFieldOrMethod(t, true, nil, "MarshalJSON")
	return m != nil
}

// fieldsSet are the fields of a variable that its function sets one by one.
func fieldsSet(d *derivations, in frameCode, v types.Object) (all []*types.Var) {
	ast.Inspect(in.body(), func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok {
			return true
		}
		for _, x := range a.Lhs {
			if sel, is := x.(*ast.SelectorExpr); is && d.variable(sel.X) == v {
				if f, is := d.field(sel).(*types.Var); is && !slices.Contains(all, f) {
					all = append(all, f)
				}
			}
		}
		return true
	})
	return all
}

// sameForReceivers finds the loop through receivers in each turn of which an expression, but for some fields of it, is the same.
func sameForReceivers(h *hit, line *hitLine, d *derivations, in frameCode, call *ast.CallExpr, x ast.Expr, but []*types.Var) (loop codeLine, ok bool) {
	v, frames, at := stackOf(h, line)
	if at < 0 {
		return loop, false
	}
	w := &derivedWay{derivations: d, f: &derived{decl: in.decl}, dep: dependence{map[types.Object]bool{}, map[types.Object]bool{}, map[types.Object]bool{}}, call: call}
	reads := func() bool {
		known := encodedReads(w)
		for _, f := range but {
			delete(w.dep.reads, f)
		}
		return known
	}
	if !w.resolves(x, w.dep.vars, 0) || len(w.dep.vars) == 0 || !reads() {
		return loop, false
	}
	rec, found, goes := w.outward(in, call, nodesAround(in.body(), call))
	for i := at + 1; !found && goes && i < len(frames) && v.origins[frames[i]] == stack.User; i++ {
		frame := v.t.Frame(frames[i])
		outer, known := d.at(frame)
		if !known || !reads() {
			return loop, false
		}
		rec, found, goes = w.through(outer, frame, in.decl, in.lit)
		in = outer
	}
	if !found || rec.kind != againSame {
		return loop, false
	}
	return rec.loop, goesThroughReceivers(d, in, rec.loop)
}

// tell says it.
func (s splicedEncode) tell(f *Finding) {
	if s.handed {
		f.Summary += fmt.Sprintf("; by the source, the loop at %s sends the same value to the goroutine of each receiver, and only %s differs there: %s is the same for all", s.loop.text(), andList(s.differ), s.same)
		f.Advice = fmt.Sprintf("Encode what is the same for all (%s) once before the loop at %s, and send its bytes with the value; the goroutine of each puts only %s into the text: append `{\"…\":`, the few fields with strconv.Append…, and the bytes that are encoded already.",
			s.same, s.loop.text(), andList(s.differ))
		f.Doubts = append(f.Doubts, splicedDoubt)
		return
	}
	f.Summary += fmt.Sprintf("; by the source, only %s differs for each of those that the loop at %s goes through, and %s is the same for all", andList(s.differ), s.loop.text(), s.same)
	f.Advice = fmt.Sprintf("Encode what is the same for all (%s) once before the loop at %s, and put only %s into the text for each: append `{\"…\":`, the few fields with strconv.Append…, and the bytes that are encoded already. "+
		"A json.RawMessage in the value is less work for you, but package json checks and copies its bytes for each.", s.same, s.loop.text(), andList(s.differ))
	f.Doubts = append(f.Doubts, splicedDoubt)
}

const splicedDoubt = "the fields of the document may stand in another order then; texts that differ have to be encoded as JSON still (json.Marshal of the text alone)"
