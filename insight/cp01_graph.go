package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"
	"time"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

// A walk over a graph that keeps nothing about where it was: what several paths lead to is computed once for each path.

// graphWalk is a function that calls itself for each of what a value leads to.
type graphWalk struct {
	decl   *ast.FuncDecl
	over   string // what it goes through: "n.Deps"
	line   int    // of the call of itself
	byName bool   // what it goes through is a graph by its name or its type, and no tree
	number bool   // it gives a number, a truth value or a pointer, which can be kept as it is
	bare   bool   // it does nothing but to call itself and to compute with numbers
}

// graphs are names of fields, maps and functions that lead to what others lead to as well, unlike the children of a tree.
var graphs = lazily(`(?i)dep(s|end)|requir|import|edge|neighbo|^adj|parent|^refs?$|referen|links?$|^preds?$|predecess|^succs?$|success|prereq|upstream|downstream|^inputs?$|^uses$|extends|inherit|includes?$|needs$|blocks$|blockedby`)

// walksGraph tells of the function of a frame that it is one.
func walksGraph(d *derivations, at stack.Frame) (g graphWalk, ok bool) {
	in, found := d.at(at)
	if !found || in.lit != nil || !computesOrFills(d, in.decl) || remembers(d, in.decl) {
		return g, false
	}
	g = graphWalk{decl: in.decl, bare: true}
	self := d.t.info.Defs[in.decl.Name]
	eachNode(in.decl.Body, func(n ast.Node, around []ast.Node) {
		call, is := n.(*ast.CallExpr)
		if !is {
			return
		}
		fn := d.t.callee(call)
		tv := d.t.info.Types[ast.Unparen(call.Fun)]
		if fn == nil || types.Object(fn) != self {
			g.bare = g.bare && (tv.IsType() || tv.IsBuiltin())
			return
		}
		for i := len(around) - 1; i >= 0 && !ok; i-- {
			loop, is := around[i].(*ast.RangeStmt)
			if !is || !leadsOn(d, in.decl, loop, call) {
				continue
			}
			ok = true
			g.over = types.ExprString(loop.X)
			_, g.line, _ = d.t.at(call.Pos())
			g.byName = graphs.MatchString(lastName(strings.TrimSuffix(types.ExprString(outermostName(loop.X)), "()"))) || keyedBy(d, in.decl, loop.X)
		}
	})
	if ok && in.decl.Type.Results != nil {
		switch of := d.t.typeOf(in.decl.Type.Results.List[0].Type); {
		case of == nil:
		default:
			_, basic := of.Underlying().(*types.Basic)
			_, pointer := of.Underlying().(*types.Pointer)
			g.number = pointer || basic && of.Underlying().(*types.Basic).Info()&types.IsString == 0
		}
	}
	return g, ok
}

// outermostName is what an expression names last: n.Deps of n.Deps, and of n.Deps[1:]; g.edges of g.edges[name].
func outermostName(x ast.Expr) ast.Expr {
	for {
		switch n := ast.Unparen(x).(type) {
		case *ast.IndexExpr:
			x = n.X
		case *ast.SliceExpr:
			x = n.X
		case *ast.CallExpr:
			x = n.Fun
		default:
			return n
		}
	}
}

// computesOrFills tells of a function that it changes nothing but maps that it is given, where it gives no result.
func computesOrFills(d *derivations, decl *ast.FuncDecl) bool {
	f := d.of(decl)
	if f == nil || f.locks {
		return false
	}
	if decl.Type.Results != nil {
		return len(f.fills) == 0
	}
	for v := range f.fills {
		if _, isMap := v.Type().Underlying().(*types.Map); !isMap {
			return false
		}
	}
	return len(f.fills) > 0
}

// leadsOn tells of a loop that it goes through what a parameter leads to, and of a call of the function itself that it is for
// an element of that, everything else being as the function was given it.
func leadsOn(d *derivations, decl *ast.FuncDecl, loop *ast.RangeStmt, call *ast.CallExpr) bool {
	element := map[types.Object]bool{}
	for _, x := range []ast.Expr{loop.Key, loop.Value} {
		if x != nil {
			element[d.variable(x)] = true
		}
	}
	delete(element, nil)
	given := map[types.Object]bool{}
	for _, v := range parametersOf(d, decl) {
		given[v] = true
	}
	from := func(x ast.Node, of map[types.Object]bool) (found bool) {
		ast.Inspect(x, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok || found {
				return !found
			}
			v := d.variable(id)
			if found = of[v]; !found && v != nil && isLocal(decl, v) {
				for _, def := range d.definitions(decl)[v] {
					found = found || def.x != nil && def.x.End() <= id.Pos() && !within(def.x, id) && mentionsVars(d, def.x, of)
				}
			}
			return !found
		})
		return found
	}
	if !from(loop.X, given) {
		return false
	}
	args := slices.Clone(call.Args)
	if decl.Recv != nil {
		args = append(args, receiverOf(call))
	}
	moves := 0
	for _, x := range args {
		if x == nil {
			return false
		}
		switch v := d.variable(ast.Unparen(x)); {
		case given[v], d.t.info.Types[x].Value != nil: // as it was given, or a constant
		case from(x, element):
			moves++
		default:
			return false
		}
	}
	return moves == 1
}

// mentionsVars tells whether something names one of some variables.
func mentionsVars(d *derivations, n ast.Node, of map[types.Object]bool) (found bool) {
	ast.Inspect(n, func(x ast.Node) bool {
		if id, ok := x.(*ast.Ident); ok && of[d.variable(id)] {
			found = true
		}
		return !found
	})
	return found
}

// keyedBy tells of an expression that it looks up, in a map, a parameter of the function itself: the lists of a graph by
// the names of its nodes.
func keyedBy(d *derivations, decl *ast.FuncDecl, x ast.Expr) bool {
	i, ok := ast.Unparen(x).(*ast.IndexExpr)
	if !ok {
		return false
	}
	of := d.t.typeOf(i.X)
	if of == nil {
		return false
	}
	_, isMap := of.Underlying().(*types.Map)
	v := d.variable(ast.Unparen(i.Index))
	return isMap && v != nil && isGiven(decl, v)
}

// notes are names of methods that tell of a set or a cache whether it has something.
var notes = lazily(`^(Has|Have|Contains|Add|Insert|Seen|Visit(ed)?|Exists|Load|LoadOrStore|Get|Lookup|Mark\w*|Do|Peek)$`)

// remembers tells of a function that it asks whether it was somewhere already: a set, a map that it fills, a field that it sets.
func remembers(d *derivations, decl *ast.FuncDecl) (found bool) {
	sets := map[string]bool{}
	eachAssigned(decl.Body, func(lhs, _ ast.Expr) {
		if i, ok := lhs.(*ast.IndexExpr); ok {
			lhs = i.X
		}
		if !isIdent(lhs) {
			sets[types.ExprString(lhs)] = true
		} else if v := d.variable(lhs); v != nil && isGiven(decl, v) {
			sets[types.ExprString(lhs)] = true
		}
	})
	asks := func(x ast.Node) {
		if x == nil {
			return
		}
		ast.Inspect(x, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.IndexExpr:
				of := d.t.typeOf(n.X)
				if of == nil {
					return true
				}
				m, isMap := of.Underlying().(*types.Map)
				if !isMap {
					return true
				}
				b, basic := m.Elem().Underlying().(*types.Basic)
				s, empty := m.Elem().Underlying().(*types.Struct)
				found = found || basic && b.Kind() == types.Bool || empty && s.NumFields() == 0 || sets[types.ExprString(n.X)]
			case *ast.SelectorExpr:
				found = found || sets[types.ExprString(n)]
				if of := d.t.typeOf(n); of != nil {
					b, basic := of.Underlying().(*types.Basic)
					found = found || basic && b.Kind() == types.Bool
				}
			case *ast.CallExpr:
				found = found || notes.MatchString(calledName(n))
			}
			return !found
		})
	}
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			asks(n.Cond)
			if n.Init != nil {
				asks(n.Init)
			}
		case *ast.SwitchStmt:
			if n.Tag != nil {
				asks(n.Tag)
			}
		case *ast.CaseClause:
			for _, x := range n.List {
				asks(x)
			}
		case *ast.AssignStmt: // v, ok := known[n]
			if len(n.Lhs) == 2 && len(n.Rhs) == 1 {
				asks(n.Rhs[0])
			}
		}
		return !found
	})
	return found
}

// slowestCall is what one call of a function that only calls itself and computes with numbers takes at most, and fewestBytes
// what a node takes at least: chosen, a few misses of the caches, and one pointer.
const (
	slowestCall = 200 * time.Nanosecond
	fewestBytes = 8
	manyTimes   = 10
)

// tellGraph says of a hot function that it walks over a graph; it is false where it does not.
func tellGraph(in *Input, d *derivations, w *facts.Weights, h *hotFunction, share stats.Interval, f *Finding) bool {
	at := h.line.Caller
	g, ok := walksGraph(d, at)
	if !ok {
		return false
	}
	f.Title = "A walk over a graph goes to the same place once for each path"
	f.Summary += fmt.Sprintf("; it calls itself for each of %s (line %d) and keeps nothing of where it was: what several paths lead to, if anything, is done once for each path, and each level can multiply their number", g.over, g.line)
	f.Evidence = append(f.Evidence, in.code.shownAt(at.File, g.line, "it calls itself here"))
	proof := g.countedAs(in, d, w, h)
	if proof != "" {
		f.Summary += "; " + proof
	} else {
		f.Doubts = append(f.Doubts, "in a tree, where one path leads to each node, nothing is done twice")
	}
	switch {
	case g.decl.Type.Results == nil:
		f.Advice = "Note where it was: return at once for what the map has already, or keep a set of the nodes for one walk. Then each node is gone to once."
	case g.number:
		f.Advice = "Keep the result of each node for one walk, in a map by the node or in a field of it, and look there first: then each node is computed once. The function computes it from what it is given alone, so a kept one is the same."
	default:
		f.Advice = "Give the walk a set of the nodes where it was, and collect into one result: then each node is gone to once. Where the result has to have a node once for each path, it grows with the number of paths."
	}
	if share.Low >= dominates && (proof != "" || g.byName) {
		f.Severity, f.saves, f.grows = Warning, true, true
		return true
	}
	f.Title = "A walk keeps nothing of where it was"
	f.Advice = "If several paths lead to the same node: " + strings.ToLower(f.Advice[:1]) + f.Advice[1:]
	return true
}

// countedAs is the proof by numbers: so many calls cannot each have been for another node. It is empty where the walk may
// have been begun often.
func (g *graphWalk) countedAs(in *Input, d *derivations, w *facts.Weights, h *hotFunction) string {
	if !g.bare || len(in.Facts.Rounds) == 0 {
		return ""
	}
	memory := int64(0)
	for _, r := range in.Facts.Rounds {
		memory = max(memory, r.MaxRSS)
	}
	name, self := h.line.Caller.Func, int64(0)
	for id, n := range w.Profile.Samples(w.Index) {
		frames := facts.Frames(w.Profile.Stacks, id)
		if len(frames) == 0 || n <= 0 || frames[0].Func != name {
			continue
		}
		last := 0
		for i, f := range frames {
			if f.Func == name {
				last = i
			}
		}
		for _, f := range frames[last+1:] {
			if stack.Package(f.Func) == "runtime" {
				continue
			}
			if !in.Session.Scope().IsUser(f) || len(loopsAround(in.code, f)) > 0 {
				return ""
			}
		}
		self += n
	}
	spent := time.Duration(self) * time.Duration(w.Profile.Period)
	calls, nodes := float64(spent)/float64(slowestCall), float64(memory)/fewestBytes
	if memory == 0 || calls < manyTimes*nodes {
		return ""
	}
	return fmt.Sprintf("%s of CPU time are at least %s million calls, and the program never had memory for more than %s million nodes", unit.Duration(spent), unit.Number(calls/1e6), unit.Number(nodes/1e6))
}
