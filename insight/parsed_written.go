package insight

import (
	"go/ast"
	"go/types"
	"slices"

	"loupe/value/stack"
)

// Whether what is made of a file is changed by those who get it: then it cannot be kept as it is.

// parsedWritten finds where the program writes into what functions make of a file. way are the program's own frames
// outward; those up to made read and parse, the others use it.
func parsedWritten(d *derivations, way []stack.Frame, made int) (at codeLine, ok bool) {
	steps, calls := []*bytesStep{}, []*ast.CallExpr{} // of each frame: what it calls of those before it
	for i, f := range way {
		in, found := d.at(f)
		if !found {
			break
		}
		s := &bytesStep{in: in, line: f}
		var call *ast.CallExpr
		if i > 0 {
			if all := d.callsOn(in, f, steps[i-1].in.decl.Name.Name); len(all) == 1 {
				call = all[0]
			}
			if call == nil && i <= made {
				break
			}
			if s.node = call; call == nil { // what calls back, or many calls of one line
				break
			}
		}
		steps, calls = append(steps, s), append(calls, call)
	}
	makes := func(of *decodedFlow) func(w writtenPlace) bool {
		return func(w writtenPlace) bool {
			return slices.ContainsFunc(steps[:min(len(steps), made+1)], func(s *bytesStep) bool {
				return of.gives[s.in.decl] == bondIs && ofMaking(d.c, w.in.Name.Name, s.in.decl.Name.Name, 0)
			})
		}
	}
	for i, s := range steps[:min(len(steps), made+1)] {
		for _, call := range decodingCalls(d, s.in) {
			of := decodedFlowOf(d, append([]*bytesStep{{in: s.in, node: call, line: s.line}}, steps[i+1:]...))
			if of == nil {
				continue
			}
			if at, ok := of.written([]ast.Node{call}, makes(of)); ok {
				return at, true
			}
		}
	}
	if made+1 < len(steps) && made >= 0 {
		return givenWritten(d, steps[made].in.decl, steps[made+1].in.decl, calls[made+1])
	}
	return at, false
}

// givenWritten is [resultWritten] for one call of a function, without what its caller does before it.
func givenWritten(d *derivations, decl, caller *ast.FuncDecl, call *ast.CallExpr) (at codeLine, ok bool) {
	fn, _ := d.t.info.Defs[decl.Name].(*types.Func)
	if fn == nil {
		return at, false
	}
	around := nodesAround(caller.Body, call)
	before := func(w writtenPlace) bool {
		return w.in == caller && w.n.Pos() < call.Pos() && !slices.ContainsFunc(around, func(n ast.Node) bool { return isLoop(n) && within(n, w.n) })
	}
	for result := range fn.Signature().Results().Variables() {
		if !mayRefer(result.Type()) {
			continue
		}
		for _, w := range flowOf(d, []*ast.CallExpr{call}, result.Type()).writes() {
			if !before(w) && !ofMaking(d.c, w.in.Name.Name, decl.Name.Name, 0) {
				return d.placeOf(w.n), true
			}
		}
	}
	return at, false
}

// decodingCalls are the calls of a function by which it has a library decode a text.
func decodingCalls(d *derivations, in frameCode) (all []*ast.CallExpr) {
	ast.Inspect(in.body(), func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if ok && len(call.Args) > 0 && bytesDecoders.MatchString(ownCallName(call)) && ownCallName(call) != "Valid" && d.t.callee(call) == nil {
			all = append(all, call)
		}
		return true
	})
	return all
}

// handsOnFile tells of a function that it gives what a file has, or a reader of it, for others to parse.
func handsOnFile(decl *ast.FuncDecl) bool {
	if decl.Type.Results == nil {
		return false
	}
	switch types.ExprString(decl.Type.Results.List[0].Type) {
	case "[]byte", "string", "*os.File", "io.Reader", "io.ReadCloser", "*bufio.Reader", "*bufio.Scanner":
		return true
	}
	return false
}

// keptChanged says of a finding that advises to keep what is made of a file that somebody changes it, so that each of those
// needs a copy; advice is how to keep it. A copy is made from memory, without reading and parsing: there is still much to save.
func (f *Finding) keptChanged(c *code, at codeLine, advice string) {
	f.Summary += "; what is made of it is changed afterwards, as at " + at.text()
	f.Advice = advice + " Leave what is kept as it was read, and give each who changes it a copy that goes into the slices, maps and pointers in it: else it is changed for all of them."
	f.Evidence = append(f.Evidence, c.shownAt(at.file, at.line, "what was read is written to here"))
	f.Doubts = append(f.Doubts, "a copy of all that is in it costs time too: measure that it is less than reading it again")
}
