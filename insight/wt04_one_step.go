package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// One at a time may be what keeps a change at a peer together: a call reads something there, and a later one writes what is made of the
// answer. And a channel may be full of things that there are, whose number its capacity does not change.

// oneStep finds, where one goroutine serves all or one at a time gets in, two calls of a peer that have to be one step; nil where the source
// shows none.
func (q *narrow) oneStep(in *Input, t *traced) *protected {
	if q.gate.Width != 1 || q.gate.Kind.Key() == "pool" {
		return nil
	}
	var holders [][]stack.Frame
	for _, row := range q.rows {
		holders = append(holders, t.Frames(row.Cause.Site.Stack))
	}
	if q.gate.Workers {
		return oneStepUnder(in.code, holders, nil, func(holder []stack.Frame) *underlying { return servedBy(in.code, holder) })
	}
	waiter := t.Frames(stackIn(in, t, q.group, q.gate.Site))
	return oneStepUnder(in.code, append(holders, callsOutside(in)...), t.Frames(q.gate.Frees.Stack), func(holder []stack.Frame) *underlying {
		return letInBy(in.code, waiter, holder)
	})
}

// tellLimit makes a finding about a queue say what the limit is there for, by the source: a change at a peer, or the things that
// there are. It tells whether the source shows one of them.
func (q *narrow) tellLimit(in *Input, t *traced, f *Finding) bool {
	if p := q.oneStep(in, t); p != nil {
		by := "Do not just let more in at once, and do not make the calls outside:"
		if q.gate.Workers {
			by = "Do not just start more workers:"
		}
		p.tellOneStep(f, by)
		return true
	}
	if x, ok := thingsIn(in.code, q.gate.Site.Frame); ok && !q.gate.Workers {
		x.tell(in.code, f)
		return true
	}
	return false
}

// oneStep is that of a semaphore that lets in one.
func (s *semaphore) oneStep(c *code) *protected {
	if s.n != 1 {
		return nil
	}
	var holders [][]stack.Frame
	for _, x := range s.inside {
		holders = append(holders, x.stack)
	}
	return oneStepUnder(c, holders, nil, func(holder []stack.Frame) *underlying { return letInBy(c, s.stack, holder) })
}

// letInBy is what stands between the line at which goroutines wait to get in and a call that is made inside.
func letInBy(c *code, waiter, holder []stack.Frame) *underlying {
	gate, call, fn := meetingPoint(c, waiter, holder)
	if fn == nil {
		return nil
	}
	return &underlying{c: c, s: c.parse(gate.File), fn: fn, file: gate.File, lock: gate.Line, call: call.Line}
}

// servedBy is a turn of the loop of a goroutine that serves others, by the stack of a call in it.
func servedBy(c *code, holder []stack.Frame) *underlying {
	for _, f := range slices.Backward(holder) {
		l, ok := servingLoop(loopsAround(c, f))
		if !ok {
			continue
		}
		fn := c.scopeAt(f)
		if fn == nil {
			return nil
		}
		first, _ := l.source.lines(l.stmt)
		return &underlying{c: c, s: l.source, fn: fn, file: f.File, lock: first, call: f.Line}
	}
	return nil
}

// oneStepUnder looks for such calls in what is done by one at a time, by the stacks of calls there; frees is where the slot is given back.
func oneStepUnder(c *code, holders [][]stack.Frame, frees []stack.Frame, under func(holder []stack.Frame) *underlying) *protected {
	for _, holder := range holders {
		u := under(holder)
		if u == nil {
			continue
		}
		for _, level := range u.within(holder, callUnder(u, holder)) {
			for _, p := range []*protected{(atPeer{level}).writesBack(holder, holders), (atPeer{level}).actsByAnswer(holder, holders)} {
				if p != nil && !p.apart(level, frees) {
					return p
				}
			}
		}
	}
	return nil
}

// apart tells of the two calls of a function that the slot is given back between them.
func (p *protected) apart(u *underlying, frees []stack.Frame) bool {
	return slices.ContainsFunc(frees, func(f stack.Frame) bool {
		return f.File == u.file && u.in != nil && ownName(f.Func) == u.in.Name.Name && p.first < f.Line && f.Line < p.second
	})
}

// tellOneStep makes a finding about a queue say that one at a time is what keeps a change together.
func (p *protected) tellOneStep(f *Finding, by string) {
	f.Summary += fmt.Sprintf("; by the source, one at a time keeps a change at the peer together: what line %d gets decides what line %d changes", p.first, p.second)
	for _, e := range p.evidence {
		e.Text = strings.Replace(e.Text, "under the lock", "one at a time", 1)
		f.Evidence = append(f.Evidence, e)
	}
	f.Advice = by + " two of them could then get the same answer, and one of their changes would be lost. "
	if p.key != "" {
		f.Advice += fmt.Sprintf("Let only changes of the same %s wait for each other: ", p.key)
	} else {
		f.Advice += "If changes of different things wait for each other here, let only those of the same one: "
	}
	f.Advice += "one worker, or one slot, for each part of the keys, chosen by a hash of the key. Or let the peer make the change in one step (a transaction, an increment, a write that fails if the value is another by then), or take the changes of several that wait together and write once."
	f.Verify = "Record again under the same load: this wait should shrink. Check with changes of one key from several at once that none is lost."
	f.Doubts = append(f.Doubts, "if most of those that wait are for the same key, more slots save little")
}

// things are what a channel is filled with that is no token: who takes one uses it.
type things struct {
	at     codeLine
	counts bool   // as many as a loop says, and not one for each of something
	of     string // what they are made of, one for each
}

// thingsIn finds what the channel has in it from which goroutines wait to receive at a line; false where these are tokens, or where the source does
// not show what it is filled with.
func thingsIn(c *code, at stack.Frame) (x things, ok bool) {
	d := derivationsOf(c)
	in, ok := d.at(at)
	if !ok {
		return x, false
	}
	var ch types.Object
	ast.Inspect(in.body(), func(n ast.Node) bool {
		if u, is := n.(*ast.UnaryExpr); is && u.Op.String() == "<-" && d.placeOf(u).line == at.Line {
			ch = placeObject(d, u.X)
		}
		return true
	})
	if ch == nil || isToken(d, ch) {
		return x, false
	}
	ok = false
	for _, decl := range declsInOrder(d) {
		eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
			send, is := n.(*ast.SendStmt)
			if !is || ok || placeObject(d, send.Chan) != ch {
				return
			}
			i := innermostLoop(around)
			if i < 0 || slices.ContainsFunc(around[i:], func(n ast.Node) bool { _, lit := n.(*ast.FuncLit); return lit }) {
				return // it is put back
			}
			x.at, x.counts, ok = d.placeOf(send), true, true
			if r, is := around[i].(*ast.RangeStmt); is && !goesByNumber(d, r.X) {
				x.counts, x.of = false, types.ExprString(r.X)
			}
		})
	}
	return x, ok
}

// placeObject is the field or the variable that an expression names.
func placeObject(d *derivations, x ast.Expr) types.Object {
	switch x := ast.Unparen(x).(type) {
	case *ast.SelectorExpr:
		if v := d.field(x); v != nil {
			return v
		}
		if v, ok := d.t.info.Uses[x.Sel].(*types.Var); ok {
			return v
		}
	case *ast.Ident:
		return d.variable(x)
	}
	return nil
}

// isToken tells of a channel that what is sent on it says nothing: an empty struct, a truth value, a number.
func isToken(d *derivations, ch types.Object) bool {
	of, ok := ch.Type().Underlying().(*types.Chan)
	if !ok {
		return true
	}
	switch e := of.Elem().Underlying().(type) {
	case *types.Basic:
		return true
	case *types.Struct:
		return e.NumFields() == 0
	case *types.Interface:
		return e.NumMethods() == 0
	}
	return false
}

// goesByNumber tells of what a range goes through that it is a number.
func goesByNumber(d *derivations, x ast.Expr) bool {
	of := d.t.typeOf(x)
	return of != nil && isBasic(of) && of.Underlying().(*types.Basic).Info()&types.IsInteger != 0
}

// tell makes a finding about a queue say that the number of the things is the limit.
func (x things) tell(c *code, f *Finding) {
	f.Summary += fmt.Sprintf("; what they wait for is one of the things in a channel, which %s puts there", x.at.text())
	f.Evidence = append(f.Evidence, c.shownAt(x.at.file, x.at.line, "the channel is filled here"))
	f.Advice = fmt.Sprintf("A larger channel alone changes nothing: as many get through as there are things in it. Put more of them there (%s), as far as what is behind them can handle; or hold each for a shorter time, only while it is used.", x.at.text())
	if !x.counts {
		f.Severity = Info
		f.Advice = fmt.Sprintf("A larger channel changes nothing: as many get through as there are things in it, one for each of %s (%s). If there can be more of these, add them; otherwise hold each for a shorter time, only while it is used, or have it do several at once, if it can.", x.of, x.at.text())
	}
	f.Verify = "Record again under the same load after a change: this wait should shrink, and requests per second grow."
}
