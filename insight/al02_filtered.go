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

// Copies of all items of a list, of which a later step copies again what it keeps: the first copies need not be made.

// filteredTitle is that of a finding about such copies.
const filteredTitle = "Items are copied before a filter that drops most of them"

// clonesFiltered is a line that copies each item, and the later one that copies again what a condition keeps.
type clonesFiltered struct {
	first, kept stack.Frame
	list        string
	in          string // the function of the later one, where it is another one
	part        float64
}

// mostDropped is the part of the copies up to which those that are kept are few: chosen.
const mostDropped = 0.5

// filteredAfter finds that of the copies made at the line that makes most of them the source drops most, by a condition
// that comes only after them.
func (x *clones) filteredAfter(d *derivations) (c clonesFiltered, ok bool) {
	c.first = heaviestFrame(x.users)
	in, found := d.at(c.first)
	if !found || in.lit != nil || 2*x.users[c.first] < x.bytes {
		return c, false
	}
	call, loop, conditional := cloneCallAt(d, in, c.first.Line)
	if call == nil || loop == nil || conditional {
		return c, false
	}
	list := clonesGatheredIn(d, loopBody([]ast.Node{loop}), call)
	if list == nil || isGiven(in.decl, list) || !isLocal(in.decl, list) {
		return c, false
	}
	c.list = list.Name()
	for at, bytes := range x.users {
		if at == c.first || float64(bytes) > mostDropped*float64(x.users[c.first]) {
			continue
		}
		to, found := d.at(at)
		if !found || to.lit != nil {
			continue
		}
		again, loop, conditional := cloneCallAt(d, to, at.Line)
		over, isRange := loop.(*ast.RangeStmt)
		if again == nil || !isRange || !conditional || over.Value == nil || !mentionsVars(d, again, map[types.Object]bool{d.variable(over.Value): true}) {
			continue
		}
		var passes ast.Node = over
		of := d.variable(ast.Unparen(over.X))
		if to.decl != in.decl {
			passes = clonesPassedTo(d, in.decl, to.decl, list, of)
		} else if of != list {
			continue
		}
		if passes == nil || passes.Pos() < call.End() || !onlyFilters(d, in.decl, list, passes, call) {
			continue
		}
		if part := float64(bytes) / float64(x.users[c.first]); !ok || part > c.part {
			c.kept, c.part, c.in, ok = at, part, "", true
			if to.decl != in.decl {
				c.in = to.decl.Name.Name
			}
		}
	}
	return c, ok
}

// cloneCallAt is the call on a line of a function whose name says that it copies, the innermost loop around it, and
// whether a condition in the loop decides about it.
func cloneCallAt(d *derivations, in frameCode, line int) (call *ast.CallExpr, loop ast.Node, conditional bool) {
	eachNode(in.decl.Body, func(n ast.Node, around []ast.Node) {
		x, is := n.(*ast.CallExpr)
		if !is || call != nil || !cloneNames.MatchString(ownCallName(x)) {
			return
		}
		if _, at, _ := d.t.at(x.Lparen); at != line {
			return
		}
		call = x
		for _, outer := range slices.Backward(around) {
			switch outer := outer.(type) {
			case *ast.ForStmt, *ast.RangeStmt:
				loop = outer
			case *ast.IfStmt, *ast.CaseClause, *ast.CommClause, *ast.FuncLit:
				conditional = true
			}
			if loop != nil {
				break
			}
		}
	})
	if loop == nil {
		return call, nil, conditional
	}
	ast.Inspect(loopBody([]ast.Node{loop}), func(n ast.Node) bool {
		b, is := n.(*ast.BranchStmt)
		_, returns := n.(*ast.ReturnStmt)
		conditional = conditional || (is || returns) && n.Pos() < call.Pos() && (returns || b.Tok != token.FALLTHROUGH)
		return true
	})
	return call, loop, conditional
}

// clonesGatheredIn is the list that each copy is put into in a turn of a loop, at once or by a variable, whatever it is.
func clonesGatheredIn(d *derivations, body *ast.BlockStmt, call *ast.CallExpr) (list types.Object) {
	copied := map[types.Object]bool{}
	for _, s := range body.List {
		set, ok := s.(*ast.AssignStmt)
		if !ok || len(set.Lhs) != 1 || len(set.Rhs) != 1 || !within(set, call) && !mentionsVars(d, set.Rhs[0], copied) {
			continue
		}
		lhs := ast.Unparen(set.Lhs[0])
		if i, ok := lhs.(*ast.IndexExpr); ok {
			lhs = i.X
		}
		v := d.variable(lhs)
		if v == nil {
			return nil
		}
		if _, isList := v.Type().Underlying().(*types.Slice); isList {
			return v
		}
		copied[v] = true
	}
	return nil
}

// clonesPassedTo is the call in a function that gives a list to another one as the parameter that its loop goes through.
func clonesPassedTo(d *derivations, in, to *ast.FuncDecl, list, parameter types.Object) (passes ast.Node) {
	if parameter == nil {
		return nil
	}
	ast.Inspect(in.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || ownCallName(call) != to.Name.Name {
			return true
		}
		if arg := argumentFor(d, to, call, parameter); arg != nil && d.variable(ast.Unparen(arg)) == list {
			passes = call
		}
		return true
	})
	return passes
}

// onlyFilters tells whether nothing but the filter uses a list that copies were put into.
func onlyFilters(d *derivations, in *ast.FuncDecl, list types.Object, passes ast.Node, call *ast.CallExpr) bool {
	only := true
	eachNode(in.Body, func(n ast.Node, around []ast.Node) {
		id, ok := n.(*ast.Ident)
		if !ok || d.variable(id) != list || within(passes, id) && !bodyHas(passes, id) {
			return
		}
		for _, outer := range slices.Backward(around) {
			switch outer := outer.(type) {
			case *ast.AssignStmt:
				if within(outer, call) || outer.Tok == token.DEFINE || outer.End() < call.Pos() || d.variable(outer.Lhs[0]) == list {
					return
				}
			case *ast.ValueSpec:
				return
			case *ast.CallExpr:
				if isNamed(outer.Fun, "len") || isNamed(outer.Fun, "cap") {
					return
				}
			}
		}
		only = false
	})
	return only
}

// bodyHas tells of a loop whether something is in its body.
func bodyHas(loop, x ast.Node) bool {
	over, ok := loop.(*ast.RangeStmt)
	return ok && within(over.Body, x)
}

// tellFiltered makes a finding about a function that copies one about the line whose copies a filter drops.
func (x *clones) tellFiltered(in *Input, c clonesFiltered, entry string, f *Finding) {
	where := fileLine(c.kept.File, c.kept.Line)
	f.Title = filteredTitle
	f.Summary += fmt.Sprintf("; %s of the bytes are copied at %s in %s, before a condition at %s keeps %s of them, which are copied there again", unit.Percent(float64(x.users[c.first])/float64(max(1, x.bytes))),
		fileLine(c.first.File, c.first.Line), stack.Short(c.first.Func), where, unit.Percent(c.part))
	to := "the loop there"
	if c.in != "" {
		to = c.in
	}
	f.Advice = fmt.Sprintf("Filter first, copy what is left: put the originals into %s, as %s (%s) makes a copy of its own of each item that it keeps. The other %s of the copies are dropped unread but for the condition, which needs none.", c.list, to, where, unit.Percent(1-c.part))
	f.Doubts = []string{"if the originals are guarded by a lock, the condition has to be asked under it too"}
	heads := []Evidence{
		in.code.shownAt(c.first.File, c.first.Line, "each item is copied here, whether it is kept or not"),
		in.code.shownAt(c.kept.File, c.kept.Line, "what the condition keeps is copied again here: %s as much", unit.Percent(c.part)),
	}
	for i, at := range []stack.Frame{c.first, c.kept} {
		heads[i].Function, heads[i].Path = at.Func, cmp.Or(heads[i].Path, entry)
	}
	f.Evidence = append(heads, f.Evidence[:min(len(f.Evidence), 4)]...)
	f.costs = []cost{{file: c.first.File, line: c.first.Line, callee: stack.FoldGenerics(x.name)}}
	f.Verify = strings.Replace(f.Verify, "should be gone from", "should have far less in", 1)
}
