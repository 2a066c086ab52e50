package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
	"loupe/value/unit"
)

// A file that is opened to append to it and closed again, for each record.

// leastReopened is how often a function has to be called, where that was counted. Chosen.
const leastReopened = 100

// appendedFile is a file that a function opens to append to it, writes to and closes.
type appendedFile struct {
	open *ast.CallExpr
	path ast.Expr
}

// appendsAndCloses finds the file that a function opens to append to it, and closes; nothing else gets it.
func appendsAndCloses(d *derivations, decl *ast.FuncDecl) (a appendedFile, ok bool) {
	eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
		set, is := n.(*ast.AssignStmt)
		if !is || ok || len(set.Rhs) != 1 || len(set.Lhs) != 2 || withinLit(around) || slices.ContainsFunc(around, func(n ast.Node) bool { return isLoop(n) }) {
			return
		}
		call, is := ast.Unparen(set.Rhs[0]).(*ast.CallExpr)
		if !is || types.ExprString(call.Fun) != "os.OpenFile" || len(call.Args) != 3 || !strings.Contains(types.ExprString(call.Args[1]), "O_APPEND") {
			return
		}
		if v := d.variable(set.Lhs[0]); v != nil && isLocal(decl, v) && onlyWritten(d, decl, v) {
			a, ok = appendedFile{call, call.Args[0]}, true
		}
	})
	return a, ok
}

// onlyWritten tells of a file that a function closes it, and that it does not keep it or hand it back.
func onlyWritten(d *derivations, decl *ast.FuncDecl, v types.Object) bool {
	closed, keeps := false, false
	eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
		id, ok := n.(*ast.Ident)
		if !ok || d.t.info.Uses[id] != v {
			return
		}
		switch by := around[len(around)-1].(type) {
		case *ast.SelectorExpr:
			closed = closed || by.Sel.Name == "Close"
		case *ast.CallExpr: // such as fmt.Fprintln
		case *ast.BinaryExpr:
		default:
			keeps = true
		}
	})
	return closed && !keeps
}

// reopened is such a file, how often that was counted, and the loop that comes to it.
type reopened struct {
	appendedFile
	d     *derivations
	times int64  // 0 where that is not known
	loop  string // empty where it is for each request
}

// reopenedAlong finds the file that the function at the beginning of a way opens, appends to and closes: the same in each turn of the loop around the way,
// or for each request.
func reopenedAlong(c *code, way []stack.Frame, serves bool) (r reopened, ok bool) {
	counts := blockCountsOf(c)
	if r.d = derivationsWith(c, counts); len(way) == 0 {
		return r, false
	}
	in, found := r.d.at(way[0])
	if !found || in.lit != nil {
		return r, false
	}
	if r.appendedFile, ok = appendsAndCloses(r.d, in.decl); !ok {
		return r, false
	}
	parts := partsOfPath(r.d, in.decl, r.path, map[types.Object]bool{})
	loop := slices.IndexFunc(way, func(f stack.Frame) bool { return lineInLoop(c, f) == loopYes })
	switch {
	case loop > 0 && sameInLoop(c, r.d, discarded{decl: in.decl, n: r.open}, parts, outOfItself(way[:loop+1])):
		if loops := loopsAround(c, way[loop]); len(loops) > 0 {
			first, _ := loops[len(loops)-1].source.lines(loops[len(loops)-1].stmt)
			r.loop = fileLine(way[loop].File, first)
		}
	case !serves || slices.ContainsFunc(parts, func(x ast.Expr) bool { return !staysInProgram(r.d, in.decl, x) }):
		return r, false
	}
	if counts != nil {
		at, known := r.d.placeOf(in.decl), false
		if r.times, known = counts.blocks.Called(at.file, at.line); known && r.times < leastReopened {
			return r, false
		}
	}
	return r, true
}

// tellAppendsReopened says of a line that the same file is opened there, written to and closed, for each record; ok is false where the source does not
// show that.
func tellAppendsReopened(h *hit, f *Finding) (ok bool) {
	way := userWay(h, h.lines[0])
	r, ok := reopenedAlong(h.in.code, way, forRequests(h, h.lines[0]))
	if !ok {
		return false
	}
	f.Title = "The same file is opened and closed for each record that is appended to it"
	f.Summary += fmt.Sprintf("; according to the source, each call of %s opens %s to append to it, writes and closes it", stack.Short(way[0].Func), types.ExprString(r.path))
	if r.times > 0 {
		f.Summary += ", " + unit.Plural(int(r.times), "time") + " in the run that counts"
	}
	if r.loop != "" {
		f.Summary += "; the loop at " + r.loop + " comes to it in each turn"
	}
	r.advise(f)
	if f.Impact != nil && f.Impact.Low >= partSmall {
		f.Severity = Warning
	}
	return true
}

// advise says what to do about it, beginning with what becomes of the file elsewhere.
func (r reopened) advise(f *Finding) {
	const keep = "Open the file once and keep it open (a field), and close it at the end. A bufio.Writer in front of it makes the writes fewer too: flush it at the end, and as often as what is written has to be there. Keep the order: one goroutine at a time writes."
	at := r.d.placeOf(r.open)
	frame := stack.Frame{File: at.file, Line: at.line}
	moves := movesOf(r.d.c, namesOpened(r.d.c, frame))
	f.Advice = keep
	if adviseMoved(f, frame, moves, keep) {
		if i := slices.IndexFunc(moves, func(m movedFile) bool { return m.does == "renamed" }); i >= 0 {
			f.Advice += fmt.Sprintf(" Count the size, if it decides, instead of asking for it, and open the new file after the rename at %s; flush the buffer before that.", fileLine(moves[i].at.File, moves[i].at.Line))
		}
	}
	f.Doubts = append(f.Doubts, "if another program renames or removes the file (logrotate), what is kept open is the old one: open it again on a signal, or when os.SameFile says so", "what is in a buffer is lost if the program dies")
}

// outOfItself leaves out the frames of a way in which the first function calls itself.
func outOfItself(way []stack.Frame) []stack.Frame {
	for len(way) > 1 && way[1].Func == way[0].Func {
		way = way[1:]
	}
	return way
}

// staysInProgram tells of a part of a path that it is a constant, a variable of a package, or a field of the receiver which nothing changes.
func staysInProgram(d *derivations, decl *ast.FuncDecl, x ast.Expr) bool {
	root, ok := steadyField(d, x)
	if !ok {
		return false
	}
	v := d.variable(root)
	return v == nil || ofPackage(v) && len(d.changesOfAny(v)) == 0 || decl.Recv != nil && isGiven(decl, v) && v.Pos() < decl.Recv.End() && root != ast.Unparen(x)
}
