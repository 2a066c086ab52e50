package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// Whether two calls that decode the same variable decode the same bytes, one after the other.

// bytesRepeat tells of two ways from a variable to a decoder that one run of a function goes both, with the bytes unchanged,
// and neither is needed to know whether the other has to be gone. nested tells that one is a part of the other.
func bytesRepeat(d *derivations, a, b *bytesPlaceUse) (repeats, nested bool) {
	i, j := a.steps, b.steps
	for ; i >= 0 && j >= 0 && a.of.steps[i].node == b.of.steps[j].node; i, j = i-1, j-1 {
	}
	if i < 0 || j < 0 {
		return false, true
	}
	one, two := a.of.steps[i], b.of.steps[j]
	if one.in.decl != two.in.decl || within(one.node, two.node) || within(two.node, one.node) {
		return false, false
	}
	if one.node.Pos() > two.node.Pos() {
		one, two, a, b = two, one, b, a
	}
	if a.of.maker != nil && a.of.maker == b.of.maker && a.of.steps[0].node != b.of.steps[0].node { // the next one of a stream
		return false, false
	}
	body := ast.Node(one.in.decl.Body)
	switch {
	case bytesApart(body, one.node, two.node), contradict(body, one.node, two.node), !sameTurn(body, one.node, two.node):
	case bothAsked(a, b, one, two), !bytesAlike(a.of, b.of):
	case !bytesStay(d, one, two), bytesDecides(d, one, two):
	default:
		return true, false
	}
	return false, false
}

// bytesApart tells of two nodes of a function that it comes to one of them alone: they are in different branches, or the
// first is in one that ends there.
func bytesApart(body, a, b ast.Node) bool {
	one, two := nodesAround(body, a), nodesAround(body, b)
	i := 0
	for i < len(one) && i < len(two) && one[i] == two[i] {
		i++
	}
	if i == 0 || i >= len(one) || i >= len(two) {
		return false
	}
	switch parent := one[i-1].(type) {
	case *ast.IfStmt:
		return one[i] == ast.Node(parent.Body) && two[i] == parent.Else
	case *ast.BlockStmt:
		switch clause := one[i].(type) {
		case *ast.CaseClause:
			if _, other := two[i].(*ast.CaseClause); other {
				return !slices.ContainsFunc(clause.List, func(x ast.Expr) bool { return within(x, a) })
			}
		case *ast.CommClause:
			return true
		}
	}
	return endsAfter(one[i-1:])
}

// endsAfter tells of nodes around one that what follows the second of them is not reached from there: it is part of a
// statement that leaves, or in a list of statements that ends so.
func endsAfter(around []ast.Node) bool {
	turns, breaks := false, false // of a loop or a switch that is left, and no more
	for k := len(around) - 1; k >= 1; k-- {
		switch n := around[k].(type) {
		case *ast.ReturnStmt:
			return true
		case *ast.ForStmt, *ast.RangeStmt:
			turns, breaks = true, true
		case *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
			breaks = true
		case *ast.FuncLit:
			return false
		default:
			list := statements(n)
			if len(list) == 0 || k == len(around)-1 {
				continue
			}
			switch last := list[len(list)-1].(type) {
			case *ast.ReturnStmt:
				return true
			case *ast.BranchStmt:
				if last.Tok == token.GOTO || last.Tok == token.CONTINUE && !turns || last.Tok == token.BREAK && !breaks || last.Label != nil {
					return true
				}
			case *ast.ExprStmt:
				if call, ok := last.X.(*ast.CallExpr); ok && slices.Contains([]string{"panic", "Exit", "Fatal", "Fatalf", "Fatalln", "Goexit"}, calledName(call)) {
					return true
				}
			}
		}
	}
	return false
}

// contradict tells of two nodes that conditions around them are never both true.
func contradict(body, a, b ast.Node) bool {
	type asked struct {
		text, than string
		is         bool
	}
	conditions := func(of ast.Node) (all []asked) {
		var add func(x ast.Expr, is bool)
		add = func(x ast.Expr, is bool) {
			switch x := ast.Unparen(x).(type) {
			case *ast.UnaryExpr:
				if x.Op == token.NOT {
					add(x.X, !is)
					return
				}
			case *ast.BinaryExpr:
				switch {
				case x.Op == token.LAND && is, x.Op == token.LOR && !is:
					add(x.X, is)
					add(x.Y, is)
					return
				case isError(rootName(x.X)): // another one each time
					return
				case x.Op == token.EQL, x.Op == token.NEQ:
					all = append(all, asked{types.ExprString(x.X), types.ExprString(x.Y), is == (x.Op == token.EQL)})
					return
				}
			}
			all = append(all, asked{types.ExprString(x), "", is})
		}
		nodes := nodesAround(body, of)
		for i, n := range nodes[:max(0, len(nodes)-1)] {
			if n, ok := n.(*ast.IfStmt); ok && (nodes[i+1] == ast.Node(n.Body) || nodes[i+1] == n.Else) && !within(n, a) != !within(n, b) {
				add(n.Cond, nodes[i+1] == ast.Node(n.Body))
			}
		}
		return all
	}
	of := conditions(b)
	return slices.ContainsFunc(conditions(a), func(x asked) bool {
		return slices.ContainsFunc(of, func(y asked) bool {
			return x.text == y.text && (x.than == y.than && x.is != y.is || x.than != y.than && x.is && y.is && x.than != "" && y.than != "")
		})
	})
}

// sameTurn tells of two nodes that no loop, and no function without a name, has one of them and not the other.
func sameTurn(body, a, b ast.Node) bool {
	alone := func(of, other ast.Node) bool {
		return slices.ContainsFunc(nodesAround(body, of), func(n ast.Node) bool {
			lit, is := n.(*ast.FuncLit)
			return (isLoop(n) && inTurnOf(n, of) || is && ast.Node(lit) != of) && !within(n, other)
		})
	}
	return !alone(a, b) && !alone(b, a)
}

// inTurnOf tells of a part of a loop that each turn comes to it: what a range goes through, and what a loop begins with, are
// evaluated once, before the first turn.
func inTurnOf(loop, part ast.Node) bool {
	switch n := loop.(type) {
	case *ast.RangeStmt:
		return !within(n.X, part)
	case *ast.ForStmt:
		return n.Init == nil || !within(n.Init, part)
	}
	return true
}

// bothAsked tells of two ways that a condition of its own decides on each: a run may go one of them alone.
func bothAsked(a, b *bytesPlaceUse, one, two *bytesStep) bool {
	asked := func(u *bytesPlaceUse, from *bytesStep, other ast.Node) bool {
		for _, s := range u.of.steps[:slices.Index(u.of.steps, from)+1] {
			if s != from {
				other = nil
			}
			if bytesAskedBefore(s.in.decl.Body, s.node, other) {
				return true
			}
		}
		return false
	}
	return asked(a, one, two.node) && asked(b, two, one.node)
}

// bytesAskedBefore tells of a node of a function that a condition decides whether it is reached, and not by that whether the
// other one is. What asks for an error alone is none.
func bytesAskedBefore(body, of, other ast.Node) bool {
	both := func(n ast.Node) bool { return other != nil && within(n, other) }
	nodes := nodesAround(body, of)
	for i, n := range nodes[:max(0, len(nodes)-1)] {
		next := nodes[i+1]
		switch n := n.(type) {
		case *ast.IfStmt:
			if (next == ast.Node(n.Body) || next == n.Else) && !both(n) && !asksError(n.Cond, token.EQL) && !asksError(n.Cond, token.NEQ) {
				return true
			}
		case *ast.CaseClause:
			if !both(n) && !slices.ContainsFunc(n.List, func(x ast.Expr) bool { return ast.Node(x) == next }) {
				return true
			}
		}
		for _, s := range statements(n) {
			if s == next {
				break
			}
			s, ok := s.(*ast.IfStmt)
			if ok && !(both(n) && s.Pos() < other.Pos()) && leavesInOrder(s.Body.List) && !asksError(s.Cond, token.EQL) && !asksError(s.Cond, token.NEQ) {
				return true
			}
		}
	}
	return false
}

// bytesStay tells that nothing changes what two steps of a function go through, between them.
func bytesStay(d *derivations, a, b *bytesStep) bool {
	decl := a.in.decl
	between := func(at token.Pos) bool { return a.node.End() <= at && at < b.node.Pos() }
	fields := append(slices.Clone(a.fields), b.fields...)
	for _, v := range append(slices.Clone(a.objs), b.objs...) {
		for _, def := range d.definitions(decl)[v] {
			inFirst := def.unknown && len(fields) == 0 && !isStruct(v.Type()) && a.node.Pos() <= def.at && def.at < a.node.End()
			if inFirst || between(def.at) && (!def.part || len(fields) == 0) {
				return false
			}
		}
		if bytesRewritten(d, decl, v, between) {
			return false
		}
	}
	for _, v := range fields {
		if bytesFieldSet(d, decl, v, a.node, b.node, between) {
			return false
		}
	}
	return true
}

// bytesRewritten tells whether something between two places of a function writes into what a variable refers to.
func bytesRewritten(d *derivations, decl *ast.FuncDecl, v types.Object, between func(token.Pos) bool) (found bool) {
	is := func(x ast.Expr) bool { return d.variable(ast.Unparen(pointed(innermost(x)))) == v }
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || found || !between(call.Pos()) {
			return !found
		}
		name := calledName(call)
		if sel, method := ast.Unparen(call.Fun).(*ast.SelectorExpr); method && isIdent(sel.X) && is(sel.X) && d.t.callee(call) == nil { // of a bytes.Buffer
			found = strings.HasPrefix(name, "Read") || strings.HasPrefix(name, "Write") || name == "Reset" || name == "Truncate" || name == "Next"
		}
		if strings.HasPrefix(name, "Read") || strings.HasPrefix(name, "Put") || name == "copy" || name == "clear" {
			found = found || slices.ContainsFunc(call.Args, is)
		}
		return !found
	})
	if found || !mayRefer(v.Type()) {
		return found
	}
	return slices.ContainsFunc(d.changesOfAny(v), func(c changing) bool { return c.in == decl && between(c.at) })
}

// bytesFieldSet tells whether a field may be set between two calls of a function, or by one of them, unless that is done
// only where it is not set yet.
func bytesFieldSet(d *derivations, decl *ast.FuncDecl, field types.Object, a, b ast.Node, between func(token.Pos) bool) bool {
	changes := slices.DeleteFunc(slices.Clone(d.writes()[field]), func(c changing) bool { return setWhereUnset(c, field.Name()) })
	if len(changes) == 0 {
		return false
	}
	parts := []ast.Node{a, b}
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && between(call.Pos()) {
			parts = append(parts, call)
		}
		return true
	})
	for _, c := range changes {
		if c.in == decl && between(c.at) {
			return true
		}
		for _, part := range parts {
			if _, called := d.reached(decl, part)[c.in]; called {
				return true
			}
		}
	}
	return false
}

// setWhereUnset tells of a change of a field that a condition asks first whether it is set.
func setWhereUnset(c changing, field string) bool {
	for _, n := range nodesAt(c.in.Body, c.at) {
		s, ok := n.(*ast.IfStmt)
		if !ok || c.at < s.Body.Pos() || c.at >= s.Body.End() {
			continue
		}
		if cond, ok := ast.Unparen(s.Cond).(*ast.BinaryExpr); ok && cond.Op == token.EQL && strings.HasSuffix(strings.TrimSuffix(types.ExprString(cond.X), ")"), "."+field) {
			return true
		}
	}
	return false
}

// bytesDecides tells of two calls that what the first one has decoded decides whether, or into what, the second decodes: a
// kind that is read first.
func bytesDecides(d *derivations, a, b *bytesStep) bool {
	body, from, own := a.in.decl.Body, map[types.Object]bool{}, map[types.Object]bool{}
	part := "" // of a variable, where it is decoded into that
	if into := intoOf(d, a); into != nil {
		x := ast.Unparen(unrefer(ast.Unparen(into)))
		if v := d.variable(x); v != nil {
			from[v], own[v] = true, true
		} else {
			part = types.ExprString(x)
		}
	}
	names := func(x ast.Node) bool {
		if x, ok := x.(ast.Expr); ok && part != "" && strings.Contains(types.ExprString(x), part) {
			return true
		}
		return mentionsVars(d, x, from)
	}
	for range 4 {
		ast.Inspect(body, func(n ast.Node) bool {
			s, ok := n.(*ast.AssignStmt)
			if !ok {
				return true
			}
			for i, lhs := range s.Lhs {
				rhs := s.Rhs[min(i, len(s.Rhs)-1)]
				if v := d.variable(ast.Unparen(lhs)); v != nil && !isError(v.Name()) && !within(rhs, b.node) && (within(rhs, a.node) || names(rhs)) {
					from[v] = true
				}
			}
			return true
		})
	}
	if call, ok := b.node.(*ast.CallExpr); ok {
		for _, arg := range call.Args {
			if arg == intoOf(d, b) {
				if v := d.variable(ast.Unparen(arg)); v != nil && from[v] && !own[v] {
					return true
				}
			} else if names(arg) {
				return true
			}
		}
	}
	nodes := nodesAround(body, b.node)
	for i, n := range nodes[:max(0, len(nodes)-1)] {
		next := nodes[i+1]
		switch n := n.(type) {
		case *ast.IfStmt:
			if (next == ast.Node(n.Body) || next == n.Else) && names(n.Cond) {
				return true
			}
		case *ast.SwitchStmt:
			if next == ast.Node(n.Body) && n.Tag != nil && names(n.Tag) {
				return true
			}
		case *ast.CaseClause:
			if slices.ContainsFunc(n.List, func(x ast.Expr) bool { return names(x) }) {
				return true
			}
		}
		for _, s := range statements(n) {
			if s == next {
				break
			}
			if s, ok := s.(*ast.IfStmt); ok && names(s.Cond) && leavesInOrder(s.Body.List) {
				return true
			}
		}
	}
	return false
}

// intoOf is what a step decodes into; nil where it is none that decodes.
func intoOf(d *derivations, of *bytesStep) ast.Expr {
	call, ok := of.node.(*ast.CallExpr)
	if !ok || !bytesDecoders.MatchString(ownCallName(call)) || d.t.callee(call) != nil {
		return nil
	}
	_, into, _ := decodedText(d, of.in, call)
	return into
}

// leavesInOrder tells of statements that they end a turn or the function, and not with an error.
func leavesInOrder(list []ast.Stmt) bool {
	if len(list) == 0 {
		return false
	}
	switch last := list[len(list)-1].(type) {
	case *ast.BranchStmt:
		return true
	case *ast.ReturnStmt:
		return !slices.ContainsFunc(last.Results, func(x ast.Expr) bool {
			_, basic := x.(*ast.BasicLit)
			return !basic && !isNamed(x, "nil") && !isNamed(x, "true") && !isNamed(x, "false")
		})
	}
	return false
}

// triesBytes tells of two calls that the second is made where the first has failed.
func triesBytes(body ast.Node, a, b ast.Node) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		s, ok := n.(*ast.IfStmt)
		if !ok || found {
			return !found
		}
		own := s.Init != nil && within(s.Init, a) || within(s.Cond, a)
		failed := asksError(s.Cond, token.NEQ) && within(s.Body, b)
		done := asksError(s.Cond, token.EQL) && !within(s, b) && leavesLoop(s.Body.List)
		found = own && (failed || done)
		return !found
	})
	return found
}
