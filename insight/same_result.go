package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// The same arguments do not give the same result where the function that is called has state,
// reads the context or draws lots, nor can a result be kept that its caller changes.

// resultDepth is how far the calls of the function are followed.
const resultDepth = 3

// maybeOther finds what in a function, or in what it calls, may give something else each time.
// sure tells that it does so by itself, not only somewhere below.
func maybeOther(c *code, callee *ast.FuncDecl, file string) (why string, sure bool) {
	seen := map[*ast.FuncDecl]bool{callee: true}
	level := []declaration{{callee, file}}
	for depth := range resultDepth {
		var next []declaration
		for _, d := range level {
			if at, says := otherIn(c, d); says != "" {
				line := c.parse(d.file).fset.PositionFor(at, false).Line
				return fmt.Sprintf("%s:%d %s", baseName(d.file), line, says), depth == 0
			}
			ast.Inspect(d.Body, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				if of := c.functions()[calledName(call)]; len(of) > 0 && len(of) <= 2 {
					for _, d := range of {
						if !seen[d.FuncDecl] {
							seen[d.FuncDecl] = true
							next = append(next, d)
						}
					}
				}
				return true
			})
		}
		level = next
	}
	return "", false
}

// readsChanging finds a field of the receiver, or a variable of the package, that a function reads and
// another one changes while the program runs.
func readsChanging(c *code, d declaration) (at, of string) {
	fn, sets := scopeOf(d.FuncDecl), map[ast.Expr]bool{}
	ast.Inspect(d.Body, func(n ast.Node) bool {
		for _, x := range changedBy(n) {
			sets[x] = true
		}
		return true
	})
	ask := func(x ast.Expr) {
		g := given{x: x, fn: fn}
		for _, change := range changesOf(c) {
			if at == "" && !change.starts && change.in.FuncDecl != d.FuncDecl && g.changedAt(c, change) && !ofMaking(c, change.in.Name.Name, d.Name.Name, 0) && !change.isFresh(c) {
				line := c.parse(change.in.file).fset.PositionFor(change.at, false).Line
				at, of = fileLine(change.in.file, line), g.text()
			}
		}
	}
	eachNode(d.Body, func(n ast.Node, around []ast.Node) {
		x, ok := n.(ast.Expr)
		if !ok || at != "" || sets[x] {
			return
		}
		call, isCall := parent(around).(*ast.CallExpr)
		if isCall && call.Fun == x {
			return
		}
		switch x := x.(type) {
		case *ast.SelectorExpr:
			if root, fields := chain(x); root == fn.receiver && root != "" && len(fields) == 1 {
				ask(x)
			}
		case *ast.Ident:
			_, selects := parent(around).(*ast.SelectorExpr)
			_, key := parent(around).(*ast.KeyValueExpr)
			if !selects && !key && isPackageVariable(c, x.Name) && !fn.declares(x.Name) {
				ask(x)
			}
		}
	})
	return at, of
}

// isPackageVariable tells whether the sources declare a variable of a package by a name.
func isPackageVariable(c *code, name string) bool { return namesOf(c).variables[name] }

// taking are words of names and addresses of what gives another thing each time, or waits until
// there is one.
var taking = lazily(`(?i)(^|[^a-z])(take|taken|pop|next|claim|consume|dequeue|reserve|acquire|nonce|once|one-?time|wait|watch|poll|subscribe|after|since|cursor|offset|page)([^a-z]|$)`)

// otherIn finds a place in a function that makes its results differ, and says how.
func otherIn(c *code, d declaration) (at token.Pos, says string) {
	note := func(n ast.Node, text string) {
		if says == "" {
			at, says = n.Pos(), text
		}
	}
	counters := countedIn(d.Body)
	eachNode(d.Body, func(n ast.Node, around []ast.Node) {
		switch n := n.(type) {
		case *ast.BasicLit:
			if n.Kind == token.STRING && len(n.Value) < 200 && taking.MatchString(n.Value) && isAddress(n.Value) {
				note(n, "asks for "+n.Value)
			}
		case *ast.CallExpr:
			name := types.ExprString(n.Fun)
			_, alone := parent(around).(*ast.ExprStmt)
			switch {
			case calledName(n) == "Value" && len(n.Args) == 1 && isContext(receiverOf(n)):
				note(n, "reads a value of the context")
			case strings.HasPrefix(name, "rand.") && !strings.HasPrefix(name, "rand.New"):
				note(n, "draws a random number")
			case !alone && strings.HasPrefix(name, "atomic.Add") && len(n.Args) == 2:
				note(n, "counts "+types.ExprString(n.Args[0])+" and uses the count")
			case !alone && calledName(n) == "Add" && len(n.Args) == 1 && isAtomic(c, receiverOf(n)):
				note(n, "counts "+types.ExprString(receiverOf(n))+" and uses the count")
			}
		case *ast.IncDecStmt:
			if x := types.ExprString(n.X); counters[x] > 1 && outlivesCalls(d, n.X) {
				note(n, "counts "+x+" and uses the count")
			}
		case *ast.AssignStmt:
			if n.Tok == token.ADD_ASSIGN && outlivesCalls(d, n.Lhs[0]) && counters[types.ExprString(n.Lhs[0])] > 1 {
				note(n, "adds to "+types.ExprString(n.Lhs[0])+" and uses the sum")
			}
		}
	})
	return at, says
}

func parent(around []ast.Node) ast.Node {
	if len(around) == 0 {
		return nil
	}
	return around[len(around)-1]
}

// isAddress tells of a text that it looks like a path, a query or a command, and not like a
// sentence.
func isAddress(text string) bool {
	return strings.ContainsAny(text, "/?=") && strings.Count(text, " ") < 2
}

// countedIn is how often variables and fields are named in a function, by their texts.
func countedIn(body ast.Node) map[string]int {
	n := map[string]int{}
	ast.Inspect(body, func(node ast.Node) bool {
		switch x := node.(type) {
		case *ast.SelectorExpr:
			n[types.ExprString(x)]++
		case *ast.Ident:
			n[x.Name]++
		}
		return true
	})
	return n
}

// outlivesCalls tells of an expression that it outlives the calls of a function: a field of its
// receiver, or a variable of the package.
func outlivesCalls(d declaration, x ast.Expr) bool {
	root, fields := chain(x)
	fn := scopeOf(d.FuncDecl)
	return root != "" && (root == fn.receiver && len(fields) > 0 || root != fn.receiver && !fn.declares(root))
}

// isAtomic tells whether the sources declare what an expression names last as one of package
// sync/atomic.
func isAtomic(c *code, x ast.Expr) (found bool) {
	name := lastName(types.ExprString(x))
	c.eachSource(func(_ string, s *syntax) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Field:
				found = found || strings.HasPrefix(types.ExprString(n.Type), "atomic.") && isAmong(n.Names, name)
			case *ast.ValueSpec:
				found = found || n.Type != nil && strings.HasPrefix(types.ExprString(n.Type), "atomic.") && isAmong(n.Names, name)
			}
			return !found
		})
	})
	return found
}

// changers are methods, by the beginnings of their names, that change what they are called on.
var changers = lazily(`^(?i:add|append|push|insert|put|set|write|store|delete|remove|reset|clear|next|pop|fill|merge|sort|shuffle|seek|read|scan|update|observe|record|inc)`)

// usesUp tells whether the caller changes the result of a call, so that it cannot be kept: it
// writes into it, gives it to what writes into it, or calls a method that does. A result that the
// function returns is its caller's, the next on the way.
func usesUp(c *code, call *ast.CallExpr, way []stack.Frame) (where string, used bool) {
	d := c.function(way[0])
	if d == nil {
		return "", false
	}
	at := func(n ast.Node) string {
		return fmt.Sprintf("%s:%d", baseName(way[0].File), c.parse(way[0].File).fset.PositionFor(n.Pos(), false).Line)
	}
	name, returned := "", false
	ast.Inspect(d.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if len(n.Rhs) == 1 && n.Rhs[0] == ast.Expr(call) && isIdent(n.Lhs[0]) {
				name = types.ExprString(n.Lhs[0])
			}
		case *ast.ReturnStmt:
			returned = returned || slices.ContainsFunc(n.Results, func(x ast.Expr) bool { return x == ast.Expr(call) })
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.SelectorExpr); ok && f.X == ast.Expr(call) && changesReceiver(c, f.Sel.Name) {
				where, used = at(n), true
			}
		}
		return !used
	})
	if used {
		return where, true
	}
	if name != "" && name != "_" {
		ast.Inspect(d.Body, func(n ast.Node) bool {
			if used {
				return false
			}
			for _, x := range changedBy(n) {
				if root, _ := chain(x); root == name && !isIdent(x) {
					where, used = at(n), true
				}
			}
			switch n := n.(type) {
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.SelectorExpr); ok && isNamed(f.X, name) && changesReceiver(c, f.Sel.Name) || len(n.Args) > 0 && isNamed(unrefer(n.Args[0]), name) && writesInto(n) {
					where, used = at(n), true
				}
			case *ast.ReturnStmt:
				returned = returned || slices.ContainsFunc(n.Results, func(x ast.Expr) bool { return isNamed(x, name) })
			}
			return true
		})
	}
	if used || !returned || len(way) < 2 {
		return where, used
	}
	for _, outer := range c.lineCalls(way[1]) {
		if calledName(outer) == d.Name.Name {
			return usesUp(c, outer, way[1:])
		}
	}
	return "", false
}

func isIdent(x ast.Expr) bool {
	_, ok := x.(*ast.Ident)
	return ok
}

// writesInto tells of a call that it changes its first argument, by its name.
func writesInto(call *ast.CallExpr) bool {
	name := types.ExprString(call.Fun)
	for _, p := range []string{"io.Write", "io.Copy", "fmt.Fprint", "sort.", "slices.Sort", "slices.Reverse", "rand.Shuffle", "heap.", "binary.Write"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// changesReceiver tells of a method that it changes what it is called on: by the source where it
// is there, else by its name.
func changesReceiver(c *code, method string) bool {
	known := false
	for _, d := range c.functions()[method] {
		if d.Recv == nil {
			continue
		}
		known = true
		fn := scopeOf(d.FuncDecl)
		found := false
		ast.Inspect(d.Body, func(n ast.Node) bool {
			for _, x := range changedBy(n) {
				root, _ := chain(x)
				found = found || root == fn.receiver && !isIdent(x)
			}
			return !found
		})
		if found {
			return true
		}
	}
	return !known && (changers.MatchString(method) || configures.MatchString(method))
}

// readsVariable finds a variable of the package that a function, or what it calls, reads and that is changed while the program
// runs: in a function that is not of its start, or in a loop of main. at is where that is.
func readsVariable(c *code, d declaration) (at, of string) {
	changed := map[string]change{}
	for _, x := range changesOf(c) {
		if isPackageVariable(c, x.root) && !scopeOf(x.in.FuncDecl).declares(x.root) && (!x.starts || inLoopOfMain(c, x)) {
			changed[x.root] = x
		}
	}
	if len(changed) == 0 {
		return "", ""
	}
	seen, level := map[*ast.FuncDecl]bool{d.FuncDecl: true}, []declaration{d}
	for range resultDepth {
		var next []declaration
		for _, d := range level {
			fn := scopeOf(d.FuncDecl)
			eachNode(d.Body, func(n ast.Node, around []ast.Node) {
				if call, ok := n.(*ast.CallExpr); ok {
					if of := c.functions()[calledName(call)]; len(of) == 1 && !seen[of[0].FuncDecl] {
						seen[of[0].FuncDecl] = true
						next = append(next, of[0])
					}
				}
				id, ok := n.(*ast.Ident)
				if !ok || of != "" || fn.declares(id.Name) {
					return
				}
				x, known := changed[id.Name]
				sel, selects := parent(around).(*ast.SelectorExpr)
				if known && x.in.FuncDecl != d.FuncDecl && !(selects && sel.Sel == id) {
					at, of = fileLine(x.in.file, c.parse(x.in.file).fset.PositionFor(x.at, false).Line), id.Name
				}
			})
		}
		level = next
	}
	return at, of
}

// inLoopOfMain tells of a change that a loop of main makes it.
func inLoopOfMain(c *code, x change) (in bool) {
	if x.in.Name.Name != "main" {
		return false
	}
	eachNode(x.in.Body, func(n ast.Node, around []ast.Node) {
		in = in || n.Pos() == x.at && slices.ContainsFunc(around, isLoop)
	})
	return in
}
