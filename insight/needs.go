package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"math/bits"
	"slices"
	"strings"

	"loupe/value/stack"
)

// callSet is a set of calls, by their numbers.
type callSet uint64

func (s callSet) has(i int) bool { return s>>i&1 == 1 }

// maxNeeds is how many calls are looked at.
const maxNeeds = 64

// callNeeds tells which of several calls of one function, by their lines in rising order, need
// what came of which: by the variables that are assigned and used, and by the conditions
// under which a call is made at all. That an
// error ends the function is no need; that something else does is, and so is a call that
// brings nothing but an error: it is there for its effect, or is a check. What the functions leave behind that are called
// counts as well: a field that one sets and another one reads. raced is a place that several of them change without a lock.
func callNeeds(c *code, at stack.Frame, lines []int) (needs []callSet, raced string, known bool) {
	s := c.parse(at.File)
	if s == nil || len(lines) == 0 || len(lines) > maxNeeds {
		return nil, "", false
	}
	body := s.bodyOf(lines)
	if body == nil {
		return nil, "", false
	}
	f := &flow{s: s, lines: lines, needs: make([]callSet, len(lines)), from: map[string]callSet{}, shared: map[string]callSet{}, errs: map[string]callSet{}}
	if c.session != nil {
		d := derivationsOf(c)
		if in, ok := d.at(stack.Frame{Func: at.Func, File: at.File, Line: lines[0]}); ok {
			f.left = &leftBetween{d: d, in: in}
		}
	}
	f.block(body.List, 0)
	if f.seen != callSet(1)<<len(lines)-1 {
		return nil, "", false // a line is in none of its statements
	}
	if f.left != nil {
		raced = f.left.raced
	}
	return f.needs, raced, true
}

// bodyOf finds the body of the innermost function around all of some lines.
func (s *syntax) bodyOf(lines []int) (body *ast.BlockStmt) {
	ast.Inspect(s.file, func(n ast.Node) bool {
		if n == nil {
			return true
		}
		first, last := s.lines(n)
		if lines[0] < first || lines[len(lines)-1] > last {
			return false
		}
		switch n := n.(type) {
		case *ast.FuncDecl:
			body = n.Body
		case *ast.FuncLit:
			body = n.Body
		}
		return true
	})
	return body
}

// flow follows what came of calls through the statements of a function, in their order.
type flow struct {
	s     *syntax
	lines []int
	needs []callSet
	seen  callSet
	// from says of a variable what came into it.
	from map[string]callSet
	// guards are the calls of which it depends whether the rest is reached.
	guards callSet
	// shared are the calls that were made on, or with, something that came of a call, such as
	// a transaction: they cannot be made side by side.
	shared map[string]callSet
	// errs are the calls that errors came of, by their names.
	errs map[string]callSet
	// left is what calls leave behind for each other; nil where the sources cannot be followed.
	left *leftBetween
}

func (f *flow) block(list []ast.Stmt, control callSet) {
	for _, s := range list {
		f.statement(s, control)
	}
}

func (f *flow) statement(s ast.Stmt, control callSet) {
	switch s := s.(type) {
	case *ast.BlockStmt:
		f.block(s.List, control)
	case *ast.LabeledStmt:
		f.statement(s.Stmt, control)
	case *ast.IfStmt:
		f.branch(s, control)
	case *ast.ForStmt:
		f.block(s.Body.List, control|f.header(s.Init, s.Cond, control))
	case *ast.RangeStmt:
		came := f.simple(s.X, []ast.Expr{s.Key, s.Value}, control)
		f.block(s.Body.List, control|came)
	case *ast.SwitchStmt:
		f.block(s.Body.List, control|f.header(s.Init, s.Tag, control))
	case *ast.TypeSwitchStmt:
		f.header(s.Init, nil, control)
		f.statement(s.Assign, control)
		f.block(s.Body.List, control|f.used(s.Assign))
	case *ast.CaseClause:
		for _, x := range s.List {
			f.simple(x, nil, control)
		}
		f.block(s.Body, control)
	case *ast.SelectStmt:
		f.block(s.Body.List, control)
	case *ast.CommClause:
		if s.Comm != nil {
			f.statement(s.Comm, control)
		}
		f.block(s.Body, control)
	case *ast.AssignStmt:
		f.assign(s, control)
	case *ast.ExprStmt:
		f.simple(s, nil, control)
		f.effect(s.X)
	case nil:
	default:
		f.simple(s, newNames(s), control)
	}
}

// header takes what stands before the body of a statement, and returns what came into its
// condition.
func (f *flow) header(init ast.Stmt, x ast.Expr, control callSet) (came callSet) {
	if init != nil {
		f.statement(init, control)
	}
	if x != nil {
		came = f.condition(init, x, control)
	}
	return came
}

// condition takes the condition of a statement, and returns what came into it. What stands before it, on its line as well, has been
// taken.
func (f *flow) condition(init ast.Stmt, x ast.Expr, control callSet) (came callSet) {
	if init == nil {
		return f.simple(x, nil, control)
	}
	from, to := f.s.fset.PositionFor(x.Pos(), false).Offset, f.s.fset.PositionFor(x.End(), false).Offset
	return f.touching(x, f.left.within(from, to), nil, control)
}

// branch takes an if statement. Where its body ends the function, or the turn of a loop,
// all that follows depends on its condition.
func (f *flow) branch(s *ast.IfStmt, control callSet) {
	if s.Init != nil {
		f.statement(s.Init, control)
	}
	cond := f.condition(s.Init, s.Cond, control)
	f.block(s.Body.List, control|cond)
	if s.Else != nil {
		f.statement(s.Else, control|cond)
	}
	if leaves(s.Body) && refuses(s.Body) {
		f.refusesBy(s.Cond)
	}
	if leaves(s.Body) || s.Else != nil && leaves(s.Else) {
		f.guards |= cond
	}
}

// leaves tells whether a statement may end the function or the turn of a loop.
func leaves(s ast.Stmt) (found bool) {
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt, *ast.BranchStmt:
			found = true
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); ok && id.Name == "panic" {
				found = true
			}
		}
		return true
	})
	return found
}

// newNames are the variables of a declaration.
func newNames(s ast.Stmt) (names []ast.Expr) {
	d, ok := s.(*ast.DeclStmt)
	if !ok {
		return nil
	}
	if g, ok := d.Decl.(*ast.GenDecl); ok {
		for _, spec := range g.Specs {
			if v, ok := spec.(*ast.ValueSpec); ok {
				for _, id := range v.Names {
					names = append(names, id)
				}
			}
		}
	}
	return names
}

// assign takes an assignment.
func (f *flow) assign(s *ast.AssignStmt, control callSet) {
	var came callSet
	for _, x := range s.Rhs {
		came |= f.simple(x, nil, control)
	}
	bare := len(s.Rhs) == 1
	for _, x := range s.Lhs {
		f.put(x, came, s.Tok != token.ASSIGN && s.Tok != token.DEFINE)
		name := types.ExprString(x)
		if isError(name) {
			f.errs[name] = came
		}
		bare = bare && (name == "_" || isError(name))
	}
	if bare {
		f.effect(s.Rhs[0])
	}
}

// effect makes all that follows need the calls of an expression of which nothing is kept.
func (f *flow) effect(x ast.Expr) {
	call, ok := x.(*ast.CallExpr)
	if !ok || len(addressed(x)) > 0 {
		return
	}
	first, last := f.s.lines(x)
	if slices.ContainsFunc(call.Args, func(arg ast.Expr) bool { return f.left.brings(arg, first, last) }) {
		return // what they bring goes into this one
	}
	fills := f.left.fills(first, last)
	for i, line := range f.lines {
		switch {
		case line < first || last < line:
		case len(fills) > 0:
			for _, name := range fills {
				f.from[name] |= 1 << i
			}
		default:
			f.guards |= 1 << i
		}
	}
}

// put notes what came into a variable.
func (f *flow) put(x ast.Expr, came callSet, more bool) {
	if x == nil {
		return
	}
	name := types.ExprString(x)
	if i, ok := x.(*ast.IndexExpr); ok {
		name, more = types.ExprString(i.X), true
	}
	if name == "_" || isError(name) {
		return
	}
	if more {
		came |= f.from[name]
	}
	f.from[name] = came
}

// isError tells whether a variable is an error, by its name: that one call failed is a
// reason to give up, and no need of the next one.
func isError(name string) bool {
	return name == "err" || strings.HasSuffix(name, "Err") || strings.HasPrefix(name, "err") && len(name) <= 5
}

// simple takes an expression, or a statement without a body, with the calls in it, and
// returns all that came into it.
func (f *flow) simple(n ast.Node, into []ast.Expr, control callSet) callSet {
	return f.touching(n, f.left.on(f.s.lines(n)), into, control)
}

// touching is simple for what touches some places.
func (f *flow) touching(n ast.Node, touches []leftTouch, into []ast.Expr, control callSet) callSet {
	used := f.used(n) | f.left.found(touches, f.from)
	var made callSet
	first, last := f.s.lines(n)
	for i, line := range f.lines {
		if first <= line && line <= last && !f.seen.has(i) {
			made |= 1 << i
		}
	}
	came := used | made
	if made != 0 {
		f.made(n, made, used|control|f.guards|f.left.before(touches))
		for _, x := range addressed(n) {
			f.put(x, came, true)
		}
	}
	f.left.note(touches, came, made)
	for _, x := range into {
		f.put(x, came, false)
	}
	return came
}

// made notes calls and what they need.
func (f *flow) made(n ast.Node, calls, need callSet) {
	for _, name := range passed(n) {
		if f.from[name] != 0 {
			need |= f.shared[name]
			f.shared[name] |= calls
		}
	}
	for i := range f.lines {
		if calls.has(i) {
			f.needs[i] |= need &^ calls
		}
	}
	f.seen |= calls
}

// used is what came into the variables that an expression uses.
func (f *flow) used(n ast.Node) (set callSet) {
	if n == nil {
		return 0
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			for x := ast.Expr(n); ; {
				set |= f.from[types.ExprString(x)]
				sel, ok := x.(*ast.SelectorExpr)
				if !ok {
					break
				}
				x = sel.X
			}
			_, chain := n.X.(*ast.SelectorExpr)
			_, name := n.X.(*ast.Ident)
			return !chain && !name
		case *ast.Ident:
			set |= f.from[n.Name]
			for name, came := range f.from {
				if strings.HasPrefix(name, n.Name+".") {
					set |= came
				}
			}
		}
		return true
	})
	return set
}

// passed are the variables that calls are made on, or that are handed to them as they are.
func passed(n ast.Node) (names []string) {
	ast.Inspect(n, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
			names = append(names, types.ExprString(sel.X))
		}
		for _, x := range call.Args {
			if id, ok := x.(*ast.Ident); ok {
				names = append(names, id.Name)
			}
		}
		return true
	})
	return names
}

// addressed are the variables whose address is taken: a call may fill them.
func addressed(n ast.Node) (all []ast.Expr) {
	ast.Inspect(n, func(n ast.Node) bool {
		if u, ok := n.(*ast.UnaryExpr); ok && u.Op == token.AND {
			all = append(all, u.X)
		}
		return true
	})
	return all
}

// longestWay is the time that calls take where each begins when those that it needs are
// over.
func longestWay(took []int64, needs []callSet) (longest int64) {
	done := make([]int64, len(took))
	for i, d := range took {
		start := int64(0)
		for rest := needs[i]; rest != 0; rest &= rest - 1 {
			if j := bits.TrailingZeros64(uint64(rest)); j < i {
				start = max(start, done[j])
			}
		}
		done[i] = start + d
		longest = max(longest, done[i])
	}
	return longest
}
