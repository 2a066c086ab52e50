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
)

// Which of the things that are done under a lock are told: what is done to one place is one of them, and those come first that change what the rest of the
// program uses as well.

// toldSign is what is done to one place, or by one call.
type toldSign struct {
	place string // empty for a call
	what  string // of a call, as a clause
	does  []string
	at    [][]codeLine // of each of does
	first codeLine
	rank  int
}

// toldSigns are the signs by place, those that the lock is there for first. What the run never came to, by the counts of its blocks, is left out.
func toldSigns(p *lockPurpose) (all []toldSign) {
	for _, s := range guardedSigns(p) {
		place, does := s.place, ""
		switch {
		case s.what == s.place+" is changed":
			does = "changed"
		case s.rank == signChecks && strings.HasSuffix(s.what, " is checked"):
			place, does = strings.TrimSuffix(s.what, " is checked"), "checked"
		default:
			place = ""
		}
		i := slices.IndexFunc(all, func(o toldSign) bool {
			return place != "" && fieldOfPlace(o.place) == fieldOfPlace(place) && rootOfPlace(o.place) == rootOfPlace(place)
		})
		if i < 0 {
			i, all = len(all), append(all, toldSign{place: place, what: s.what, first: s.at, rank: 1 + int(s.rank)})
		}
		t := &all[i]
		if place != "" && len(place) < len(t.place) {
			t.place = place
		}
		if t.rank = min(t.rank, 1+int(s.rank)); does == "changed" && signUsedElsewhere(p, s) {
			t.rank = 0
		}
		k := slices.Index(t.does, does)
		if k < 0 {
			k, t.does, t.at = len(t.does), append(t.does, does), append(t.at, nil)
		}
		t.at[k] = append(t.at[k], s.at)
		t.first = earlier(t.first, s.at)
	}
	slices.SortStableFunc(all, func(a, b toldSign) int {
		return cmp.Or(a.rank-b.rank, strings.Compare(a.first.file, b.first.file), a.first.line-b.first.line)
	})
	return withOutside(all)
}

// guardedSigns are the signs that the run came to, but for changes of what another lock guards, if there is anything else.
func guardedSigns(p *lockPurpose) []lockSign {
	entered := slices.DeleteFunc(slices.Clone(p.signs), func(s lockSign) bool { return neverEnteredAt(p, s.at) })
	own := slices.DeleteFunc(slices.Clone(entered), func(s lockSign) bool {
		return (s.rank == signChanges || s.rank == signChecks) && underOtherLock(p, s.at)
	})
	if len(own) == 0 {
		return entered
	}
	return own
}

// underOtherLock tells of a line that it is under another lock than this one, by the source.
func underOtherLock(p *lockPurpose, at codeLine) bool {
	if p.u == nil || at.file == p.u.file && p.u.held.has(at.line) {
		return false
	}
	own, ok := p.c.takerAt(stack.Frame{File: p.u.file, Line: p.u.held.from})
	return ok && slices.ContainsFunc(p.c.heldIn(stack.Frame{File: at.file, Line: at.line}), func(h held) bool {
		by, known := p.c.takerAt(stack.Frame{File: at.file, Line: h.from})
		return known && h.has(at.line) && by.name != own.name
	})
}

// withOutside are the first of them; where none of these goes beyond the memory of the program, the last gives way to one that does.
func withOutside(all []toldSign) []toldSign {
	outside := func(t toldSign) bool { return 1+int(signPeer) <= t.rank && t.rank <= 1+int(signFile) }
	n := min(len(all), mostSigns)
	if i := slices.IndexFunc(all, outside); i >= n {
		all[n-1] = all[i]
	}
	return all[:n]
}

// earlier is the line of two that comes first.
func earlier(a, b codeLine) codeLine {
	if cmp.Or(strings.Compare(a.file, b.file), a.line-b.line) <= 0 {
		return a
	}
	return b
}

// rootOfPlace is the variable that a place begins with, by its text.
func rootOfPlace(place string) string {
	if i := strings.IndexAny(place, ".[("); i >= 0 {
		return place[:i]
	}
	return place
}

// says is it as a clause.
func (t toldSign) says(p *lockPurpose) string {
	if t.place == "" {
		return fmt.Sprintf("%s at %s%s", t.what, fileLine(t.first.file, t.first.line), onlyWithSetting(p, t.first))
	}
	var all []string
	for k, does := range t.does {
		var lines []string
		for _, at := range t.at[k][:min(len(t.at[k]), 3)] {
			lines = append(lines, fileLine(at.file, at.line)+onlyWithSetting(p, at))
		}
		all = append(all, does+" at "+andList(lines))
	}
	return t.place + " is " + andList(all)
}

// signUsedElsewhere tells of a change that what is changed is used in another function as well, which has not just made it.
func signUsedElsewhere(p *lockPurpose, s lockSign) bool {
	field := fieldOfPlace(s.place)
	for v := range p.state {
		if v.Name() != field {
			continue
		}
		for _, decl := range p.d.t.decls {
			if holdsPlace(p, decl, s.at) {
				continue
			}
			found := false
			ast.Inspect(decl.Body, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.SelectorExpr:
					found = found || p.d.field(n) == v && !isFreshPlace(p.d, decl, n)
				case *ast.Ident:
					found = found || ofPackage(v) && p.d.variable(n) == v
				}
				return !found
			})
			if found {
				return true
			}
		}
	}
	return false
}

// holdsPlace tells of a function that a line is in it.
func holdsPlace(p *lockPurpose, decl *ast.FuncDecl, at codeLine) bool {
	file, first, _ := p.d.t.at(decl.Pos())
	_, last, _ := p.d.t.at(decl.End())
	return file == at.file && first <= at.line && at.line <= last
}

// aroundSign are the nodes around a line, the innermost last: those that begin before it and end behind it.
func aroundSign(p *lockPurpose, at codeLine) (all []ast.Node) {
	for _, decl := range p.d.t.decls {
		if !holdsPlace(p, decl, at) {
			continue
		}
		ast.Inspect(decl, func(n ast.Node) bool {
			if n == nil {
				return false
			}
			_, first, _ := p.d.t.at(n.Pos())
			_, last, _ := p.d.t.at(n.End())
			if first > at.line || last < at.line {
				return false
			}
			if first < at.line {
				all = append(all, n)
			}
			return true
		})
		return all
	}
	return nil
}

// neverEnteredAt tells of a line that the innermost block around it was never entered while blocks were counted.
func neverEnteredAt(p *lockPurpose, at codeLine) bool {
	counts := blockCountsOf(p.c)
	if counts == nil {
		return false
	}
	for _, n := range slices.Backward(aroundSign(p, at)) {
		switch n.(type) {
		case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause:
			file, _, offset := p.d.t.at(openOf(n))
			times, ok := counts.blocks.Entered(file, offset)
			return ok && times == 0
		}
	}
	return false
}

// onlyWithSetting says of a line that it is only run with a setting, which nobody changes after it was made.
func onlyWithSetting(p *lockPurpose, at codeLine) string {
	around := aroundSign(p, at)
	for i, n := range slices.Backward(around) {
		s, ok := n.(*ast.IfStmt)
		if !ok || i+1 >= len(around) {
			continue
		}
		cond, is := ast.Unparen(s.Cond), around[i+1] == ast.Node(s.Body)
		if !is && around[i+1] != s.Else {
			continue
		}
		if u, ok := cond.(*ast.UnaryExpr); ok && u.Op == token.NOT {
			cond, is = ast.Unparen(u.X), !is
		}
		if !asksSetting(p, cond) {
			continue
		}
		if is {
			return " (only if " + types.ExprString(cond) + ")"
		}
		return " (unless " + types.ExprString(cond) + ")"
	}
	return ""
}

// asksSetting tells of a condition that it is a truth value which is set where its struct is made, and never again.
func asksSetting(p *lockPurpose, x ast.Expr) bool {
	sel, ok := x.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	v := p.d.field(sel)
	if v == nil || setLater(p.d)[v] {
		return false
	}
	b, ok := v.Type().Underlying().(*types.Basic)
	return ok && b.Info()&types.IsBoolean != 0
}

// noteChangesBehind notes changes under the lock of what is reached by a variable that a function of the program, or an element, has given: the memory is that of what
// is shared.
func noteChangesBehind(p *lockPurpose, in frameCode) {
	set := func(n ast.Node, x ast.Expr) {
		_, line, _ := p.d.t.at(n.Pos())
		v := p.d.t.rootOf(x)
		if !p.u.under(line) || v == nil || aroundPart(ast.Unparen(x)) == ast.Unparen(x) || !isLocal(in.decl, v) || isGiven(in.decl, v) {
			return
		}
		if comesOfShared(p, in, v, 0) && !isFreshPlace(p.d, in.decl, x) {
			place := types.ExprString(x)
			p.add(lockSign{rank: signChanges, at: p.d.placeOf(n), what: place + " is changed", place: place})
		}
	}
	eachNode(in.body(), func(n ast.Node, _ []ast.Node) {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				if n.Tok != token.DEFINE {
					set(n, x)
				}
			}
		case *ast.IncDecStmt:
			set(n, n.X)
		}
	})
}

// comesOfShared tells of a variable of a function that it was given a reference to a part of what the function was handed, or of a variable of the package: by a
// field, an element, or a function of the program that it was asked for.
func comesOfShared(p *lockPurpose, in frameCode, v types.Object, depth int) bool {
	if depth > closedDepth {
		return false
	}
	switch v.Type().Underlying().(type) {
	case *types.Pointer, *types.Map, *types.Slice:
	default:
		return false
	}
	return slices.ContainsFunc(p.d.definitions(in.decl)[v], func(def definition) bool {
		if def.x == nil || def.part {
			return false
		}
		x := ast.Unparen(def.x)
		if call, ok := x.(*ast.CallExpr); ok {
			sel, selects := ast.Unparen(call.Fun).(*ast.SelectorExpr)
			if fn := p.d.t.callee(call); fn == nil || !selects || len(p.d.declsOf(fn)) == 0 {
				return false
			}
			x = sel.X
		} else if aroundPart(x) == x {
			return false
		}
		root := p.d.t.rootOf(x)
		if root == nil || root == v {
			return false
		}
		return ofPackage(root) || isGiven(in.decl, root) || root == receiverVariable(p.d, in.decl) || isLocal(in.decl, root) && comesOfShared(p, in, root, depth+1)
	})
}
