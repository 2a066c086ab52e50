package insight

import (
	"go/ast"
	"slices"

	"loupe/value/stack"
)

// Many calls each of which writes, creates, renames or removes a whole file: whether it is the same file each time.

// sameFileAdvice is what to do about a file that is written as a whole again and again.
const sameFileAdvice = "Write it once, behind the loop, or when what it holds has changed for the last time: what is written as a whole after each item grows with the square of their number. If it must not be lost in between, append what is new, or write it at intervals."

// tellWholeFiles says by the source whether each of many calls is for a file of its own: then nothing shows that any of them is needless.
func tellWholeFiles(in *Input, t *traced, o *outward, f *Finding) {
	frames := t.Frames(o.stack)
	if o.kind != "file_call" || fileCallOf(frames) != fileMakes {
		return
	}
	if writesSameFile(in.code, o.path, innerOf(frames, o.path)) {
		f.Title, f.Advice = "The same file is written again and again", sameFileAdvice
		return
	}
	f.Severity = Info
	f.Advice += " If each of them has to be there, make several at once, with a limit (errgroup with SetLimit)."
	f.Doubts = append(f.Doubts, "nothing shows that it is the same file each time: to make as many files as there are items may be what the loop is for")
}

// writesSameFile tells of the call of a library on the first line of a way that its path is the same in each turn of the loop around it.
func writesSameFile(c *code, way []stack.Frame, inner string) bool {
	d := newDerivations(c)
	in, ok := d.at(way[0])
	if !ok || in.lit != nil {
		return false
	}
	calls := d.callsOn(in, way[0], ownName(inner))
	if len(calls) != 1 || len(calls[0].Args) == 0 {
		return false
	}
	loop := slices.IndexFunc(way, func(f stack.Frame) bool { return lineInLoop(c, f) == loopYes })
	return loop >= 0 && sameInLoop(c, d, discarded{decl: in.decl, n: calls[0]}, partsOfPath(d, in.decl, calls[0].Args[0]), way[:loop+1])
}

// partsOfPath are what a path is put together of by a call.
func partsOfPath(d *derivations, decl *ast.FuncDecl, x ast.Expr) []ast.Expr {
	if v := d.variable(ast.Unparen(x)); v != nil && isLocal(decl, v) && !isGiven(decl, v) {
		if defs := d.definitions(decl)[v]; len(defs) == 1 && defs[0].x != nil {
			x = defs[0].x
		}
	}
	if call, ok := ast.Unparen(x).(*ast.CallExpr); ok && d.t.fromPackage(call.Fun) != "" {
		return call.Args
	}
	if sum, ok := ast.Unparen(x).(*ast.BinaryExpr); ok {
		return append(partsOfPath(d, decl, sum.X), partsOfPath(d, decl, sum.Y)...)
	}
	return []ast.Expr{x}
}
