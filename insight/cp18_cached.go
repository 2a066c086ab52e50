package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/value/stack"
)

// An expensive call behind a cache of the program's own: what it takes is what the misses take.

var (
	cachedAsks = lazily(`^(Contains|Has|Get|Load|Lookup|Exists|Peek|Find|Check|Known|Seen)$`)
	cachedPuts = lazily(`^(Put|Set|Add|Store|Insert|Remember|Save)$`)
)

// cachedCall is a call that is made only where a cache has nothing, and the method that puts results into it.
type cachedCall struct {
	asks int // the line that looks up
	put  string
	of   types.Object // the variable or field that is the cache
}

// cachedAt finds that the call on a line of a function stands between a look-up that leaves it and a put into the same cache.
func cachedAt(d *derivations, at stack.Frame) (c cachedCall, ok bool) {
	in, found := d.at(at)
	if !found || in.lit != nil {
		return c, false
	}
	cacheOf := func(call *ast.CallExpr) types.Object {
		sel, is := call.Fun.(*ast.SelectorExpr)
		if !is {
			return nil
		}
		if f, is := ast.Unparen(sel.X).(*ast.SelectorExpr); is {
			return d.field(f)
		}
		return d.variable(ast.Unparen(sel.X))
	}
	asked := map[types.Object]int{}
	for _, s := range in.decl.Body.List {
		_, line, _ := d.t.at(s.Pos())
		_, end, _ := d.t.at(s.End())
		x, isIf := s.(*ast.IfStmt)
		if isIf && end < at.Line && len(x.Body.List) > 0 {
			if _, leaves := x.Body.List[len(x.Body.List)-1].(*ast.ReturnStmt); leaves {
				for _, part := range []ast.Node{x.Init, x.Cond} {
					if part == nil {
						continue
					}
					ast.Inspect(part, func(n ast.Node) bool {
						if call, is := n.(*ast.CallExpr); is && cachedAsks.MatchString(calledName(call)) && len(call.Args) > 0 && cacheOf(call) != nil {
							asked[cacheOf(call)] = line
						}
						return true
					})
				}
			}
		}
		if line <= at.Line {
			continue
		}
		ast.Inspect(s, func(n ast.Node) bool {
			call, is := n.(*ast.CallExpr)
			if !is || ok || !cachedPuts.MatchString(calledName(call)) {
				return true
			}
			if of := cacheOf(call); of != nil && asked[of] > 0 {
				c, ok = cachedCall{asked[of], calledName(call), of}, true
			}
			return true
		})
	}
	return c, ok
}

// emptiedWhenFull finds the methods of a name that throw away all of a map where it has reached a length, by their receivers.
func emptiedWhenFull(d *derivations, put string) (lines map[string]codeLine, others []string) {
	lines = map[string]codeLine{}
	for _, decl := range d.t.decls {
		if decl.Recv == nil || decl.Name.Name != put || decl.Body == nil || len(decl.Recv.List) == 0 {
			continue
		}
		name := strings.TrimPrefix(types.ExprString(decl.Recv.List[0].Type), "*")
		var at ast.Node
		ast.Inspect(decl.Body, func(n ast.Node) bool {
			x, is := n.(*ast.IfStmt)
			if !is {
				return true
			}
			cond, is := ast.Unparen(x.Cond).(*ast.BinaryExpr)
			if !is || cond.Op != token.GEQ && cond.Op != token.GTR && cond.Op != token.EQL {
				return true
			}
			size, is := ast.Unparen(cond.X).(*ast.CallExpr)
			if !is || !isNamed(size.Fun, "len") || len(size.Args) != 1 {
				return true
			}
			of := types.ExprString(size.Args[0])
			for _, s := range x.Body.List {
				switch s := s.(type) {
				case *ast.AssignStmt:
					if len(s.Lhs) != 1 || len(s.Rhs) != 1 || types.ExprString(s.Lhs[0]) != of {
						continue
					}
					lit, isLit := ast.Unparen(s.Rhs[0]).(*ast.CompositeLit)
					call, isCall := ast.Unparen(s.Rhs[0]).(*ast.CallExpr)
					if isLit && len(lit.Elts) == 0 || isCall && isNamed(call.Fun, "make") {
						at = s
					}
				case *ast.ExprStmt:
					if call, is := s.X.(*ast.CallExpr); is && isNamed(call.Fun, "clear") && len(call.Args) == 1 && types.ExprString(call.Args[0]) == of {
						at = s
					}
				}
			}
			return true
		})
		if at != nil {
			lines[name] = d.placeOf(at)
		} else {
			others = append(others, name)
		}
	}
	return lines, others
}

// seenMethods tells whether a method of a type is on a stack of a profile of the recording.
func seenMethods(in *Input, receiver string) bool {
	for _, q := range []struct {
		of     facts.Question
		sample string
	}{{facts.CPU, "samples"}, {facts.Allocations, "alloc_space"}} {
		w, err := in.Facts.Weights(q.of, q.sample)
		if err != nil {
			continue
		}
		for id := range w.Profile.Samples(w.Index) {
			if slices.ContainsFunc(w.Profile.Stacks.Frames(id), func(f stack.FrameID) bool {
				name := w.Profile.Stacks.Frame(f).Func
				return strings.Contains(name, ".(*"+receiver+").") || strings.Contains(name, "."+receiver+".")
			}) {
				return true
			}
		}
	}
	return false
}

// tellCached says of repeated work that a cache of the program stands before it, and what empties that.
func tellCached(h *hit, f *Finding) bool {
	d, at := newDerivations(h.in.code), h.lines[0].Caller
	c, ok := cachedAt(d, at)
	if !ok {
		return false
	}
	file := baseName(at.File)
	f.Summary += fmt.Sprintf("; the program asks a cache first (%s:%d), so that this is what the misses take", file, c.asks)
	f.Evidence = append(f.Evidence, h.in.code.shownAt(at.File, c.asks, "the cache is asked here"))
	f.Advice = "There is a cache in front: count its hits and misses. Where many miss, look at how many entries it may have beside how many are asked for, at what its key is made of, and at what removes entries."
	severity := f.Severity
	f.Severity = Info // how many miss nobody knows
	lines, others := emptiedWhenFull(d, c.put)
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		line := lines[name]
		if len(lines) > 1 || len(others) > 0 && (!seenMethods(h.in, name) || slices.ContainsFunc(others, func(o string) bool { return seenMethods(h.in, o) })) {
			f.Advice += fmt.Sprintf(" If it is a %s: its %s throws all entries away when it is full (%s); evict one entry, not all.", name, c.put, line.text())
			f.Evidence = append(f.Evidence, h.in.code.shownAt(line.file, line.line, "a %s throws all entries away here", name))
			continue
		}
		f.Severity, f.Title = severity, "A cache is emptied when it is full, and all of it is computed again"
		f.Summary += fmt.Sprintf("; by the source, %s.%s throws all entries away when it is full (%s)", name, c.put, line.text())
		f.Advice = "Evict one entry, not all: when the cache is full, remove the oldest, the least recently used or any one (for k := range m { delete(m, k); break }) before the new one is put in. After each emptying all that is asked for misses once more. And let it have room for what is asked for again."
		f.Evidence = append([]Evidence{h.in.code.shownAt(line.file, line.line, "all entries are thrown away here")}, f.Evidence...)
		f.Evidence[0].Function, f.Evidence[0].Path = at.Func, h.entry.Path
	}
	return true
}
