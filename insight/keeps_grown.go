package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/unit"
)

// Which one of several containers holds what goes into all of them: the one that grows has entries of its own in
// the heap profile, a table, a backing array or nodes that are made where something is put in.

// Bytes that a container has for its entries; chosen.
const (
	// leastEntries is what four samples of a heap profile stand for: less may be chance.
	leastEntries = 4 * 512 << 10
	// entryOfMap and entryOfSlice are what one entry takes at the least.
	entryOfMap   = 24
	entryOfSlice = 8
	// fewOfAllocated is the part of what was allocated for its entries that one which only grows has in use: a slice
	// that is copied at each fourth more has a fifth.
	fewOfAllocated = 1.0 / 8
)

// filledAt is a container with what a heap profile has of its entries.
type filledAt struct {
	keepsAt
	kept, allocated int64
	bound           Evidence // where the source takes something out of it at a length
	// flow is how often something went in and out, where that was counted.
	flow    countedFlow
	counted bool
}

// grew tells that entries of its own are in use; goes that most of them were released.
func (f filledAt) grew() bool { return f.kept >= leastEntries && !f.goes() }

func (f filledAt) goes() bool {
	return f.allocated >= leastEntries && float64(f.kept) < fewOfAllocated*float64(f.allocated)
}

// at is the line that fills it: "lru.go:64".
func (f filledAt) at() string { return fileLine(f.file, f.line) }

// lineText is the line of some evidence for a sentence: "lru.go:75".
func lineText(e Evidence) string { return fileLine(e.File, e.Line) }

// grownHolder chooses, where the source shows that a value goes into several containers, the one that holds it: by what
// the heap profile has of their entries, and where it has nothing, the one without a bound. It tells whether it is
// another one than the source alone has named.
func grownHolder(in *Input, own []stack.Frame, h holding) (holding, bool) {
	if h.into.file == "" || h.fixed {
		return h, false
	}
	c := sourceHolders{in.code}
	named, others := filledOthers(in, c.storesOf(own), h.into)
	if len(others) == 0 {
		return h, false
	}
	all := []*filledAt{&named}
	for i := range others {
		all = append(all, &others[i])
	}
	countFlows(in.code, all...)
	if keeps, ok := keptByCount(&named, others); ok {
		return heldByCount(c, h, keeps, all)
	}
	best := others[0]
	for _, o := range others[1:] {
		switch {
		case o.grew() != best.grew():
			if o.grew() {
				best = o
			}
		case (o.bound.File == "") != (best.bound.File == ""):
			if o.bound.File == "" {
				best = o
			}
		case o.kept > best.kept:
			best = o
		}
	}
	out := named.bound.File != "" || named.goes()
	byHeap := best.grew() && (!named.grew() && best.kept >= 4*named.kept || named.bound.File != "" && best.bound.File == "")
	bySource := !named.grew() && !best.grew() && out && best.bound.File == "" && !best.goes()
	if !byHeap && !bySource {
		if !named.grew() && best.line != named.line {
			tellBoth(&h, named, best)
		}
		return h, false
	}
	other, ok := c.stored(best.keepsAt)
	if !ok {
		return h, false
	}
	other.into = best.keepsAt
	other.says += saysOther(named, best)
	if lets := letsOut(named, h); lets.File != "" {
		other.advice = fmt.Sprintf("Where an entry leaves %s (%s), it has to leave %s too. ", named.name, lineText(lets), best.name) + other.advice
		other.shows = append(other.shows, lets)
	}
	return other, true
}

// letsOut is where something is taken out of a container; the zero Evidence where nothing is.
func letsOut(named filledAt, h holding) Evidence {
	if h.lets.File != "" {
		return h.lets
	}
	return named.bound
}

// saysOther is why another container than the one that comes first holds the value.
func saysOther(named, best filledAt) string {
	text := ""
	if best.grew() {
		text = fmt.Sprintf(", which has %s in use for its own entries", unit.BytesOf(float64(best.kept)))
	}
	text += fmt.Sprintf("; it goes into %s at %s as well, ", named.name, named.at())
	switch {
	case named.goes():
		return text + fmt.Sprintf("but of %s allocated for its entries %s are in use", unit.BytesOf(float64(named.allocated)), unit.BytesOf(float64(named.kept)))
	case named.bound.File != "":
		return text + fmt.Sprintf("but that has a bound at %s", lineText(named.bound))
	}
	return text + fmt.Sprintf("but that has %s in use for its entries", unit.BytesOf(float64(named.kept)))
}

// filledOthers are the container that a value goes into, and the others that it goes into at other lines.
func filledOthers(in *Input, all []keepsAt, into keepsAt) (named filledAt, others []filledAt) {
	heap := mostInUse(in)
	of := func(s keepsAt) filledAt {
		f := filledAt{keepsAt: s, bound: boundOfStore(in.code, s)}
		if heap != nil {
			for _, line := range append(nodesBeside(in.code, s), s.line) {
				kept, allocated := heap.EntriesAt(s.file, line)
				f.kept, f.allocated = f.kept+kept, f.allocated+allocated
			}
		}
		return f
	}
	for _, s := range all {
		if s.part || s.kind == intoField || s.wraps || s.name == into.name && s.container == into.container || s.file == into.file && s.line == into.line {
			continue
		}
		others = append(others, of(s))
	}
	return of(into), others
}

// mostInUse is the heap profile with the most in use; nil where there is none.
func mostInUse(in *Input) *facts.InUse {
	all, err := facts.RetentionIn(in.Facts)
	if err != nil || all == nil || all.Most == nil {
		return nil
	}
	return all.Most.InUse
}

// stands tells of a container that the heap profile has none of the entries in use which it would have, had it kept what
// a line has in use: so it is not what holds it, unless it was made large enough beforehand.
func stands(in *Input, own []stack.Frame, s keepsAt) bool {
	heap := mostInUse(in)
	if heap == nil || s.file == "" || len(own) == 0 || s.file == own[0].File && s.line == own[0].Line {
		return false
	}
	each := int64(entryOfMap)
	if s.kind == intoSlice || s.kind == intoLinked || s.kind == intoChannel {
		each = entryOfSlice
	}
	if each*in.Facts.ObjectsThrough(own[:1], leastSeen) < leastEntries {
		return false
	}
	f, _ := filledOthers(in, nil, s)
	return f.kept == 0 || f.goes()
}

// tellStands says of what goes into a container that does not grow that something else may hold it.
func tellStands(in *Input, own []stack.Frame, h *holding) bool {
	if h.lets.File == "" || !stands(in, own, h.into) {
		return false
	}
	h.advice = fmt.Sprintf("It goes into %s, but of the entries made at %s:%d next to nothing is in use in the heap profile: unless it was made large enough beforehand, something else holds it. Look for what else it is given to.", h.into.container, baseName(h.into.file), h.into.line)
	return true
}

// nodesBeside are the lines of a function that make what a store puts in, where that is an object of its own: a node, an
// entry that goes by its address.
func nodesBeside(c *code, s keepsAt) (lines []int) {
	x := c.parse(s.file)
	fn := c.function(stack.Frame{File: s.file, Line: s.line})
	if x == nil || fn == nil {
		return nil
	}
	put := map[string]bool{}
	x.onLine(s.line, func(n ast.Node, _ []ast.Node) {
		var values []ast.Expr
		switch n := n.(type) {
		case *ast.AssignStmt:
			values = n.Rhs
		case *ast.CallExpr:
			values = n.Args
		}
		for _, v := range values {
			if id, ok := v.(*ast.Ident); ok {
				put[id.Name] = true
			}
		}
	})
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
			return true
		}
		id, ok := a.Lhs[0].(*ast.Ident)
		if line, _ := x.lines(a); ok && put[id.Name] && makesObject(a.Rhs[0]) && line != s.line {
			lines = append(lines, line)
		}
		return true
	})
	return lines
}

// makesObject tells of the address of a composite literal, and of new.
func makesObject(x ast.Expr) bool {
	if call, ok := x.(*ast.CallExpr); ok {
		return isNamed(call.Fun, "new")
	}
	_, ok := x.(*ast.UnaryExpr)
	return ok && isComposite(x)
}

// boundOfStore is where the function that puts something into a container takes something out of it when a length is
// reached: beside the store, or around it. The zero Evidence where it does not.
func boundOfStore(c *code, s keepsAt) (at Evidence) {
	x := c.parse(s.file)
	fn := c.function(stack.Frame{File: s.file, Line: s.line})
	if x == nil || fn == nil {
		return at
	}
	name := lastName(s.container)
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		block, ok := n.(*ast.BlockStmt)
		if !ok || !x.covers(block, s.line) {
			return !ok
		}
		for _, stmt := range block.List {
			cond, body := conditionOf(stmt)
			if cond == nil || at.File != "" || !comparesLength(cond) || !takesOutOf(c, body, name, 1) {
				continue
			}
			line, _ := x.lines(cond)
			at = c.shownAt(s.file, line, "something is removed from %s when a length is reached", s.container)
		}
		return true
	})
	return at
}

// takesOutOf tells whether a block, or what it calls so many levels down, takes something out of a container of a name.
func takesOutOf(c *code, body *ast.BlockStmt, name string, levels int) (out bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if out = out || removesFrom(n, name); out || levels == 0 {
				return !out
			}
			if all := c.functions()[calledName(n)]; len(all) == 1 {
				out = takesOutOf(c, all[0].Body, name, levels-1)
			}
		case *ast.AssignStmt:
			out = out || slices.ContainsFunc(n.Rhs, func(r ast.Expr) bool {
				cut, ok := r.(*ast.SliceExpr)
				return ok && lastName(types.ExprString(cut.X)) == name
			}) && len(n.Lhs) == 1 && lastName(types.ExprString(n.Lhs[0])) == name
		}
		return !out
	})
	return out
}
