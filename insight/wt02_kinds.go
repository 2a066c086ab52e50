package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"loupe/value/stack"
)

// What the calls of a loop have in common, by its source: whether each carries a batch already, or
// is one of a fixed list of different ones, or changes something, or all are of one transaction.

// tellKind makes a finding about many calls say what fits these.
func tellKind(c *code, t *traced, o *outward, f *Finding) {
	if o.kind == "file_call" {
		f.Title = "Calls on files are made one after another, many times"
	}
	if o.kind != "query" && o.kind != "network" && o.kind != "network_write" {
		return
	}
	batch, fixed, same, unused, size, way := false, false, false, false, 0, o.path
	for i, at := range o.path {
		loops := loopsAround(c, at)
		if len(loops) == 0 {
			continue
		}
		callee := innerOf(t.Frames(o.stack), o.path)
		if i > 0 {
			callee = o.path[i-1].Func
		}
		l := loops[len(loops)-1]
		batch, fixed, way = l.batches(at.Line, ownName(callee)), l.fixedTexts(at.Line), o.path[:i+1]
		size = batchSize(c, l)
		same = l.asksTheSame(at.Line, ownName(callee), nil)
		if ignored := ignoredArguments(c, at, ownName(callee)); !same && len(ignored) > 0 {
			unused = l.asksTheSame(at.Line, ownName(callee), ignored)
		}
		break
	}
	how := changesBy(c, t.Frames(o.stack), way)
	if o.asksPeers(c, way) {
		f.Title = "Several peers are asked one after another"
		f.Summary = strings.Replace(f.Summary, "the same call to a peer", "a call to another peer", 1)
		f.Doubts = append(f.Doubts, "if the peers have to come one after another (locks in an order, one at a time that is down), that is the purpose")
		if slices.ContainsFunc(way, func(f stack.Frame) bool { return inOrder.MatchString(ownName(f.Func)) }) {
			f.Severity = Info
		}
		f.Advice = "By the source, each call is one to another peer, with a connection of its own: they cannot be combined. Make them concurrently, with a limit (errgroup with SetLimit), so that a peer that does not answer delays nobody else; and give each call a time limit that suits a peer that is up."
		return
	}
	inTx := slices.ContainsFunc(t.Frames(o.stack), func(f stack.Frame) bool { return strings.HasPrefix(f.Func, "database/sql.(*Tx).") })
	switch {
	case (same || unused) && !inTx:
		f.Title, f.Severity = "The same call is made repeatedly, with the same arguments", Info
		says := "the call is given the same in each turn"
		if unused {
			f.Title, says = "The same call is made repeatedly, and asks for the same", "the call asks for the same in each turn: what it is given is not used"
		}
		f.Advice = "By the source, " + says + ". If the peer gives another answer each time (the next number, the next entry), ask for as many as are needed in one call: made concurrently, the calls would be answered in any order. If the answer is the same each time, ask once, before the loop."
	case batch:
		f.Summary = strings.Replace(f.Summary, "the same call to a peer", "a call to a peer", 1)
		tellBatches(size, how, f)
	case fixed:
		f.Title, f.Severity = "A list of calls is made one after another", Info
		f.Summary = strings.Replace(f.Summary, "the same call to a peer", "a call to a peer", 1)
		f.Advice = "By the source, each call is another one of a fixed list: combine them if the peer can answer several in one exchange (one statement, a script, a pipeline), or make those concurrently that do not depend on each other."
		f.Doubts = append(f.Doubts, "the calls may have to come in this order, as the commands of a protocol or of a transaction do")
	case inTx:
		f.Advice = "Ask for all at once, or change all at once: one statement with many keys or rows (IN, a join, VALUES with many rows), as the driver and the database permit. Within a transaction, which has one connection, the calls cannot be made concurrently."
	case o.sends() >= mostlyTransfer:
		tellTransfer(c, o, how, f)
	case how != "":
		tellWrites(c, how, way, f)
	default:
		tellPeerOrder(c, o.path, way, f)
	}
	if n := o.pieceWaits(); n >= manyPieces && f.Severity == Warning {
		f.Severity = Info
		f.Doubts = append(f.Doubts, fmt.Sprintf("each answer comes in about %.0f pieces: if most of the time is their transfer, several calls at once gain nothing where the bandwidth or the peer is the limit", n))
	}
}

// tellKindOf is tellKind for the waits of such calls.
func tellKindOf(w *waiting, in *Input, t *traced, f *Finding) {
	if f.Advice == differentCalls {
		f.Severity = Info
		f.Doubts = append(f.Doubts, "each call may need what an earlier one has given")
		return
	}
	for _, o := range outwards(w.group) {
		if o.path[0] == w.site.Frame {
			title := f.Title
			tellKind(in.code, t, o, f)
			f.Title = title
			return
		}
	}
}

// peerNames are names of what a loop goes through that are addresses of peers.
var peerNames = lazily(`(?i)(host|endpoint|addr|address|peer|node|server|agent|replica|target|member|shard|backend|upstream)(e?s)?$`)

// asksPeers tells of calls of a loop, the last frame of the way, that each goes to another peer: the loop goes through
// what is an address by its name, and about as many connections are made on the way.
func (o *outward) asksPeers(c *code, way []stack.Frame) bool {
	at := way[len(way)-1]
	loops := loopsAround(c, at)
	if len(loops) == 0 {
		return false
	}
	r, ok := loops[len(loops)-1].stmt.(*ast.RangeStmt)
	if !ok || r.Value == nil || !peerNames.MatchString(lastName(types.ExprString(r.Value))) && !peerNames.MatchString(lastName(types.ExprString(r.X))) {
		return false
	}
	dials := int64(0)
	for _, other := range outwards(o.group) {
		if other.kind == "dial" && slices.Contains(other.path, at) {
			dials += other.calls
		}
	}
	return 5*dials >= 4*o.calls
}

// asksTheSame tells whether what a call of a function on a line of a loop is given, and made on, is the same in every
// turn: nothing of it is set within the loop, nor may be changed through a pointer. Arguments that are not used, by their numbers, do not count.
func (l loop) asksTheSame(line int, callee string, ignored map[int]bool) bool {
	set := map[string]bool{}
	note := func(x ast.Expr) {
		if x != nil {
			set[rootName(x)] = true
		}
	}
	ast.Inspect(l.stmt, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				note(x)
			}
		case *ast.IncDecStmt:
			note(n.X)
		case *ast.RangeStmt:
			note(n.Key)
			note(n.Value)
		case *ast.ValueSpec:
			for _, id := range n.Names {
				note(id)
			}
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				note(n.X)
			}
		case *ast.CallExpr: // a method may change what it is called on: Next, Add, Scan
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && calledName(n) != callee {
				note(s.X)
			}
		}
		return true
	})
	delete(set, "")
	on, calls, differs := calledOn(l.source, line), 0, false
	ast.Inspect(l.body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || !on(call) || calledName(call) != callee {
			return true
		}
		calls++
		ast.Inspect(call, func(n ast.Node) bool {
			if x, ok := n.(ast.Expr); ok && ignored[slices.Index(call.Args, x)] {
				return false
			}
			switch n := n.(type) {
			case *ast.Ident:
				differs = differs || set[n.Name]
			case *ast.CallExpr:
				differs = differs || n != call // which may give something else each time
			case *ast.UnaryExpr:
				differs = differs || n.Op == token.ARROW
			case *ast.FuncLit:
				differs = true
			}
			return !differs
		})
		differs = differs || len(call.Args) == 0 || !slices.ContainsFunc(call.Args, func(x ast.Expr) bool { return !isContext(x) })
		return true
	})
	return calls == 1 && !differs
}

// ignoredArguments are the arguments, by their numbers, that the function which is called on a line does nothing with but to log them.
func ignoredArguments(c *code, at stack.Frame, callee string) map[int]bool {
	if c.session == nil {
		return nil
	}
	d := derivationsOf(c)
	in, ok := d.at(at)
	if !ok {
		return nil
	}
	ignored := map[int]bool{}
	for _, call := range d.callsOn(in, at, callee) {
		fn := d.t.callee(call)
		if fn == nil || d.t.decls[fn] == nil {
			return nil
		}
		decl := d.t.decls[fn]
		if !hasCall(decl.Body, func(asked *ast.CallExpr) bool {
			return isOutward(calledName(asked)) || strings.HasPrefix(calledName(asked), "NewRequest")
		}) {
			return nil // what it asks for is not seen there
		}
		for i := range call.Args {
			v := parameterAt(d, decl, i)
			ignored[i] = v != nil && !hasNode(decl.Body, func(n ast.Node) bool {
				id, ok := n.(*ast.Ident)
				return ok && d.variable(id) == v && !onlyLogged(d, decl.Body, id)
			})
		}
	}
	return ignored
}

// onlyLogged tells of a use of a variable that it is an argument of a call that logs.
func onlyLogged(d *derivations, body *ast.BlockStmt, id *ast.Ident) bool {
	return slices.ContainsFunc(nodesAt(body, id.Pos()), func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		return ok && tellsPackages.MatchString(lastPart(d.t.fromPackage(uninstantiated(call))))
	})
}

// batches tells whether a call of a function on a line of a loop is given several items: a chunk of
// a list, or what has been gathered until it was enough.
func (l loop) batches(line int, callee string) bool {
	w := turnsOf(l.source, l.body)
	chunk := ""
	if r, ok := l.stmt.(*ast.RangeStmt); ok && r.Key != nil {
		if call, ok := r.X.(*ast.CallExpr); ok && types.ExprString(call.Fun) == "slices.Chunk" {
			chunk = rootName(r.Key)
		}
	}
	parts := map[string]bool{} // variables of the loop that a part of a list is cut into
	ast.Inspect(l.body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != len(a.Rhs) {
			return true
		}
		for i, x := range a.Rhs {
			if cut, ok := x.(*ast.SliceExpr); ok && l.cuts(cut) {
				parts[rootName(a.Lhs[i])] = true
			}
		}
		return true
	})
	for _, name := range gatheredBatches(l) {
		parts[name] = true
	}
	w.outer = func(name string) bool { return name == chunk && chunk != "" }
	on := calledOn(l.source, line)
	carries := func(x ast.Expr) bool {
		cut, ok := x.(*ast.SliceExpr)
		return ok && l.cuts(cut) || w.has(x) || w.comesOf(x, parts, 4)
	}
	return hasCall(l.body, func(call *ast.CallExpr) bool {
		return on(call) && calledName(call) == callee && slices.ContainsFunc(call.Args, carries)
	})
}

// cuts tells of a slice expression that it is a part of a list that changes from turn to turn: from
// one variable to another, or the first ones of what is then cut off.
func (l loop) cuts(x *ast.SliceExpr) bool {
	if x.High == nil || isLiteral(x.High) {
		return false
	}
	if x.Low != nil && !isLiteral(x.Low) {
		return true
	}
	rest := false
	ast.Inspect(l.body, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == 1 && len(a.Rhs) == 1 && a.Tok == token.ASSIGN {
			cut, is := a.Rhs[0].(*ast.SliceExpr)
			rest = rest || is && cut.Low != nil && cut.High == nil && types.ExprString(cut.X) == types.ExprString(a.Lhs[0]) && types.ExprString(cut.X) == types.ExprString(x.X)
		}
		return !rest
	})
	return rest
}

// comesOf tells whether an expression is made of some variables, within a few steps.
func (w *turns) comesOf(x ast.Node, names map[string]bool, steps int) (found bool) {
	if len(names) == 0 || steps == 0 {
		return false
	}
	ast.Inspect(x, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && !found {
			found = names[id.Name] || slices.ContainsFunc(w.named[id.Name], func(s *set) bool {
				return slices.ContainsFunc(s.from, func(n ast.Node) bool { return w.comesOf(n, names, steps-1) })
			})
		}
		return !found
	})
	return found
}

// differing are texts that are no keys: with several words, or the path of a resource.
var differing = lazily(`^(/|https?://)|\S\s+\S`)

// fixedTexts tells whether a loop goes through a list of texts that the source has, such as
// statements or commands, one of which is given to what is called on a line.
func (l loop) fixedTexts(line int) bool {
	r, ok := l.stmt.(*ast.RangeStmt)
	if !ok || r.Value == nil {
		return false
	}
	lit := listOf(l.source, r.X)
	if lit == nil {
		return false
	}
	texts, different := 0, map[string]bool{}
	ast.Inspect(lit, func(n ast.Node) bool {
		b, ok := n.(*ast.BasicLit)
		if ok && b.Kind == token.STRING {
			if text, err := strconv.Unquote(b.Value); err == nil && differing.MatchString(text) {
				texts++
				different[text] = true
			}
		}
		return true
	})
	if texts < 2 || len(different) < 2 || 3*texts < len(lit.Elts) {
		return false
	}
	w := turnsOf(l.source, l.body)
	w.outer = func(name string) bool { return isNamed(r.Value, name) }
	on := calledOn(l.source, line)
	return hasCall(l.body, func(call *ast.CallExpr) bool {
		return on(call) && slices.ContainsFunc(call.Args, func(x ast.Expr) bool { return w.has(x) })
	})
}

// listOf is the list that an expression is, or that the file sets a variable to and nothing else;
// nil where there is none.
func listOf(s *syntax, x ast.Expr) (lit *ast.CompositeLit) {
	if lit, ok := x.(*ast.CompositeLit); ok {
		return lit
	}
	name, sets := types.ExprString(x), 0
	note := func(left, right ast.Expr) {
		if types.ExprString(left) == name {
			sets++
			lit, _ = right.(*ast.CompositeLit)
		}
	}
	eachAssigned(s.file, note)
	if sets != 1 {
		return nil
	}
	return lit
}

// inOrder are the names of functions that change one peer after another for a reason.
var inOrder = lazily(`(?i)lock|acquire|restart|roll|upgrade|drain|promote|prepare|commit`)
