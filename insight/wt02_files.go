package insight

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// Many calls each of which writes, creates, renames or removes a whole file: whether it is the same file each time.

// sameFileAdvice is what to do about a file that is written as a whole again and again.
const sameFileAdvice = "Write it once, behind the loop, or when what it holds has changed for the last time: what is written as a whole after each item is mostly what was there already, and grows with the square of their number where each adds to it. If it must not be lost in between, append what is new, or write it at intervals."

// tellWholeFiles says by the source whether each of many calls is for a file of its own: then nothing shows that any of them is needless.
func tellWholeFiles(in *Input, t *traced, o *outward, f *Finding) {
	frames := t.Frames(o.stack)
	if o.kind == "file_call" && fileCallOf(frames) == fileOpens {
		if r, ok := reopenedAlong(in.code, o.path, false); ok {
			r.advise(f)
		}
		return
	}
	if o.kind != "file_call" || fileCallOf(frames) != fileMakes {
		return
	}
	if writesSameFile(in.code, o.path, innerOf(frames, o.path)) {
		f.Title, f.Advice = "The same file is written again and again", sameFileAdvice
		return
	}
	f.Severity = Info
	f.Advice += " If each of them has to be there, make several at once, with a limit (errgroup with SetLimit)."
	f.Doubts = append(f.Doubts, ownFileDoubt)
}

// writesSameFile tells of the call of a library on the first line of a way that its path is the same in each turn of the loop around it.
func writesSameFile(c *code, way []stack.Frame, inner string) bool {
	d := derivationsOf(c)
	in, ok := d.at(way[0])
	if !ok || in.lit != nil {
		return false
	}
	calls := d.callsOn(in, way[0], ownName(inner))
	if len(calls) != 1 || len(calls[0].Args) == 0 {
		return false
	}
	loop := slices.IndexFunc(way, func(f stack.Frame) bool { return lineInLoop(c, f) == loopYes })
	parts := partsOfPath(d, in.decl, calls[0].Args[0], map[types.Object]bool{})
	return loop >= 0 && sameInLoop(c, d, discarded{decl: in.decl, n: calls[0]}, parts, way[:loop+1]) && !usedInTurn(c, d, parts, calls[0], way[:loop+1])
}

// usedInTurn tells of the parts of a path that something else in a turn of the loop may have it: it is read, renamed or handed on before the next turn writes it
// anew. A file of the kernel is no file that is written anew.
func usedInTurn(c *code, d *derivations, parts []ast.Expr, write *ast.CallExpr, way []stack.Frame) bool {
	names, own := map[string]bool{}, map[types.Object]bool{}
	for _, part := range parts {
		root, fields := chain(part)
		if sel, ok := ast.Unparen(part).(*ast.SelectorExpr); ok {
			own[d.field(sel)] = true
		}
		if lit, ok := ast.Unparen(part).(*ast.BasicLit); ok {
			for _, dir := range []string{"/proc", "/sys", "/dev"} {
				if strings.HasPrefix(strings.Trim(lit.Value, "`\""), dir) {
					return true
				}
			}
		}
		if root != "" {
			names[append([]string{root}, fields...)[len(fields)]] = true
		}
	}
	if id, ok := ast.Unparen(write.Args[0]).(*ast.Ident); ok {
		names[id.Name] = true
	}
	other := func(id *ast.Ident) bool { // a field of another type that is called the same
		v, ok := d.t.info.Uses[id].(*types.Var)
		return ok && v.IsField() && len(own) > 0 && !own[nil] && !own[v.Origin()]
	}
	mentions := func(body ast.Node) bool {
		return hasNode(body, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			return ok && names[id.Name] && !other(id) && d.t.info.Defs[id] == nil && !within(write, id) && !slices.ContainsFunc(parts, func(part ast.Expr) bool { return within(part, id) })
		})
	}
	last, ok := d.at(way[len(way)-1])
	if !ok {
		return true
	}
	loops := loopsAround(c, way[len(way)-1])
	if len(loops) == 0 {
		return true
	}
	first, end := loops[len(loops)-1].source.lines(loops[len(loops)-1].stmt)
	used := false
	ast.Inspect(last.body(), func(n ast.Node) bool {
		if body := bodyOfLoop(n); body != nil && d.placeOf(n).line == first && coversLine(d, n, end) {
			used = used || mentions(body)
			for decl := range d.reached(last.decl, body) {
				used = used || decl.Body != nil && mentions(decl.Body)
			}
			return false
		}
		return true
	})
	return used
}

// partsOfPath are what a path is put together of by a call. A variable is followed once: it may be put together of itself.
func partsOfPath(d *derivations, decl *ast.FuncDecl, x ast.Expr, seen map[types.Object]bool) []ast.Expr {
	if v := d.variable(ast.Unparen(x)); v != nil && isLocal(decl, v) && !isGiven(decl, v) && !seen[v] {
		seen[v] = true
		if defs := d.definitions(decl)[v]; len(defs) == 1 && defs[0].x != nil {
			x = defs[0].x
		}
	}
	if call, ok := ast.Unparen(x).(*ast.CallExpr); ok && d.t.fromPackage(call.Fun) != "" {
		return call.Args
	}
	if sum, ok := ast.Unparen(x).(*ast.BinaryExpr); ok {
		return append(partsOfPath(d, decl, sum.X, seen), partsOfPath(d, decl, sum.Y, seen)...)
	}
	return []ast.Expr{x}
}
