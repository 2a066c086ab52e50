package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"loupe/value/unit"
)

// decodesKept tells of a line that decodes a field, or a variable of a package, that the source sets only while the
// program starts, in values that are made only then, although the line runs again and again later. It returns the
// field.
func decodesKept(h *hit, line *hitLine) (of string, ok bool) {
	v, frames, at := stackOf(h, line)
	if at < 0 || !repeatsFrom(h.in.code, v, frames, at) || filledOnce(h.in.code, v, frames) {
		return "", false
	}
	d := newDerivations(h.in.code)
	in, found := d.at(line.Caller)
	if !found || derivedStartsWith(d, changing{in: in.decl}) {
		return "", false
	}
	var from types.Object
	for _, call := range d.callsOn(in, line.Caller, "Unmarshal") {
		if len(call.Args) != 2 || !intoNew(d, in, call) {
			continue
		}
		switch a := ast.Unparen(call.Args[0]).(type) {
		case *ast.SelectorExpr:
			from, of = d.field(a), types.ExprString(a)
		case *ast.Ident:
			if v := d.variable(a); ofPackage(v) {
				from, of = v, a.Name
			}
		}
	}
	if from == nil {
		return "", false
	}
	for _, c := range d.changesOfAny(from) {
		if !derivedStartsWith(d, c) {
			return "", false
		}
	}
	return of, ofPackage(from) || madeAtStart(d, from)
}

// intoNew tells of a call that decodes into a value which the function has made for it: one that was there before keeps
// what the document does not name.
func intoNew(d *derivations, in frameCode, call *ast.CallExpr) bool {
	to := ast.Unparen(unrefer(ast.Unparen(call.Args[1])))
	v := d.variable(to)
	if v == nil || !d.isMade(in.decl, to) {
		return false
	}
	for _, n := range nodesAround(in.decl.Body, call) { // made for each turn
		if _, lit := n.(*ast.FuncLit); (lit || isLoop(n)) && (v.Pos() < n.Pos() || v.Pos() >= n.End()) {
			return false
		}
	}
	return true
}

// madeAtStart tells of a field that all values with it which the source makes are made while the program starts.
func madeAtStart(d *derivations, field types.Object) bool {
	some, later := false, false
	for _, decl := range d.t.decls {
		ast.Inspect(decl.Body, func(n ast.Node) bool {
			var of types.Type
			switch n := n.(type) {
			case *ast.CompositeLit:
				of = d.t.typeOf(n)
			case *ast.CallExpr:
				if isNamed(n.Fun, "new") && len(n.Args) == 1 {
					of = d.t.typeOf(n.Args[0])
				}
			}
			if of == nil {
				return true
			}
			if s, ok := of.Underlying().(*types.Struct); ok && hasField(s, field) {
				some = true
				later = later || !derivedStartsWith(d, changing{in: decl})
			}
			return true
		})
	}
	return some && !later
}

// hasField tells whether a struct has a field.
func hasField(s *types.Struct, field types.Object) bool {
	for i := range s.NumFields() {
		if types.Object(s.Field(i).Origin()) == field {
			return true
		}
	}
	return false
}

// tellDecodedAgain says to keep what is decoded. Of other documents, which other lines decode, it says nothing: what they
// take is not counted.
func tellDecodedAgain(h *hit, of string, f *Finding) {
	f.Title = "The same JSON is decoded again and again"
	f.Summary += fmt.Sprintf("; by the source, %s is set only while the program starts, and decoded again each time", of)
	others, weight := 0, h.weight
	for _, line := range h.lines[1:] {
		if o, ok := decodesKept(h, line); !ok || o != of {
			others, weight = others+1, weight-line.Weight
		}
	}
	if others > 0 {
		share := h.interval(weight)
		f.Impact = &Impact{share.Estimate, f.Impact.Unit, share.Low, share.High}
		f.Summary += fmt.Sprintf("; %s goes into that, the rest into other JSON", unit.Percent(share.Estimate))
		f.Score = score(share.Estimate, 0.10, 0.40)
		if share.Low < h.rule.param(h.warn) {
			f.Severity = Info
		}
		f.costs = slices.DeleteFunc(f.costs, func(c cost) bool {
			return slices.ContainsFunc(h.lines[1:], func(line *hitLine) bool {
				o, ok := decodesKept(h, line)
				return (!ok || o != of) && c.file == line.Caller.File && c.line == line.Caller.Line
			})
		})
	}
	f.Advice = "Decode " + of + " once, where the value is made, and keep the result beside it. If those who get it change it, give them a copy (for a map or a slice one that goes into the parts): that is still many times faster than decoding."
	f.Doubts = append(f.Doubts, "that nothing sets it later is read in the source; code of other modules that does so is not seen there")
}
