package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// Work of which the source shows that its result is used only where a later condition lets it: the statements that do it,
// the condition, and the lines behind it.

// unneeded is such work.
type unneeded struct {
	file        string
	first, last int      // the lines of the statements that do it
	results     []string // the variables that they set
	check       codeLine
	cond        string // what is asked there
	leaves      bool   // what is asked leaves before the use; otherwise the use is in its branch
	from, to    int    // the lines in which the results are used
	shows       bool   // what is done there each time writes, encodes or asks: samples would show it
	fails       bool   // it may give an error, which is looked at before the condition
	// counted tells that it was counted how often the work is done, and how often what it gives is used; handed that a function which it is given to
	// asks the condition.
	counted    bool
	done, uses int64
	handed     string
}

// unneededScan reads functions for it, each statement once.
type unneededScan struct {
	d *derivations
	// asks reads conditions: what gives another answer each time, as the clock does, may be about the work itself.
	asks  *derivations
	known map[ast.Stmt]*unneeded
	// counts are those of blocks; nil where there are none.
	counts *countedTurns
}

func newUnneededScan(c *code) *unneededScan {
	counts := blockCountsOf(c)
	return &unneededScan{d: derivationsWith(c, counts), asks: newDerivations(c), known: map[ast.Stmt]*unneeded{}, counts: counts}
}

// on is the work that a frame's line is in.
func (s *unneededScan) on(at stack.Frame) (u *unneeded, ok bool) {
	in, ok := s.d.at(at)
	if !ok || jumps(in.decl.Body) {
		return nil, false
	}
	eachBlock(in, func(list []ast.Stmt, block ast.Node) {
		for i, stmt := range list {
			if !coversLine(s.d, stmt, at.Line) {
				continue
			}
			found, known := s.known[stmt]
			if !known {
				w := unneededWork{s: s, in: in, list: list, block: block, stmt: i, group: map[types.Object]bool{}}
				found = w.find()
				s.known[stmt] = found
			}
			if found != nil {
				u = found // the innermost one
			}
		}
	})
	return u, u != nil
}

// jumps tells of a function that it goes on elsewhere than behind a statement: by goto, or behind a panic from which it
// recovers, which may be what the work is asked for.
func jumps(body ast.Node) bool {
	return hasAny(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BranchStmt:
			return n.Tok == token.GOTO
		case *ast.CallExpr:
			return isNamed(n.Fun, "recover")
		}
		return false
	})
}

// eachBlock visits the lists of statements of a function, the outer ones first, without those of functions inside it.
func eachBlock(in frameCode, visit func(list []ast.Stmt, block ast.Node)) {
	ast.Inspect(in.body(), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return n == in.lit
		case *ast.BlockStmt:
			visit(n.List, n)
		case *ast.CaseClause:
			visit(n.Body, n)
		case *ast.CommClause:
			visit(n.Body, n)
		}
		return true
	})
}

// unneededWork looks at one statement of a list, and at those after it.
type unneededWork struct {
	s     *unneededScan
	in    frameCode
	list  []ast.Stmt
	block ast.Node
	stmt  int
	group map[types.Object]bool // the variables that the work sets
	parts []ast.Node            // the statements that are the work, and the checks of its errors
	fails bool
}

// mostBetween is how many statements there may be between the work and the condition: chosen, far more than anybody writes.
const mostBetween = 60

func (w *unneededWork) find() *unneeded {
	switch n := w.list[w.stmt].(type) {
	case *ast.AssignStmt, *ast.DeclStmt, *ast.RangeStmt, *ast.ForStmt, *ast.ExprStmt:
	case *ast.IfStmt:
		if leavesPlace(n) {
			return nil
		}
	default:
		return nil
	}
	if !w.add(w.list[w.stmt]) || len(w.group) == 0 {
		return nil
	}
	last := w.list[w.stmt]
	for i := w.stmt + 1; i < min(len(w.list), w.stmt+mostBetween); i++ {
		next := w.list[i]
		n, isIf := next.(*ast.IfStmt)
		switch {
		case isIf && w.checksError(n):
			w.parts, w.fails = append(w.parts, n), true
		case isIf && w.asks(n) && !w.mentions(n.Body) && n.Else == nil && endsEarly(n.Body):
			return w.behind(last, n, n.End(), w.block.End(), true)
		case isIf && w.asks(n) && w.mentions(n.Body) && (n.Else == nil || !w.mentions(n.Else)):
			return w.behind(last, n, n.Body.Pos(), n.Body.End(), false)
		case w.mentions(next) && w.handsOn(next):
			return w.handed(last)
		case w.mentions(next):
			if !w.add(next) {
				return nil
			}
			last = next
		case !w.leavesWork(next):
			return nil
		}
	}
	return nil
}

// leavesPlace tells of a statement that it may end more than itself.
func leavesPlace(n ast.Node) (found bool) {
	eachNode(n, func(x ast.Node, around []ast.Node) {
		if slices.ContainsFunc(around, func(a ast.Node) bool { _, lit := a.(*ast.FuncLit); return lit }) {
			return
		}
		switch x := x.(type) {
		case *ast.ReturnStmt:
			found = true
		case *ast.BranchStmt:
			inside := slices.ContainsFunc(around, func(a ast.Node) bool {
				_, chosen := a.(*ast.SwitchStmt)
				return isLoop(a) || chosen && x.Tok == token.BREAK
			})
			found = found || x.Label != nil || !inside
		}
	})
	return found
}

// add takes a statement into the work: it sets variables of the function alone, and changes nothing else. What it writes to,
// or through, is set by it as well.
func (w *unneededWork) add(n ast.Stmt) bool {
	touched, ok := w.harmless(w.s.d, n)
	if !ok || leavesPlace(n) || writesBehind(w.s.d, n) {
		return false
	}
	for v := range touched {
		if v.Pos() < n.Pos() || w.declaredByList(n, v) {
			w.group[v] = true
		}
	}
	ast.Inspect(n, func(x ast.Node) bool {
		if _, lit := x.(*ast.FuncLit); lit {
			return false
		}
		for _, lhs := range givenValues(x) {
			if v := w.s.d.variable(innermost(lhs)); v != nil && (v.Pos() < n.Pos() || isIdent(lhs) && w.declaredByList(n, v)) {
				w.group[v] = true
			}
		}
		return true
	})
	w.parts = append(w.parts, n)
	return true
}

// writesBehind tells of a piece of a function that it hands on the front of a slice, which whoever gets it may append to: into
// the memory of the slice.
func writesBehind(d *derivations, n ast.Node) bool {
	return hasCall(n, func(call *ast.CallExpr) bool {
		if isNamed(call.Fun, "len") || isNamed(call.Fun, "cap") || isNamed(call.Fun, "append") {
			return false
		}
		return slices.ContainsFunc(call.Args, func(x ast.Expr) bool {
			cut, ok := ast.Unparen(x).(*ast.SliceExpr)
			if !ok || cut.High == nil || cut.Slice3 {
				return false
			}
			of := d.t.typeOf(cut.X)
			if of == nil {
				return false
			}
			b, text := of.Underlying().(*types.Basic)
			return !text || b.Info()&types.IsString == 0
		})
	})
}

// declaredByList tells of a variable that a statement declares it for those after it, and not within itself.
func (w *unneededWork) declaredByList(n ast.Stmt, v types.Object) bool {
	switch n := n.(type) {
	case *ast.AssignStmt:
		return slices.ContainsFunc(n.Lhs, func(x ast.Expr) bool { return w.s.d.variable(x) == v })
	case *ast.DeclStmt:
		return n.Pos() <= v.Pos() && v.Pos() < n.End()
	}
	return false
}

// harmless tells of a piece of a function that it changes nothing but the function's own variables, and which of them it
// writes to or through.
func (w *unneededWork) harmless(d *derivations, n ast.Node) (touched map[types.Object]bool, ok bool) {
	f := &derived{decl: w.in.decl, reads: map[types.Object]bool{}, fills: map[types.Object]bool{}}
	walk := &derivedWalk{d: d, f: f, touched: map[types.Object]bool{}}
	walk.walk(n)
	return walk.touched, !walk.other && len(f.fills) == 0 && !f.locks
}

// passes tells of a statement between the work and the condition that it does not change what the work reads.
func (w *unneededWork) passes(d *derivations, n ast.Stmt) bool {
	sets, ok := w.harmless(d, n)
	if !ok || leavesPlace(n) || writesBehind(d, n) {
		return false
	}
	ast.Inspect(n, func(x ast.Node) bool {
		for _, lhs := range givenValues(x) {
			sets[w.s.d.variable(innermost(lhs))] = true
		}
		return true
	})
	delete(sets, nil)
	return !slices.ContainsFunc(w.parts, func(p ast.Node) bool { return mentionsVars(w.s.d, p, sets) })
}

// checksError tells of an if statement that it leaves where an error of the work is not nil.
func (w *unneededWork) checksError(n *ast.IfStmt) bool {
	x, ok := ast.Unparen(n.Cond).(*ast.BinaryExpr)
	if !ok || n.Init != nil || n.Else != nil || x.Op != token.NEQ || !isNamed(x.Y, "nil") || !endsEarly(n.Body) {
		return false
	}
	v := w.s.d.variable(ast.Unparen(x.X))
	return v != nil && w.group[v] && isErrorType(v.Type())
}

// asks tells of an if statement that its condition has nothing of the work in it, and changes nothing.
func (w *unneededWork) asks(n *ast.IfStmt) bool {
	if _, ok := w.harmless(w.s.asks, n.Cond); !ok || w.mentions(n.Cond) {
		return false
	}
	return n.Init == nil || !w.mentions(n.Init) && w.passes(w.s.asks, n.Init)
}

// mentions tells whether something names a variable of the work.
func (w *unneededWork) mentions(n ast.Node) (found bool) {
	ast.Inspect(n, func(x ast.Node) bool {
		if id, ok := x.(*ast.Ident); ok && w.group[w.s.d.variable(id)] {
			found = true
		}
		return !found
	})
	return found
}

// behind is the work if all uses of what it sets are between two places.
func (w *unneededWork) behind(last ast.Stmt, n *ast.IfStmt, from, to token.Pos, leaves bool) *unneeded {
	d, used := w.s.d, false
	for v := range w.group {
		if !isLocal(w.in.decl, v) || isGiven(w.in.decl, v) || isResult(w.in.decl, v) {
			return nil
		}
	}
	outside := false
	ast.Inspect(w.in.decl, func(x ast.Node) bool {
		id, ok := x.(*ast.Ident)
		if !ok || !w.group[d.variable(id)] {
			return true
		}
		switch at := id.Pos(); {
		case from <= at && at < to:
			used = true
		case d.t.info.Defs[id] != nil: // where it is declared
		case slices.ContainsFunc(w.parts, func(p ast.Node) bool { return p.Pos() <= at && at < p.End() }):
		default:
			outside = true
		}
		return true
	})
	if outside || !used {
		return nil
	}
	u := &unneeded{file: w.in.file, check: d.placeOf(n), cond: types.ExprString(n.Cond), leaves: leaves, fails: w.fails}
	_, u.first, _ = d.t.at(w.list[w.stmt].Pos())
	_, u.last, _ = d.t.at(last.End())
	_, u.from, _ = d.t.at(from)
	_, u.to, _ = d.t.at(to)
	if leaves {
		u.from++ // behind the line with its brace
	}
	if u.from <= u.last || u.first == u.check.line {
		return nil // lines that samples do not tell apart
	}
	for v := range w.group {
		if v.Name() != "_" && !isErrorType(v.Type()) {
			u.results = append(u.results, v.Name())
		}
	}
	slices.Sort(u.results)
	u.shows = alwaysCosts(d, w.block, from, to, 0)
	if len(u.results) == 0 {
		return nil
	}
	u.count(w, n)
	return u
}

// count notes how often the work is done and used, where both were counted.
func (u *unneeded) count(w *unneededWork, n *ast.IfStmt) {
	if w.s.counts == nil {
		return
	}
	done, ok := w.s.counts.entered(openOf(w.block))
	inside, also := w.s.counts.entered(n.Body.Lbrace)
	if !ok || !also || done == 0 {
		return
	}
	if u.counted, u.done, u.uses = true, done, inside; u.leaves {
		u.uses = max(0, done-inside)
	}
}

// openOf is where a block that is counted begins: its brace, or the colon of a clause.
func openOf(block ast.Node) token.Pos {
	switch n := block.(type) {
	case *ast.CaseClause:
		return n.Colon
	case *ast.CommClause:
		return n.Colon
	}
	return block.Pos()
}

// alwaysCosts tells of what is between two places of a block that each time it does enough to be seen in samples: it writes,
// formats, encodes or asks somebody, itself or in a function of the program, and under no further condition.
func alwaysCosts(d *derivations, block ast.Node, from, to token.Pos, depth int) (found bool) {
	ast.Inspect(block, func(x ast.Node) bool {
		switch x := x.(type) {
		case nil:
			return false
		case *ast.IfStmt:
			if from <= x.Pos() && x.Pos() < to {
				found = found || x.Init != nil && alwaysCosts(d, x.Init, from, to, depth) || alwaysCosts(d, x.Cond, from, to, depth)
				return false
			}
		case *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt, *ast.FuncLit, *ast.GoStmt:
			return x.Pos() < from
		case *ast.CallExpr:
			found = found || from <= x.Pos() && x.Pos() < to && costsMuch(d, x, depth)
		}
		return !found
	})
	return found
}

// costsMuch is the same of a call.
func costsMuch(d *derivations, call *ast.CallExpr, depth int) bool {
	name, pkg := calledName(call), d.t.fromPackage(call.Fun)
	switch {
	case pkg == "fmt", pkg == "os", pkg == "net/http", strings.HasPrefix(pkg, "log"), strings.HasPrefix(pkg, "encoding/"):
		return true
	}
	fn := d.t.callee(call)
	if fn == nil || len(d.declsOf(fn)) == 0 {
		return writing.MatchString(name) || isLevelled(call) || anyVerb.MatchString(name)
	}
	return depth <= 2 && !slices.ContainsFunc(d.declsOf(fn), func(decl *ast.FuncDecl) bool {
		return !alwaysCosts(d, decl.Body, decl.Body.Pos(), decl.Body.End(), depth+1)
	})
}

// harmlessLibrary tells of a function of the library that it changes nothing that others see, though it may give something
// else each time.
func harmlessLibrary(pkg, name string) bool {
	switch pkg {
	case "runtime":
		return name == "Caller" || name == "Callers" || name == "FuncForPC" || name == "CallersFrames" || strings.HasPrefix(name, "Num") || name == "ReadMemStats" || name == "Stack"
	case "runtime/debug":
		return name == "Stack" || name == "ReadBuildInfo"
	case "time":
		return name == "Now" || name == "Since" || name == "Until" || strings.HasPrefix(name, "Parse") || name == "LoadLocation"
	case "encoding/json", "encoding/xml", "encoding/asn1", "encoding/pem":
		return strings.HasPrefix(name, "Marshal") || strings.HasPrefix(name, "Encode")
	case "regexp":
		return true
	case "reflect":
		return name == "DeepEqual" || name == "TypeOf" || name == "ValueOf"
	case "net/url", "net/netip", "go/format", "html", "mime":
		return true
	case "net":
		return strings.HasPrefix(name, "Parse") || strings.HasPrefix(name, "Lookup") || strings.HasPrefix(name, "Interface")
	case "path/filepath":
		return name != "Walk" && name != "WalkDir"
	case "os":
		return name == "Stat" || name == "Lstat" || name == "ReadFile" || name == "ReadDir" || name == "Getwd" || name == "Hostname" || name == "Readlink" || name == "Executable"
	case "os/user":
		return true
	}
	return false
}
