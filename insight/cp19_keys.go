package insight

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
	"loupe/value/unit"
)

// sortKeyCall is a line of a comparison, and what it calls there for one element alone.
type sortKeyCall struct {
	at     stack.Frame
	callee string
	// seldom tells that a condition on both elements decides before that whether it is called.
	seldom bool
}

// tellSortKeys says of a sort that most of its time goes into what the comparison computes of one element alone; it
// tells whether that is so.
func tellSortKeys(h *hit, f *Finding) bool {
	v := h.in.view(h.p)
	weights := map[sortKeyCall]int64{}
	var sum, keys int64
	known := map[[2]stack.FrameID]*sortKeyCall{}
	for id, w := range h.p.Samples(h.index) {
		frames := h.p.Stacks.Frames(id)
		j := slices.IndexFunc(frames, func(x stack.FrameID) bool { return inSet("sort", h.p.Stacks.Frame(x).Func) })
		if w <= 0 || j < 0 || !h.hasLine(v, frames, j) {
			continue
		}
		sum += w
		at := j
		for at--; at >= 0 && v.origins[frames[at]] != stack.User; at-- {
		}
		if at < 1 {
			continue
		}
		way, own := make([]stack.Frame, at+1), make([]bool, at+1)
		for i := range way {
			way[i], own[i] = h.p.Stacks.Frame(frames[i]), v.origins[frames[i]] == stack.User
		}
		pair := [2]stack.FrameID{frames[at], frames[at-1]}
		k, ok := known[pair]
		if !ok {
			if x, found := sortKeyAt(h.in.code, way, own); found {
				k = &x
			}
			if !own[at-1] || k != nil {
				known[pair] = k // what a function of the program does with both depends on what that calls
			}
		}
		if k != nil {
			weights[*k] += w
			keys += w
		}
	}
	if keys == 0 || float64(keys) < halfOfAll*float64(sum) {
		return false
	}
	var all []sortKeyCall
	for k := range weights {
		all = append(all, k)
	}
	slices.SortFunc(all, func(a, b sortKeyCall) int {
		return cmp.Or(cmp.Compare(weights[b], weights[a]), cmp.Compare(a.at.Line, b.at.Line), strings.Compare(a.callee, b.callee))
	})
	h.tellKeys(f, all, weights, keys)
	return true
}

// hasLine tells whether a stack, whose sort is at a position, is one of the hit's lines.
func (h *hit) hasLine(v *view, frames []stack.FrameID, sort int) bool {
	user := nextUser(v, frames, sort+1)
	if user < 0 {
		return false
	}
	x := h.p.Stacks.Frame(frames[user])
	return slices.ContainsFunc(h.lines, func(l *hitLine) bool { return l.Caller.File == x.File && l.Caller.Line == x.Line })
}

// tellKeys words a finding about keys, the heaviest first.
func (h *hit) tellKeys(f *Finding, all []sortKeyCall, weights map[sortKeyCall]int64, keys int64) {
	top, line, share := all[0], h.lines[0].Caller, h.interval(keys)
	name := stack.Short(stack.FoldGenerics(top.callee))
	f.Title = "Sort keys are computed again in each comparison"
	f.Summary = fmt.Sprintf("%s of the CPU time goes into %s, which the comparison of the sort at %s:%d calls for one element at a time (%s:%d): the key of each of n elements is computed about 2·log2 n times",
		unit.Percent(share.Estimate), name, baseName(line.File), line.Line, baseName(top.at.File), top.at.Line)
	f.Impact = &Impact{share.Estimate, f.Impact.Unit, share.Low, share.High}
	if f.Severity = Info; share.Low >= h.rule.param(h.warn) {
		f.Severity = Warning
	}
	f.costs = nil
	var shown []Evidence
	for _, k := range all {
		f.costs = append(f.costs, cost{file: k.at.File, line: k.at.Line, callee: k.callee})
		if len(shown) < evidenceLines-1 && weights[k] >= keys/20 && !slices.ContainsFunc(shown, func(e Evidence) bool { return e.File == k.at.File && e.Line == k.at.Line }) {
			shown = append(shown, h.in.lineAt(h.entry, k.at, "%d of %d samples in %s, for one element", weights[k], h.all, stack.Short(stack.FoldGenerics(k.callee))))
		}
		if k.seldom && weights[k]*2 >= keys {
			f.Doubts = append(f.Doubts, "a condition decides whether the comparison computes the key: if it seldom does, a key for each element may be more work")
		}
	}
	f.Evidence = append(shown, slices.DeleteFunc(f.Evidence, func(e Evidence) bool {
		return slices.ContainsFunc(shown, func(s Evidence) bool { return s.File == e.File && s.Line == e.Line })
	})...)
	f.Advice = fmt.Sprintf("Compute the key of each element once before the sort, with one call of %s each: into a slice of struct{key, element}, or a field of the element, and let the comparison compare the keys only.", name)
}

// sortKeyAt finds what a comparison, the last of the frames, calls for one element alone; own tells which frames are
// the program's.
func sortKeyAt(c *code, way []stack.Frame, own []bool) (key sortKeyCall, ok bool) {
	at := len(way) - 1
	fn := c.scopeAt(way[at])
	if fn == nil || fn.params == nil {
		return key, false
	}
	of := sortParts{}
	if names := fieldNames(fn.params); len(names) == 2 {
		of[names[0]], of[names[1]] = 1, 2
	} else {
		return key, false
	}
	for ; at > 0; at-- {
		of.follow(fn.body)
		calls := sortCallsOn(c.parse(way[at].File), fn.body, way[at], ownName(way[at-1].Func))
		if len(calls) == 0 {
			return key, false
		}
		parts, one := 0, true
		for _, call := range calls {
			p := of.parts(call)
			parts, one = parts|p, one && (p == 1 || p == 2)
		}
		key.seldom = key.seldom || of.decides(fn.body, calls[0].Pos())
		if one {
			key.at, key.callee = way[at], way[at-1].Func
			return key, sortKeyWorks(c, way[at-1], own[at-1], filledHere(c, way[at-1], fn.body, calls[0]))
		}
		// Both are given to another function of the program, which may compute the keys.
		if parts != 3 || len(calls) != 1 || !own[at-1] {
			return key, false
		}
		inner := c.scopeAt(way[at-1])
		if inner == nil || inner.name == "" {
			return key, false
		}
		next := sortParts{}
		for i, name := range fieldNames(inner.params) {
			if i < len(calls[0].Args) {
				next[name] = of.parts(calls[0].Args[i])
			}
		}
		if method, isMethod := calls[0].Fun.(*ast.SelectorExpr); isMethod && inner.receiver != "" {
			next[inner.receiver] = of.parts(method.X)
		}
		fn, of = inner, next
	}
	return key, false
}

// fieldNames are the names of parameters in their order.
func fieldNames(list *ast.FieldList) (names []string) {
	for _, field := range list.List {
		for _, id := range field.Names {
			names = append(names, id.Name)
		}
	}
	return names
}

// sortCallsOn are the calls of a name within a body that cover the line of a frame; nil without the source.
func sortCallsOn(s *syntax, body ast.Node, f stack.Frame, name string) (all []*ast.CallExpr) {
	if s == nil {
		return nil
	}
	ast.Inspect(body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && s.covers(call, f.Line) && calledName(call) == name {
			all = append(all, call)
		}
		return true
	})
	return all
}

// sortParts are, of the names in a comparison, which of the two elements their values come from: 1, 2 or 3 for both.
type sortParts map[string]int

// parts tells which elements an expression is made of.
func (of sortParts) parts(x ast.Node) (sum int) {
	ast.Inspect(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			sum |= of.parts(n.X)
			return false
		case *ast.Ident:
			sum |= of[n.Name]
		}
		return true
	})
	return sum
}

// follow adds the variables of a body.
func (of sortParts) follow(body ast.Node) {
	add := func(left ast.Expr, p int) {
		if name := rootName(left); left != nil && name != "" && name != "_" {
			of[name] |= p
		}
	}
	for range 3 { // one may be made of another that is set further down, in a loop
		ast.Inspect(body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for i, left := range n.Lhs {
					if id, ok := left.(*ast.Ident); ok && id.Name == "err" {
						continue // of one call after the other
					}
					add(left, of.parts(n.Rhs[min(i, len(n.Rhs)-1)]))
				}
			case *ast.RangeStmt:
				add(n.Key, of.parts(n.X))
				add(n.Value, of.parts(n.X))
			case *ast.ValueSpec:
				for i, name := range n.Names {
					if len(n.Values) > 0 {
						add(name, of.parts(n.Values[min(i, len(n.Values)-1)]))
					}
				}
			}
			return true
		})
	}
}

// decides tells whether a condition on both elements, which leaves the function or not, comes before a place or is
// around it.
func (of sortParts) decides(body ast.Node, pos token.Pos) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		x, ok := n.(*ast.IfStmt)
		if ok && x.Cond.End() <= pos && of.parts(x.Cond) == 3 {
			around := x.Pos() <= pos && pos < x.End()
			ast.Inspect(x.Body, func(n ast.Node) bool {
				_, leaves := n.(*ast.ReturnStmt)
				found = found || leaves || around
				return !found
			})
		}
		return !found
	})
	return found
}

// sortKeyWorks tells of what a comparison calls that it computes something, the same each time for the same element: it
// only returns nothing that the element has already, keeps nothing, and asks for no chance, lock or counter.
func sortKeyWorks(c *code, f stack.Frame, own bool, filled map[string]bool) bool {
	if !own {
		switch pkg := stack.Package(f.Func); pkg {
		case "sync", "sync/atomic", "math/rand", "math/rand/v2", "crypto/rand", "runtime", "unsafe", "os", "net":
			return false
		case "time":
			name := ownName(f.Func)
			return strings.HasPrefix(name, "Parse") || name == "Format" || name == "AppendFormat" || name == "String" || name == "LoadLocation"
		default:
			return !strings.HasPrefix(pkg, "internal/")
		}
	}
	fn := c.scopeAt(f)
	if fn == nil || fn.name == "" {
		return false
	}
	works, keeps := false, false
	ast.Inspect(fn.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			works = true
		case *ast.CallExpr:
			name := types.ExprString(n.Fun)
			works = works || name != "len" && name != "cap"
			keeps = keeps || sortKeyKeepers[lastName(name)] || strings.HasPrefix(name, "rand.") || strings.HasPrefix(name, "atomic.")
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				id, plain := left.(*ast.Ident)
				keeps = keeps || !plain && !declares(fn.body, rootName(left)) && !filled[rootName(left)] || plain && n.Tok != token.DEFINE && id.Name != "_" && !fn.declares(id.Name) && !isResultName(c, f, id.Name)
			}
		case *ast.IncDecStmt:
			keeps = keeps || !declares(fn.body, rootName(n.X))
		}
		return true
	})
	return works && !keeps
}

// sortKeyKeepers are methods by which a function keeps what it has computed.
var sortKeyKeepers = map[string]bool{"Do": true, "Store": true, "LoadOrStore": true, "Lock": true, "RLock": true, "Swap": true}

// filledHere are the parameters of a function that a comparison gives values to which it has just made: what is put in there belongs to the key.
func filledHere(c *code, f stack.Frame, body *ast.BlockStmt, call *ast.CallExpr) map[string]bool {
	filled, fn := map[string]bool{}, c.scopeAt(f)
	if fn == nil {
		return filled
	}
	for i, name := range fieldNames(fn.params) {
		if i < len(call.Args) {
			id, ok := unrefer(call.Args[i]).(*ast.Ident)
			filled[name] = ok && declares(body, id.Name)
		}
	}
	return filled
}

// isResultName tells whether a name is one of the results of the function that a frame is in.
func isResultName(c *code, f stack.Frame, name string) bool {
	fn := c.function(f)
	return fn != nil && fn.Type.Results != nil && slices.Contains(fieldNames(fn.Type.Results), name)
}
