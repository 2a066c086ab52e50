package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// What else a program does with a file that it writes: a buffer in front of it changes what a read finds, and where the file is.

// fileTouch is what is done with a file at a place.
type fileTouch int

const (
	// touchAsks asks for the place, or for the size, which do not count what is in a buffer.
	touchAsks fileTouch = iota
	// touchMoves moves the place, cuts the file, or writes at another place of it.
	touchMoves
	// touchReads reads it back.
	touchReads
)

// touched is a place at which the sources do so.
type touched struct {
	what fileTouch
	in   *ast.FuncDecl
	call *ast.CallExpr
	at   codeLine
}

// touchMethods are the methods of a file that do so.
var touchMethods = map[string]fileTouch{
	"Read": touchReads, "ReadAt": touchReads, "WriteTo": touchReads,
	"WriteAt": touchMoves, "Truncate": touchMoves, "Stat": touchAsks,
}

// touchGiven are functions that read the file that they are given, by the place of that.
var touchGiven = map[string]int{
	"io.ReadFull": 0, "io.ReadAll": 0, "io.ReadAtLeast": 0, "io.Copy": 1, "io.CopyN": 1, "io.CopyBuffer": 1, "io.NewSectionReader": 0, "io.LimitReader": 0, "io.TeeReader": 0,
	"bufio.NewReader": 0, "bufio.NewReaderSize": 0, "bufio.NewScanner": 0, "bufio.NewReadWriter": 0, "encoding/binary.Read": 0, "fmt.Fscan": 0, "fmt.Fscanf": 0, "fmt.Fscanln": 0,
	"encoding/json.NewDecoder": 0, "encoding/gob.NewDecoder": 0, "encoding/csv.NewReader": 0,
}

// fileWrittenAt is what a call on the line of a frame writes to.
func fileWrittenAt(d *derivations, at stack.Frame) (v types.Object, in *ast.FuncDecl) {
	from, ok := d.at(at)
	if !ok {
		return nil, nil
	}
	ast.Inspect(from.decl.Body, func(n ast.Node) bool {
		call, is := n.(*ast.CallExpr)
		if !is || v != nil || d.placeOf(call).line > at.Line || !coversLine(d, call, at.Line) {
			return v == nil
		}
		name := calledName(call)
		pkg := d.t.fromPackage(uninstantiated(call))
		switch {
		case pkg == "" && receiverOf(call) != nil && (name == "Write" || name == "WriteString" || name == "WriteByte" || name == "ReadFrom"):
			v = placeNamed(d, receiverOf(call))
		case len(call.Args) > 0 && (pkg == "fmt" && strings.HasPrefix(name, "Fprint") || pkg == "io" && (name == "WriteString" || name == "Copy") || pkg == "encoding/binary" && name == "Write"):
			v = placeNamed(d, call.Args[0])
		}
		return v == nil
	})
	return v, from.decl
}

// placeNamed is the variable or the field that an expression names.
func placeNamed(d *derivations, x ast.Expr) types.Object {
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		return d.variable(x)
	case *ast.SelectorExpr:
		if f := d.field(x); f != nil {
			return f
		}
		if v, ok := d.t.info.Uses[x.Sel].(*types.Var); ok {
			return v
		}
	}
	return nil
}

// sameFileAs are the variables and fields that have the same file as one: what it is given to and comes from, as far as
// the sources name it.
func sameFileAs(d *derivations, v types.Object) map[types.Object]bool {
	names := map[types.Object]bool{v: true}
	join := func(a, b types.Object) (more bool) {
		if a == nil || b == nil || names[a] == names[b] || isErrorType(a.Type()) || isErrorType(b.Type()) {
			return false
		}
		names[a], names[b] = true, true
		return true
	}
	for range 4 {
		more := false
		for _, x := range flowNodes(d) {
			switch n := x.n.(type) {
			case *ast.AssignStmt:
				if len(n.Lhs) == len(n.Rhs) {
					for i := range n.Lhs {
						more = join(placeNamed(d, n.Lhs[i]), placeNamed(d, n.Rhs[i])) || more
					}
				}
			case *ast.CompositeLit:
				for _, e := range n.Elts {
					if kv, ok := e.(*ast.KeyValueExpr); ok {
						if id, named := kv.Key.(*ast.Ident); named {
							more = join(d.t.info.Uses[id], placeNamed(d, kv.Value)) || more
						}
					}
				}
			case *ast.CallExpr:
				for _, decl := range calledDecls(d, n) {
					for _, param := range parametersOf(d, decl) {
						if arg := argumentFor(d, decl, n, param); arg != nil && (decl.Recv == nil || param.Pos() > decl.Recv.End()) {
							more = join(param, placeNamed(d, arg)) || more
						}
					}
				}
			}
		}
		if !more {
			break
		}
	}
	return names
}

// touchesOf are the places at which the sources read back, move or measure the file that is written on the line of a frame.
func touchesOf(d *derivations, at stack.Frame) (all []touched) {
	v, in := fileWrittenAt(d, at)
	if v == nil {
		return nil
	}
	names := sameFileAs(d, v)
	is := func(x ast.Expr) bool { return names[placeNamed(d, x)] }
	for _, x := range flowNodes(d) {
		call, ok := x.n.(*ast.CallExpr)
		if !ok || x.in == nil {
			continue
		}
		name := calledName(call)
		add := func(what fileTouch) { all = append(all, touched{what, x.in, call, d.placeOf(call)}) }
		if pkg := d.t.fromPackage(uninstantiated(call)); pkg != "" {
			if i, reads := touchGiven[pkg+"."+name]; reads && i < len(call.Args) && is(call.Args[i]) {
				add(touchReads)
			}
			continue
		}
		if receiverOf(call) == nil || !is(receiverOf(call)) {
			continue
		}
		what, known := touchMethods[name]
		switch {
		case name == "Seek" && asksPlace(call):
			add(touchAsks)
		case name == "Seek":
			add(touchMoves)
		case known:
			add(what)
		}
	}
	// What is done in the function that writes comes first.
	slices.SortStableFunc(all, func(a, b touched) int {
		return boolOrder(a.in == in) - boolOrder(b.in == in)
	})
	return all
}

// boolOrder puts what is so first.
func boolOrder(is bool) int {
	if is {
		return 0
	}
	return 1
}

// asksPlace tells of a Seek that it moves by nothing from where the file is.
func asksPlace(call *ast.CallExpr) bool {
	if len(call.Args) != 2 {
		return false
	}
	n, known := numberOf(call.Args[0])
	whence := types.ExprString(call.Args[1])
	return known && n == 0 && (whence == "io.SeekCurrent" || whence == "1" || whence == "os.SEEK_CUR")
}

// adviseTouched begins the advice to put a buffer in front of a file that is written on the line of a frame with what else the source does
// with it; it is false where that is nothing.
func adviseTouched(d *derivations, f *Finding, at stack.Frame) bool {
	all := touchesOf(d, at)
	if len(all) == 0 {
		return false
	}
	_, in := fileWrittenAt(d, at)
	first := func(what fileTouch) *touched {
		if i := slices.IndexFunc(all, func(x touched) bool { return x.what == what }); i >= 0 {
			return &all[i]
		}
		return nil
	}
	reads, moves, asks := first(touchReads), first(touchMoves), first(touchAsks)
	written := fileLine(at.File, at.Line)
	show := func(x *touched, words string) {
		f.Evidence = append(f.Evidence, d.c.shownAt(x.at.file, x.at.line, "%s", words))
	}
	loops := loopsAround(d.c, at)
	turns := reads != nil && reads.in == in && calledName(reads.call) != "ReadAt" && len(loops) > 0 && slices.ContainsFunc(loops, func(l loop) bool {
		a, b := l.source.lines(l.stmt)
		return a <= reads.at.line && reads.at.line <= b
	})
	switch {
	case turns:
		show(reads, "the same file is read here, in turns with the writes")
		f.Advice = fmt.Sprintf("The file is read at %s and written at %s in turns, so each write goes to where the last read ended. A bufio.Writer in front would put it elsewhere, and a bufio.Reader has read ahead: neither can be put there alone. "+
			"Read larger blocks (ReadAt), change what is needed in memory, and write the blocks back to their places (WriteAt).", reads.at.text(), written)
	case reads != nil:
		show(reads, "the same file is read here")
		f.Advice = fmt.Sprintf("The file that is written at %s is also read, at %s: a read does not find what is still in a bufio.Writer. Put one in front (64 KB) only if it is flushed before each such read, or if the reads look into what is not flushed yet first; "+
			"where a read follows each write, it gains nothing. Putting the parts of one record together in a []byte, and writing that, is right in any case.", written, reads.at.text())
	case moves != nil:
		show(moves, "the place in the same file is moved, or the file is changed, here")
		f.Advice = fmt.Sprintf("The place in the file that is written at %s is moved, or the file is changed past a buffer, at %s. Put a bufio.Writer in front (64 KB) only if it is flushed before each such call, as otherwise what it holds goes elsewhere; and flush it at the end and check the error. "+
			"Putting the parts of one record together in a []byte, and writing that, is right in any case.", written, moves.at.text())
	default:
		show(asks, "asked of the same file here")
		f.Advice = fmt.Sprintf("Where the file that is written at %s is, or how long it is, is asked of it at %s, which does not count what is in a bufio.Writer. Count the bytes that are written instead (ask once, at the start); then put a bufio.Writer in front (64 KB), write everything to that, and flush it at the end and check the error.", written, asks.at.text())
	}
	if reads != nil && asks != nil && !turns {
		f.Advice += fmt.Sprintf(" The place or the length is asked of the file at %s, too: count what is written instead.", asks.at.text())
	}
	return true
}
