package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"loupe/value/stack"
)

// What a channel without a buffer is good for beside the hand-over: the sender knows that the item has arrived, and the receiver answers.

// channelSend is a send on the line of a frame, with the nodes around it.
type channelSend struct {
	in     *ast.FuncDecl
	stmt   *ast.SendStmt
	around []ast.Node
}

// sendAt finds it.
func sendAt(d *derivations, at stack.Frame) (s channelSend, ok bool) {
	in, found := d.at(at)
	if !found {
		return s, false
	}
	eachNode(in.decl.Body, func(n ast.Node, around []ast.Node) {
		if stmt, is := n.(*ast.SendStmt); is && !ok && coversLine(d, stmt, at.Line) {
			s, ok = channelSend{in.decl, stmt, slices.Clone(around)}, true
		}
	})
	return s, ok
}

// part is what is done again for each item: the innermost loop around the send, or the function that is called for each.
func (s channelSend) part() ast.Node {
	for _, n := range slices.Backward(s.around) {
		if lit, ok := n.(*ast.FuncLit); ok {
			return lit.Body
		}
		if isLoop(n) {
			return n
		}
	}
	return s.in.Body
}

// reply finds where the sender waits for the answer to what it has sent, before it sends again: it receives from a channel that the message has, or from
// one to which whoever takes the message sends.
func (s channelSend) reply(d *derivations) (at codeLine, ok bool) {
	part := s.part()
	var sent []types.Object
	ast.Inspect(s.stmt.Value, func(n ast.Node) bool {
		if id, is := n.(*ast.Ident); is {
			if v := d.variable(id); v != nil {
				sent = append(sent, v)
				for _, def := range d.definitions(s.in)[v] {
					if def.x != nil {
						ast.Inspect(def.x, func(n ast.Node) bool {
							if id, is := n.(*ast.Ident); is && d.variable(id) != nil && isChannelType(d.variable(id).Type()) {
								sent = append(sent, d.variable(id))
							}
							return true
						})
					}
				}
			}
		}
		return true
	})
	to := placeNamed(d, s.stmt.Chan)
	eachNode(part, func(n ast.Node, around []ast.Node) {
		u, is := n.(*ast.UnaryExpr)
		if !is || u.Op != token.ARROW || ok || u.Pos() < s.stmt.End() || slices.ContainsFunc(around[1:], func(n ast.Node) bool {
			_, lit := n.(*ast.FuncLit)
			return lit || isLoop(n)
		}) {
			return
		}
		v := d.variable(innermost(u.X))
		from := placeNamed(d, u.X)
		if v != nil && slices.Contains(sent, v) || to != nil && from != nil && from != to && answersOn(d, to, from) {
			at, ok = d.placeOf(u), true
		}
	})
	return at, ok
}

// isChannelType tells of a type that it is a channel.
func isChannelType(t types.Type) bool {
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Chan)
	return ok
}

// answersOn tells of two channels that a function of the sources receives from one and sends to the other.
func answersOn(d *derivations, from, to types.Object) bool {
	receives, sends := map[*ast.FuncDecl]bool{}, map[*ast.FuncDecl]bool{}
	for _, x := range flowNodes(d) {
		switch n := x.n.(type) {
		case *ast.UnaryExpr:
			if n.Op == token.ARROW && placeNamed(d, n.X) == from {
				receives[x.in] = true
			}
		case *ast.RangeStmt:
			if placeNamed(d, n.X) == from {
				receives[x.in] = true
			}
		case *ast.SendStmt:
			if placeNamed(d, n.Chan) == to {
				sends[x.in] = true
			}
		}
	}
	for fn := range receives {
		if fn != nil && sends[fn] {
			return true
		}
	}
	return false
}

// reuses finds where the sender writes again to what is behind an address that it has sent, in the next turn or the next call.
func (s channelSend) reuses(d *derivations) (at codeLine, ok bool) {
	of := d.t.typeOf(s.stmt.Value)
	if of == nil || !mayRefer(of) || isChannelType(of) {
		return at, false
	}
	part := s.part()
	behind, kept := map[types.Object]bool{}, false
	var follow func(x ast.Expr, depth int)
	follow = func(x ast.Expr, depth int) {
		x = unrefer(ast.Unparen(x))
		if cut, is := x.(*ast.SliceExpr); is {
			x = ast.Unparen(cut.X)
		}
		if f, is := x.(*ast.SelectorExpr); is {
			if v := placeNamed(d, f); v != nil {
				behind[v], kept = true, true // it outlives the function
			}
			return
		}
		v := d.variable(innermost(x))
		if v == nil || depth > 3 {
			return
		}
		behind[v] = true
		if v.Pos() < part.Pos() || v.Pos() >= part.End() {
			kept = true
			return
		}
		for _, def := range d.definitions(s.in)[v] {
			if def.x != nil && !def.ranged && !def.part {
				follow(def.x, depth+1)
			}
		}
	}
	follow(s.stmt.Value, 0)
	if !kept {
		return at, false
	}
	anew := false // it gets another one to write to, for each item
	note := func(n ast.Node) {
		if !ok {
			at, ok = d.placeOf(n), true
		}
	}
	is := func(x ast.Expr) bool {
		x = ast.Unparen(x)
		if cut, sliced := x.(*ast.SliceExpr); sliced {
			x = cut.X
		}
		return behind[placeNamed(d, unrefer(ast.Unparen(x)))]
	}
	ast.Inspect(part, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				switch {
				case n.Tok == token.DEFINE:
				case is(lhs):
					rhs := ast.Unparen(n.Rhs[min(i, len(n.Rhs)-1)])
					if emptiesIt(n) || startsOver(rhs, is) {
						note(n)
					} else if !appendsOnto(rhs, is) && isPointing(d.t.typeOf(lhs)) {
						anew = true
					} else if !appendsOnto(rhs, is) {
						note(n)
					}
				case behind[d.variable(innermost(lhs))] || behind[placeNamed(d, ownerOfPart(lhs))]:
					note(n)
				}
			}
		case *ast.IncDecStmt:
			if !is(n.X) && (behind[d.variable(innermost(n.X))] || behind[placeNamed(d, ownerOfPart(n.X))]) {
				note(n)
			}
		case *ast.CallExpr:
			if name := calledName(n); name == "copy" || writesInto(n) || name == "Read" || name == "ReadFull" || name == "ReadAt" || name == "Unmarshal" || name == "Decode" {
				if slices.ContainsFunc(n.Args, is) {
					note(n)
				}
			}
		}
		return true
	})
	return at, ok && !anew
}

// ownerOfPart is what the innermost field or element of a place belongs to.
func ownerOfPart(x ast.Expr) ast.Expr {
	for {
		switch e := ast.Unparen(x).(type) {
		case *ast.IndexExpr:
			x = e.X
			if _, more := ast.Unparen(x).(*ast.IndexExpr); !more {
				return x
			}
		case *ast.SelectorExpr:
			return e.X
		case *ast.StarExpr:
			return e.X
		default:
			return x
		}
	}
}

// startsOver tells of what a place is set to that it is filled again from its beginning: append(x[:0], …).
func startsOver(x ast.Expr, is func(ast.Expr) bool) bool {
	call, ok := x.(*ast.CallExpr)
	if !ok || calledName(call) != "append" || len(call.Args) == 0 {
		return false
	}
	cut, ok := ast.Unparen(call.Args[0]).(*ast.SliceExpr)
	return ok && cut.High != nil && types.ExprString(cut.High) == "0" && is(cut.X)
}

// appendsOnto tells of what a place is set to that something is appended to it.
func appendsOnto(x ast.Expr, is func(ast.Expr) bool) bool {
	call, ok := x.(*ast.CallExpr)
	return ok && calledName(call) == "append" && len(call.Args) > 0 && is(call.Args[0])
}

// isPointing tells of a type that a variable of it only refers to what is sent.
func isPointing(t types.Type) bool {
	if t == nil {
		return false
	}
	switch t.Underlying().(type) {
	case *types.Pointer, *types.Slice, *types.Map:
		return true
	}
	return false
}

// adviseHandOver says what to do where the source shows that a buffer is wrong, or gains nothing; it is false where it does not.
func adviseHandOver(c *code, f *Finding, ends []stack.Frame) bool {
	d := derivationsOf(c)
	for _, at := range ends {
		s, ok := sendAt(d, at)
		if !ok {
			continue
		}
		line := d.placeOf(s.stmt).text()
		if again, reused := s.reuses(d); reused {
			f.Evidence = append(f.Evidence, c.shownAt(again.file, again.line, "written again, for a later item"))
			f.Advice = fmt.Sprintf("What is sent at %s is an address, and the sender writes again to what is behind it at %s: with a buffer, or with several in one message, it would overwrite what the receiver has yet to read. "+
				"Send values or copies instead, or let the receiver give back what it is done with (a second channel, from which the sender takes what it fills next). Then hand over more at a time: a slice of items in each message, or a channel with a buffer of a few hundred.", line, again.text())
			return true
		}
		if answer, waits := s.reply(d); waits {
			f.Evidence = append(f.Evidence, c.shownAt(answer.file, answer.line, "waits for the answer here"))
			f.Advice = fmt.Sprintf("Who sends at %s waits for the answer at %s before it sends again, so that a buffer gains nothing: it never holds more than one of each. "+
				"Ask for several things in one message, with all answers in one; or, if the other goroutine only keeps something for itself, do without it: a mutex around that, or an atomic value, needs no switch of goroutines.", line, answer.text())
			return true
		}
	}
	return false
}
