package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// Whether what a stack shows is done more than once: a share of the CPU time alone does not tell,
// as what is done once may take long.

// repeatsAbove tells whether what the first frame of a way outward does is done more than
// once: some line of the program is in a loop, or, on a goroutine other than main's, somebody
// calls back, or that goroutine is one of many.
func repeatsAbove(c *code, v *view, frames []stack.FrameID) bool {
	return repeatsFrom(c, v, frames, 0)
}

// repeatsFrom is repeatsAbove from a place of a stack on. What the frame there calls is known then.
func repeatsFrom(c *code, v *view, frames []stack.FrameID, at int) bool {
	main := v.t.Frame(frames[len(frames)-1]).Func == "runtime.main"
	for i := at; i < len(frames); i++ {
		switch v.origins[frames[i]] {
		case stack.User:
			callee := ""
			if i > 0 {
				callee = v.t.Frame(frames[i-1]).Func
			}
			if calledInTurns(c, v.t.Frame(frames[i]), callee) {
				return true
			}
		case stack.Standard, stack.Dependency:
			if fn := v.t.Frame(frames[i]).Func; !main && !callsOnce.MatchString(fn) || i < lastUser(v, frames) && callsForEach(fn) {
				return true
			}
		}
	}
	if i := lastUser(v, frames); !main && i >= 0 {
		return startedAgain(c, v.t.Frame(frames[i]).Func, 0)
	}
	return false
}

// lastUser is the position of the outermost frame of the program; -1 is none.
func lastUser(v *view, frames []stack.FrameID) int {
	for i, f := range slices.Backward(frames) {
		if v.origins[f] == stack.User {
			return i
		}
	}
	return -1
}

// callsOnce are functions of libraries that call what they are given no more than once.
var callsOnce = lazily(`^(sync\.\(\*(WaitGroup|Once)\)\.|sync\.Once|golang\.org/x/sync/errgroup\.|testing\.(tRunner|\(\*[BTM]\)\.)|time\.goFunc|context\.|reflect\.|runtime/pprof\.|github\.com/(spf13/cobra|urfave/cli)\b)`)

// calledInTurns tells whether a line calls a function in each turn of a loop. What a loop begins
// with, or goes through, is called once, as is what a loop tries until it succeeds; and what a loop
// calls by what it goes through is another function each time. Where the line does not show which call
// it is, all of it counts.
func calledInTurns(c *code, f stack.Frame, callee string) bool {
	name := ownName(callee)
	for _, is := range []func(*ast.CallExpr) bool{
		func(call *ast.CallExpr) bool { return name != "" && calledName(call) == name },
		func(call *ast.CallExpr) bool { return callsValue(c, call) },
	} {
		known, again := false, false
		c.parse(f.File).onLine(f.Line, func(n ast.Node, around []ast.Node) {
			if call, ok := n.(*ast.CallExpr); ok && is(call) {
				known, again = true, again || slices.ContainsFunc(turnsAround(append(slices.Clone(around), n)), func(l ast.Node) bool {
					return !triesUntil(l, call) && !callsItem(c, f.File, l, call)
				})
			}
		})
		if known {
			return again
		}
	}
	return lineInLoop(c, f) == loopYes
}

// callsValue tells of a call that it is of a variable or a field that holds a function.
func callsValue(c *code, call *ast.CallExpr) bool {
	root := rootName(call.Fun)
	return root != "" && len(c.functions()[calledName(call)]) == 0 && types.Universe.Lookup(root) == nil && !namesOf(c).packages[root]
}

// callsItem tells whether a loop calls one of what it goes through: a function, or a method of an
// interface.
func callsItem(c *code, file string, l ast.Node, call *ast.CallExpr) bool {
	r, ok := l.(*ast.RangeStmt)
	root := rootName(call.Fun)
	if !ok || root == "" || !isNamed(r.Value, root) && !isNamed(r.Key, root) {
		return false
	}
	if callsValue(c, call) {
		return true
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	return ok && typedOf(c).isInterface(c.parse(file), file, sel.X)
}

// isInterface tells of an expression in a file of the sources that its type is an interface.
func (t *typed) isInterface(s *syntax, file string, x ast.Expr) bool {
	e := t.same(s, file, x)
	if e == nil {
		return false
	}
	of := t.typeOf(e)
	return of != nil && types.IsInterface(of)
}

// same is an expression of a file of the sources as it was checked; nil where it is not found.
func (t *typed) same(s *syntax, file string, x ast.Expr) (found ast.Expr) {
	offset, text := s.fset.PositionFor(x.Pos(), false).Offset, types.ExprString(x)
	for _, f := range t.files {
		if f.name != file {
			continue
		}
		ast.Inspect(f.file, func(n ast.Node) bool {
			if e, ok := n.(ast.Expr); ok && found == nil {
				if _, _, at := t.at(e.Pos()); at == offset && types.ExprString(e) == text {
					found = e
				}
			}
			return found == nil
		})
	}
	return found
}

// triesUntil tells whether a loop is left as soon as a call in it has succeeded: it ends with that, or
// there was no error.
func triesUntil(l ast.Node, call *ast.CallExpr) (found bool) {
	body := loopBody([]ast.Node{l})
	if body == nil {
		return false
	}
	errs := map[string]bool{}
	ast.Inspect(body, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Rhs) == 1 && a.Rhs[0] == ast.Expr(call) {
			last := types.ExprString(a.Lhs[len(a.Lhs)-1])
			errs[last] = isError(last)
		}
		return true
	})
	leaves := func(list []ast.Stmt) bool { return leavesLoop(list) && !goesOn(list[:len(list)-1]) }
	for _, s := range body.List {
		x, ok := s.(*ast.IfStmt)
		if !ok {
			continue
		}
		by, ok := x.Cond.(*ast.BinaryExpr)
		if a, is := x.Init.(*ast.AssignStmt); is && len(a.Rhs) == 1 && a.Rhs[0] == ast.Expr(call) {
			last := types.ExprString(a.Lhs[len(a.Lhs)-1])
			errs[last] = isError(last)
		}
		found = found || ok && by.Op == token.EQL && types.ExprString(by.Y) == "nil" && errs[types.ExprString(by.X)] && leavesLoop(x.Body.List)
	}
	return found || leaves(body.List) && slices.ContainsFunc(body.List, func(s ast.Stmt) bool { return within(s, call) })
}

// turnsAround are the loops that run the last of some nodes, each inside of the one before, in each of
// their turns.
func turnsAround(nodes []ast.Node) (loops []ast.Node) {
	for i, n := range nodes[:len(nodes)-1] {
		next := nodes[i+1]
		switch n := n.(type) {
		case *ast.ForStmt:
			if next == ast.Node(n.Body) || n.Cond != nil && next == ast.Node(n.Cond) || n.Post != nil && next == ast.Node(n.Post) {
				loops = append(loops, n)
			}
		case *ast.RangeStmt:
			if next == ast.Node(n.Body) {
				loops = append(loops, n)
			}
		}
	}
	return loops
}

// inTurns tells of the last of some nodes whether a loop runs it in each turn.
func inTurns(nodes []ast.Node) bool { return len(turnsAround(nodes)) > 0 }

// startDepth is how many functions around a go statement are asked for a loop.
const startDepth = 3

// startedAgain tells whether the source shows that a function is started on goroutines again and
// again: in a loop, for a request, or in a function of which one of both is true.
func startedAgain(c *code, fn string, depth int) bool {
	name := ownName(fn)
	calls := callsNamed(c, name)
	if depth > startDepth || name == "main" || len(calls) > mostCallers {
		return false
	}
	again := func(from callFrom) bool {
		return inTurns(append(slices.Clone(from.around), from.call)) || servesRequest(from.in.Type.Params) || startedAgain(c, from.in.Name.Name, depth+1)
	}
	for _, from := range calls {
		if _, starts := parent(from.around).(*ast.GoStmt); (starts || depth > 0) && again(from) {
			return true
		}
	}
	for _, goes := range []string{"Go", "TryGo", "AfterFunc"} {
		for _, from := range callsNamed(c, goes) {
			if slices.ContainsFunc(from.call.Args, func(x ast.Expr) bool { return lastName(types.ExprString(x)) == name }) && again(from) {
				return true
			}
		}
	}
	return false
}

// servesRequest tells whether a function is given a request, and not only a context.
func servesRequest(params *ast.FieldList) bool {
	return slices.ContainsFunc(params.List, func(p *ast.Field) bool {
		name := lastName(strings.TrimPrefix(types.ExprString(p.Type), "*"))
		return name == "Request" || name == "ResponseWriter"
	})
}

// fillsOnce tells whether a line calls a function only where its result is not there yet: the call
// is under a condition that asks for what the result becomes, or after one that returns it.
func fillsOnce(c *code, f stack.Frame, callee string) (once bool) {
	name, d := ownName(callee), c.function(f)
	if name == "" || d == nil {
		return false
	}
	c.parse(f.File).onLine(f.Line, func(n ast.Node, around []ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if ok && calledName(call) == name && !once {
			to := filledBy(d, call)
			once = len(to) > 0 && asksFor(append(slices.Clone(around), n), to, d)
		}
	})
	return once
}

// filledBy are the places that get what a call returns, and those into which these are put, by their
// texts without an index.
func filledBy(d *ast.FuncDecl, call *ast.CallExpr) map[string]bool {
	to := map[string]bool{}
	for range 2 {
		eachAssignment(d.Body, func(left, right ast.Expr) {
			root, fields := chain(left)
			id, ok := unrefer(ast.Unparen(right)).(*ast.Ident)
			if root != "" && root != "_" && !isError(root) && (right == ast.Expr(call) || ok && to[id.Name] || len(fields) > 0 && within(right, call)) {
				to[spot{root, fields}.text()] = true
			}
		})
		ast.Inspect(d.Body, func(n ast.Node) bool {
			x, ok := n.(*ast.CallExpr)
			if !ok || !storers.MatchString(calledName(x)) {
				return true
			}
			root, fields := chain(receiverOf(x))
			if _, method := x.Fun.(*ast.SelectorExpr); method && root != "" && slices.ContainsFunc(x.Args, func(a ast.Expr) bool {
				id, ok := unrefer(a).(*ast.Ident)
				return a == ast.Expr(call) || ok && to[id.Name]
			}) {
				to[spot{root, fields}.text()] = true
			}
			return true
		})
	}
	return to
}

// storers are methods by which something is put into a cache.
var storers = lazily(`^(Store|LoadOrStore|Swap|CompareAndSwap|Set|Put|Add)`)

// eachAssignment calls for each place that is given a value, the value of a call with several results
// included.
func eachAssignment(in ast.Node, do func(left, right ast.Expr)) {
	ast.Inspect(in, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok {
			for i, left := range a.Lhs {
				if len(a.Rhs) == len(a.Lhs) || i == 0 {
					do(left, a.Rhs[min(i, len(a.Rhs)-1)])
				}
			}
		}
		if v, ok := n.(*ast.ValueSpec); ok {
			assigned(v, do)
		}
		return true
	})
}

// asksFor tells whether one of the conditions before a node, around it or with a body that leaves, asks
// whether one of some places is filled.
func asksFor(nodes []ast.Node, places map[string]bool, d *ast.FuncDecl) bool {
	asked := func(s *ast.IfStmt) bool { return asksWhether(s, places, d) }
	for i, n := range nodes[:len(nodes)-1] {
		next := nodes[i+1]
		if s, ok := n.(*ast.IfStmt); ok && next != s.Init && next != ast.Node(s.Cond) && asked(s) {
			return true
		}
		for _, before := range statements(n) {
			if before == next {
				break
			}
			if s, ok := before.(*ast.IfStmt); ok && len(s.Body.List) > 0 && (leavesLoop(s.Body.List) || goesOn(s.Body.List)) && asked(s) {
				return true
			}
		}
	}
	return false
}

// asksWhether tells whether a condition compares one of some places with nil, or looks whether a map
// has it.
func asksWhether(s *ast.IfStmt, places map[string]bool, d *ast.FuncDecl) (found bool) {
	isPlace := func(x ast.Expr) bool {
		root, fields := chain(x)
		return root != "" && places[spot{root, fields}.text()]
	}
	from := map[string]bool{} // what was read of one before, and whether it was there
	ast.Inspect(d.Body, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Rhs) == 1 && a.Pos() <= s.Cond.Pos() {
			_, indexed := a.Rhs[0].(*ast.IndexExpr)
			call, isCall := a.Rhs[0].(*ast.CallExpr)
			if isPlace(a.Rhs[0]) || isCall && isPlace(receiverOf(call)) || len(a.Lhs) == 2 && indexed && isPlace(a.Lhs[0]) {
				for _, x := range a.Lhs {
					from[types.ExprString(x)] = true
				}
			}
		}
		return true
	})
	ast.Inspect(s.Cond, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.NEQ {
				for _, x := range []ast.Expr{n.X, n.Y} {
					if call, ok := x.(*ast.CallExpr); ok && isNamed(call.Fun, "len") && len(call.Args) == 1 {
						x = call.Args[0]
					}
					found = found || isPlace(x)
				}
			}
		case *ast.Ident:
			found = found || from[n.Name]
		case *ast.CallExpr: // of an atomic value
			found = found || n.Fun != nil && calledName(n) == "Load" && isPlace(receiverOf(n))
		}
		return !found
	})
	return found
}

// whenever are words of conditions and channels that tell of the time, or that somebody asks for it.
var whenever = lazily(`(?i)\btime\.|\.C\b|tick|since|expire|stale|ttl|refresh|reload|rebuild|interval|modtime|changed|dirty|sighup|signal`)

// atIntervals finds the condition by which a line calls something only from time to time: one of the
// time, or of a wish to have it made anew. It is empty where there is none.
func atIntervals(c *code, f stack.Frame, callee string) (where string) {
	s, name := c.parse(f.File), ownName(callee)
	s.onLine(f.Line, func(n ast.Node, around []ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || calledName(call) != name {
			return
		}
		nodes := append(slices.Clone(around), n)
		for i, n := range nodes[:len(nodes)-1] {
			var by ast.Node
			switch n := n.(type) {
			case *ast.FuncLit:
				where = ""
			case *ast.IfStmt:
				if nodes[i+1] == ast.Node(n.Body) || nodes[i+1] == ast.Node(n.Else) {
					by = n.Cond
				}
			case *ast.CommClause:
				if n.Comm != nil && nodes[i+1] != ast.Node(n.Comm) {
					by = n.Comm
				}
			case *ast.RangeStmt:
				by = n.X
			}
			if by == nil {
				continue
			}
			ast.Inspect(by, func(n ast.Node) bool {
				if x, ok := n.(ast.Expr); ok && where == "" && whenever.MatchString(types.ExprString(x)) {
					line, _ := s.lines(by)
					where = fileLine(f.File, line)
				}
				return where == ""
			})
		}
	})
	return where
}
