package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// What streaming changes beside the memory, by the source: a time limit of the reading covers the work as well, a lock that is taken for the writing
// is held while a peer sends, and what is written may be the file that is read.

// readLimit is a time limit that covers the reading of a body.
type readLimit struct {
	text string // "the time limit of the client (Timeout: 2 * time.Second)"
	at   codeLine
}

// limitOfReading finds the time limit that covers what a frame's line reads as a whole; not ok where the source shows none.
func limitOfReading(c *code, f stack.Frame) (l readLimit, ok bool) {
	d := derivationsOf(c)
	in, found := d.at(f)
	if !found {
		return l, false
	}
	var read *ast.CallExpr
	ast.Inspect(in.decl.Body, func(n ast.Node) bool {
		if call, is := n.(*ast.CallExpr); is && read == nil && wholeReaders.MatchString(types.ExprString(call.Fun)) && coversLine(d, call, f.Line) {
			read = call
		}
		return true
	})
	if read == nil || len(read.Args) != 1 || readsFile.MatchString(types.ExprString(read)) {
		return l, false
	}
	root := innermost(unboundedReader(d, in.decl, read.Args[0]))
	if t := parameterType(d, in.decl, root); endsInType(t, "http.Request") {
		return limitOfServer(d)
	}
	if l, ok = limitOfContext(d, in.decl, 0); ok {
		return l, true
	}
	if client, is := clientOf(d, in.decl, root); is {
		return limitOfClient(d, client)
	}
	return deadlineIn(d, in.decl)
}

// unboundedReader is what a reader reads from that a call puts around it: io.LimitReader(r.Body, n), http.MaxBytesReader(w, r.Body, n).
func unboundedReader(d *derivations, decl *ast.FuncDecl, x ast.Expr) ast.Expr {
	for range sharesDepth {
		switch e := ast.Unparen(x).(type) {
		case *ast.CallExpr:
			switch types.ExprString(e.Fun) {
			case "io.LimitReader", "bufio.NewReader", "bufio.NewReaderSize", "io.TeeReader":
				if len(e.Args) > 0 {
					x = e.Args[0]
					continue
				}
			case "http.MaxBytesReader":
				if len(e.Args) == 3 {
					x = e.Args[1]
					continue
				}
			}
		case *ast.Ident:
			if defs := d.definitions(decl)[d.variable(e)]; len(defs) == 1 && defs[0].x != nil && !isGiven(decl, d.variable(e)) {
				if call, ok := defs[0].x.(*ast.CallExpr); ok && strings.Contains(types.ExprString(call.Fun), "Reader") {
					x = call
					continue
				}
			}
		}
		break
	}
	return x
}

// parameterType is the type that a parameter of a function, or of a literal in it, is declared with; empty of another variable.
func parameterType(d *derivations, decl *ast.FuncDecl, x ast.Expr) (text string) {
	v := d.variable(x)
	if v == nil {
		return ""
	}
	ast.Inspect(decl, func(n ast.Node) bool {
		field, ok := n.(*ast.Field)
		if ok && slices.ContainsFunc(field.Names, func(id *ast.Ident) bool { return id.Pos() == v.Pos() }) {
			text = types.ExprString(field.Type)
		}
		return text == ""
	})
	return text
}

// clientOf is the client of HTTP that has sent the request whose answer a variable is: what its method is called on; nil of a function of the package.
func clientOf(d *derivations, decl *ast.FuncDecl, x ast.Expr) (client ast.Expr, ok bool) {
	if endsInType(parameterType(d, decl, x), "http.Response") {
		return nil, true
	}
	for _, def := range d.definitions(decl)[d.variable(x)] {
		call, is := def.x.(*ast.CallExpr)
		if !is {
			continue
		}
		sel, method := call.Fun.(*ast.SelectorExpr)
		if !method || !slices.Contains([]string{"Do", "Get", "Post", "PostForm"}, sel.Sel.Name) {
			continue
		}
		if d.t.fromPackage(sel) == "net/http" {
			return ast.NewIdent("http.DefaultClient"), true
		}
		if d.t.fromPackage(sel) == "" {
			return sel.X, true
		}
	}
	return nil, false
}

// setLimit is a time limit that the sources set for a client of HTTP, and what has that; nil where that is not known.
type setLimit struct {
	of    types.Object
	value ast.Expr // nil of a client that is made without one
	at    ast.Node
}

// limitOfClient is the time limit of a client: its own, or, where the source does not show which client it is, one that the sources set for some.
func limitOfClient(d *derivations, client ast.Expr) (l readLimit, ok bool) {
	standard := client != nil && isNamed(client, "http.DefaultClient")
	place, made := types.Object(nil), standard // made: the source shows which client it is
	if client != nil && !standard {
		place = d.t.place(client)
	}
	for _, x := range limitsOfClients(d) {
		assigned, _ := x.at.(*ast.AssignStmt)
		own := place != nil && x.of == place || standard && assigned != nil && strings.HasPrefix(types.ExprString(assigned.Lhs[0]), "http.DefaultClient.")
		if own {
			if made = made || x.value == nil; x.value == nil {
				continue // unless a later statement sets it
			}
			return readLimit{fmt.Sprintf("the time limit of the client (Timeout: %s)", types.ExprString(x.value)), d.placeOf(x.at)}, true
		}
		if !ok && x.value != nil {
			l, ok = readLimit{fmt.Sprintf("the time limit of a client (Timeout: %s), where it is the one that is used,", types.ExprString(x.value)), d.placeOf(x.at)}, true
		}
	}
	if made {
		return readLimit{}, false
	}
	return l, ok
}

// limitsOfClients are all that the sources set.
func limitsOfClients(d *derivations) (all []setLimit) {
	for _, file := range d.t.files {
		eachNode(file.file, func(node ast.Node, around []ast.Node) {
			switch x := node.(type) {
			case *ast.CompositeLit:
				if x.Type != nil && endsInType(types.ExprString(x.Type), "http.Client") {
					value, _ := fieldOfLit(x, "Timeout")
					if n, known := numberOf(value); value != nil && known && n == 0 {
						value = nil
					}
					all = append(all, setLimit{assignedPlace(d, x, around), value, x})
				}
			case *ast.AssignStmt:
				for i, lhs := range x.Lhs {
					if sel, is := lhs.(*ast.SelectorExpr); is && sel.Sel.Name == "Timeout" && len(x.Lhs) == len(x.Rhs) {
						all = append(all, setLimit{d.t.place(sel.X), x.Rhs[i], x})
					}
				}
			}
		})
	}
	return all
}

// assignedPlace is the variable or the field that a literal, or a pointer to it, begins; nil where that is not known.
func assignedPlace(d *derivations, lit ast.Expr, around []ast.Node) types.Object {
	e := lit
	for _, n := range slices.Backward(around) {
		switch n := n.(type) {
		case *ast.UnaryExpr, *ast.ParenExpr:
			e = n.(ast.Expr)
			continue
		case *ast.ValueSpec:
			if i := slices.Index(n.Values, e); i >= 0 && i < len(n.Names) {
				return d.t.place(n.Names[i])
			}
		case *ast.AssignStmt:
			if i := slices.Index(n.Rhs, e); i >= 0 && len(n.Lhs) == len(n.Rhs) {
				return d.t.place(n.Lhs[i])
			}
		case *ast.KeyValueExpr:
			if id, ok := keyName(n); ok {
				v, _ := d.t.info.Uses[id].(*types.Var)
				if v != nil {
					return v.Origin()
				}
			}
		}
		return nil
	}
	return nil
}

// limitOfContext is a context with a time limit that a function, or one that calls it, makes.
func limitOfContext(d *derivations, decl *ast.FuncDecl, depth int) (l readLimit, ok bool) {
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		call, is := n.(*ast.CallExpr)
		if is && !ok && d.t.fromPackage(call.Fun) == "context" && (strings.HasPrefix(calledName(call), "WithTimeout") || strings.HasPrefix(calledName(call), "WithDeadline")) && len(call.Args) > 1 {
			l, ok = readLimit{fmt.Sprintf("the time limit of the context (%s)", types.ExprString(call.Args[1])), d.placeOf(call)}, true
		}
		return !ok
	})
	givesContext := slices.ContainsFunc(decl.Type.Params.List, func(f *ast.Field) bool { return types.ExprString(f.Type) == "context.Context" })
	if ok || !givesContext || depth >= sharesDepth {
		return l, ok
	}
	for _, by := range whoCalls(d, decl) {
		if l, ok = limitOfContext(d, by.in, depth+1); ok {
			return l, true
		}
	}
	return l, false
}

// limitOfServer is a time limit of a server in the sources for the reading of a request, or for all of it.
func limitOfServer(d *derivations) (l readLimit, ok bool) {
	for _, file := range d.t.files {
		ast.Inspect(file.file, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.CompositeLit:
				if x.Type == nil || !endsInType(types.ExprString(x.Type), "http.Server") {
					return true
				}
				for _, name := range []string{"ReadTimeout", "WriteTimeout"} {
					value, is := fieldOfLit(x, name)
					if n, known := numberOf(value); is && value != nil && !ok && !(known && n == 0) {
						l, ok = readLimit{fmt.Sprintf("the time limit of the server (%s: %s)", name, types.ExprString(value)), d.placeOf(x)}, true
					}
				}
			case *ast.CallExpr:
				if types.ExprString(x.Fun) == "http.TimeoutHandler" && !ok {
					l, ok = readLimit{"the time limit of http.TimeoutHandler", d.placeOf(x)}, true
				}
			}
			return !ok
		})
	}
	return l, ok
}

// deadlineIn is a deadline for reading that a function sets.
func deadlineIn(d *derivations, decl *ast.FuncDecl) (l readLimit, ok bool) {
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		call, is := n.(*ast.CallExpr)
		if is && !ok && (calledName(call) == "SetDeadline" || calledName(call) == "SetReadDeadline") {
			l, ok = readLimit{"the deadline of the connection", d.placeOf(call)}, true
		}
		return !ok
	})
	return l, ok
}

// advice says that a limit covers the work as well.
func (l readLimit) advice() string {
	return fmt.Sprintf(" But %s at %s covers the reading until its end: read piece by piece, it also covers the work in between. If that may take longer, copy it to a temporary file first (os.CreateTemp, io.Copy), and read from that.", l.text, l.at.text())
}

// sameFile is the condition where one file is read and another one written.
const sameFile = " Where both paths may lead to the same file (a link; os.SameFile tells), write another file beside it and rename it at the end: opened for writing, the file would be empty before it is read."

// writesPath are calls, by their names, that write all they are given to a file.
var writesPath = lazily(`(?i)^(write|save|store|put|dump|create)`)

// lockedBefore is the lock that is taken between what a frame's line reads as a whole and the first call that is given it, in that function or at the
// beginning of the called one; not ok where there is none.
func lockedBefore(c *code, frames []stack.Frame) (at codeLine, ok bool) {
	followWholeRead(c, frames, func(r wholeRead) bool {
		if !r.returned {
			at, ok = lockedBeforeUse(c, r.frame.File, r.rest, r.name)
		}
		return true
	})
	return at, ok
}

// lockedBeforeUse is lockedBefore of the statements behind the one that reads.
func lockedBeforeUse(c *code, file string, list []ast.Stmt, name string) (at codeLine, ok bool) {
	held := map[string]ast.Node{}
	done := false
	line := func(file string, n ast.Node) codeLine {
		first, _ := c.parse(file).lines(n)
		return codeLine{file: file, line: first}
	}
	for _, s := range list {
		eachNode(s, func(n ast.Node, around []ast.Node) {
			call, is := n.(*ast.CallExpr)
			if !is || done || slices.ContainsFunc(around, isDeferOrGo) || withinLit(around) {
				return
			}
			if sel, method := call.Fun.(*ast.SelectorExpr); method && len(call.Args) == 0 {
				switch of := types.ExprString(sel.X); sel.Sel.Name {
				case "Lock", "RLock":
					held[of] = call
				case "Unlock", "RUnlock":
					delete(held, of)
				}
				return
			}
			if !slices.ContainsFunc(call.Args, func(x ast.Expr) bool { return isNamed(underConversions(x), name) }) || isNamed(call.Fun, "len") {
				return
			}
			for _, lock := range held {
				if p := line(file, lock); !ok || p.line < at.line {
					at, ok = p, true
				}
			}
			done = ok
			if all := c.functions()[calledName(call)]; !ok && len(all) == 1 && all[0].Body != nil {
				for _, s := range all[0].Body.List {
					if x, is := s.(*ast.ExprStmt); is && !ok {
						if lock, is := x.X.(*ast.CallExpr); is && len(lock.Args) == 0 && (calledName(lock) == "Lock" || calledName(lock) == "RLock") {
							at, ok, done = line(all[0].file, lock), true, true
						}
					}
				}
			}
		})
	}
	return at, ok
}

// conditionsOfStream changes the advice to stream what a line reads as a whole by what the source shows of it: to is what is given it first.
func conditionsOfStream(c *code, own []stack.Frame, read, to string, f *Finding) {
	file := readsFile.MatchString(read)
	if at, locked := lockedBefore(c, own); locked {
		if file {
			f.Advice += fmt.Sprintf(" The lock that is taken at %s is then held while the file is read.", at.text())
		} else {
			f.Advice = fmt.Sprintf("If %s can take a part at a time, do not hold it as a whole; but do not read it under the lock that is taken at %s either: whoever sends slowly would hold up all who wait for the lock. Copy it to a temporary file before that (os.CreateTemp, io.Copy), and from the file, under the lock, into what writes it, or read the file with a decoder or a bufio.Scanner. Then a buffer of it is in memory at a time.", to, at.text())
		}
		return
	}
	if len(own) > 0 {
		if l, ok := limitOfReading(c, own[0]); ok {
			f.Advice += l.advice()
		}
	}
	if file && writesPath.MatchString(lastName(to)) {
		f.Advice += sameFile
	}
}
