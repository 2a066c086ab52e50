package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"loupe/analysis/facts"
	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/unit"
)

// A send that nobody will receive any more: the function that made the channel, and alone receives from it, has left. The source shows that it can,
// and the trace that it did: no send at the line was received.

// abandoned is what the source shows of such a send.
type abandoned struct {
	file    string
	channel string
	made    int  // the line that makes the channel, which each call does anew
	leaves  int  // the line at which who receives leaves before it has
	one     bool // each call starts one goroutine that sends once
	first   int  // the lines of the function that makes the channel, from the first
	last    int  // to the last
}

// abandonedAt tells of a line that sends that nobody may be left to receive: the channel is without a buffer, a local variable of the function that starts
// the sender, and goes nowhere else; and that function may return before it has received.
func abandonedAt(c *code, send stack.Frame) (a abandoned, ok bool) {
	s, fn := c.parse(send.File), c.scopeAt(send)
	if s == nil || fn == nil {
		return a, false
	}
	channel, alone := "", false
	eachOwn(fn.body, func(n ast.Node, around []ast.Node) {
		x, is := n.(*ast.SendStmt)
		if !is || !s.covers(x, send.Line) {
			return
		}
		if clause, is := parentOf(around).(*ast.CommClause); is && clause.Comm == ast.Stmt(x) { // another case is its way out
			return
		}
		if id, is := x.Chan.(*ast.Ident); is {
			channel, alone = id.Name, loopBody(around) == nil
		}
	})
	sender := fn
	for fn != nil && channel != "" {
		if fn != sender && fn.parameter(channel) >= 0 {
			return a, false
		}
		if made := makesUnbuffered(fn.body, channel); made != nil {
			a = abandoned{file: send.File, channel: channel}
			a.made, _ = s.lines(made)
			a.first, a.last = s.lines(fn.body)
			r := channelReader{s: s, channel: channel, made: made}
			ok = fn != sender && r.looksAt(fn.body)
			a.leaves, a.one = r.leaves, alone && r.sends == 1 && !r.looped
			return a, ok && a.leaves > 0
		}
		if fn == sender && fn.parameter(channel) >= 0 { // of a function that is started with it
			return ofParameter(c, send, fn, channel, alone)
		}
		fn = fn.outer
	}
	return a, false
}

// ofParameter is that of a function which is given the channel by the one go statement that starts it.
func ofParameter(c *code, send stack.Frame, fn *scope, channel string, alone bool) (a abandoned, ok bool) {
	n, starts := fn.parameter(channel), 0
	c.eachSource(func(file string, s *syntax) {
		eachNode(s.file, func(node ast.Node, around []ast.Node) {
			call, is := node.(*ast.CallExpr)
			if !is || fn.name == "" || calledName(call) != fn.name {
				return
			}
			starts++
			statement, is := parentOf(around).(*ast.GoStmt)
			if !is || statement.Call != call || n >= len(call.Args) {
				return
			}
			id, is := call.Args[n].(*ast.Ident)
			if !is {
				return
			}
			for i := len(around) - 1; i >= 0; i-- {
				body := bodyOfFunc(around[i])
				if body == nil {
					continue
				}
				made := makesUnbuffered(body, id.Name)
				if made == nil {
					return
				}
				a = abandoned{file: file, channel: id.Name}
				a.made, _ = s.lines(made)
				a.first, a.last = s.lines(body)
				r := channelReader{s: s, channel: id.Name, made: made, given: call}
				ok = r.looksAt(body) && r.leaves > 0
				a.leaves, a.one = r.leaves, alone && r.sends == 1 && !r.looped
				return
			}
		})
	})
	return a, ok && starts == 1
}

// bodyOfFunc is the body of a declaration or a literal of a function, nil of anything else.
func bodyOfFunc(n ast.Node) *ast.BlockStmt {
	switch n := n.(type) {
	case *ast.FuncDecl:
		return n.Body
	case *ast.FuncLit:
		return n.Body
	}
	return nil
}

// parentOf is the nearest of what is around a node.
func parentOf(around []ast.Node) ast.Node {
	if len(around) == 0 {
		return nil
	}
	return around[len(around)-1]
}

// makesUnbuffered is the call by which a function itself makes a channel without a buffer for a variable of its own.
func makesUnbuffered(body *ast.BlockStmt, channel string) *ast.CallExpr {
	made := makesChannel(body, channel)
	if made != nil && len(made.Args) > 1 && types.ExprString(made.Args[1]) != "0" {
		return nil
	}
	return made
}

// channelReader is how a function that has made a channel receives from it.
type channelReader struct {
	s       *syntax
	channel string
	made    ast.Node
	given   *ast.CallExpr // the call that gives it to the sender, if that is a function with a name

	sends  int       // places that send
	looped bool      // a sender is started in a loop which the making is not in
	last   token.Pos // the last receive
	leaves int       // the line at which the function leaves without having received
}

// looksAt reads the function; it reports false if the channel goes where it cannot be followed.
func (r *channelReader) looksAt(body *ast.BlockStmt) bool {
	known := true
	started, first := token.Pos(0), token.Pos(0) // the first start of a sender, the first receive
	selects := map[*ast.SelectStmt]bool{}        // each with whether it is in one of the loops
	var loops []ast.Node                         // that receive again and again
	eachNode(body, func(n ast.Node, around []ast.Node) {
		id, is := n.(*ast.Ident)
		if !is || id.Name != r.channel || len(around) == 0 {
			return
		}
		inner := withinLit(around)
		switch x := parentOf(around).(type) {
		case *ast.SendStmt:
			if r.sends++; x.Chan != ast.Expr(id) || !inner {
				known = known && x.Chan == ast.Expr(id)
				return
			}
			r.starts(around, &started)
		case *ast.UnaryExpr:
			known = known && x.Op == token.ARROW && !inner
			if r.last = x.Pos(); first == 0 {
				first = r.last
			}
			loop := r.loopAround(around)
			if loop != nil {
				loops = append(loops, loop)
			}
			if of := selectAround(around); of != nil {
				selects[of] = loop != nil
			}
		case *ast.RangeStmt:
			known = known && x.X == ast.Expr(id) && !inner
			if r.last = x.Pos(); first == 0 {
				first = r.last
			}
			loops = append(loops, x)
		case *ast.CallExpr:
			switch {
			case x == r.given:
				r.sends++
				r.starts(around, &started)
			case !isNamed(x.Fun, "close") && !isNamed(x.Fun, "len") && !isNamed(x.Fun, "cap"):
				known = false
			}
		case *ast.AssignStmt: // where it is made
			known = known && len(x.Lhs) == 1 && x.Lhs[0] == ast.Expr(id) && x.Tok == token.DEFINE
		case *ast.ValueSpec:
			known = known && len(x.Names) == 1 && x.Names[0] == id
		case *ast.SelectorExpr: // a field or a method of that name
			known = known && x.Sel == id
		case *ast.KeyValueExpr:
			known = known && x.Key == ast.Expr(id)
		default:
			known = false
		}
	})
	if !known || started == 0 || first == 0 {
		return false
	}
	for of, looped := range selects {
		r.leavesSelect(of, looped)
	}
	eachOwn(body, func(n ast.Node, around []ast.Node) {
		back, is := n.(*ast.ReturnStmt)
		if !is || r.leaves > 0 || back.Pos() < started {
			return
		}
		early := back.End() <= first
		for _, loop := range loops {
			early = early || (r.looped || r.sends > 1) && loop.Pos() < back.Pos() && back.End() <= loop.End()
		}
		if early {
			r.leaves, _ = r.s.lines(back)
		}
	})
	return true
}

// starts notes that a sender is started.
func (r *channelReader) starts(around []ast.Node, started *token.Pos) {
	for _, n := range around {
		if isLoop(n) && n.Pos() > r.made.Pos() {
			r.looped = true
		}
		if _, is := n.(*ast.GoStmt); is && *started == 0 {
			*started = n.End()
		}
	}
	if lit := outermostLit(around); lit != nil && *started == 0 { // g.Go(func() …)
		*started = lit.End()
	}
}

// loopAround is the outermost loop around a node that the making of the channel is not in.
func (r *channelReader) loopAround(around []ast.Node) ast.Node {
	for _, n := range around {
		if isLoop(n) && n.Pos() > r.made.Pos() {
			return n
		}
	}
	return nil
}

// leavesSelect looks at a select with a receive for another case that leaves without one: by a return, or because there is none behind it.
func (r *channelReader) leavesSelect(of *ast.SelectStmt, looped bool) {
	for _, n := range of.Body.List {
		clause := n.(*ast.CommClause)
		if r.receives(clause.Comm) || slices.ContainsFunc(clause.Body, r.receives) {
			continue
		}
		line, _ := r.s.lines(clause)
		if (endsInReturn(clause.Body) || !looped && r.last < of.End()) && (r.leaves == 0 || line < r.leaves) {
			r.leaves = line
		}
	}
}

// receives tells of a statement that it, or something in it, receives from the channel.
func (r *channelReader) receives(n ast.Stmt) bool {
	return n != nil && hasNode(n, func(n ast.Node) bool {
		x, is := n.(*ast.UnaryExpr)
		return is && x.Op == token.ARROW && types.ExprString(x.X) == r.channel
	})
}

// selectAround is the select of which a node is in what a case waits for.
func selectAround(around []ast.Node) *ast.SelectStmt {
	for i := len(around) - 1; i > 1; i-- {
		clause, is := around[i].(*ast.CommClause)
		if !is {
			continue
		}
		inComm := i+1 < len(around) && around[i+1] == ast.Node(clause.Comm)
		if of, is := around[i-2].(*ast.SelectStmt); is && inComm {
			return of
		}
		return nil
	}
	return nil
}

// outermostLit is the outermost literal of a function around a node.
func outermostLit(around []ast.Node) *ast.FuncLit {
	for _, n := range around {
		if lit, is := n.(*ast.FuncLit); is {
			return lit
		}
	}
	return nil
}

// tell says what the source shows, and what to do about it.
func (a abandoned) tell(c *code, f *Finding) {
	f.Evidence = append(f.Evidence, c.shownAt(a.file, a.made, "the channel %s is made here, anew in each call, without a buffer", a.channel),
		c.shownAt(a.file, a.leaves, "who receives from it can leave here: then nobody does any more"))
	room := fmt.Sprintf("Make %s at %s:%d with room for one value, make(chan T, 1)", a.channel, baseName(a.file), a.made)
	if !a.one {
		room = fmt.Sprintf("Make %s at %s:%d with room for all values that are sent to it in one call", a.channel, baseName(a.file), a.made)
	}
	f.Advice = room + ": then the sender can finish also where nobody receives any more. Or let the send give up as well: a select with the Done of a context that ends with the call."
}

// mostLeft is the share of the senders up to which as many calls that may still receive are left: chosen.
const mostLeft = 0.5

// callsLeft is how many goroutines are in the function that makes the channel when the trace ends, without those that wait to send: another
// sender of the same channel does so, too.
func (a abandoned) callsLeft(t *traced, send stack.Frame) (n float64) {
	for i := range t.Left {
		l := &t.Left[i]
		frames := t.Frames(l.Stack)
		if slices.ContainsFunc(frames, func(f stack.Frame) bool { return f.Func == "runtime.chansend1" }) { // of those that have waited since before the trace no reason is known
			continue
		}
		if slices.ContainsFunc(frames, func(f stack.Frame) bool {
			return f.Func != send.Func && f.File == a.file && a.first <= f.Line && f.Line <= a.last
		}) {
			n += float64(l.Count)
		}
	}
	return n
}

// abandonedSends looks for waits to send of a trace that nobody received, and will not, by the source.
func abandonedSends(r *Rule, in *Input) (all []stuck, other Finding) {
	t := in.trace()
	sources, _ := in.Facts.WaitsOf(recording.ExecTrace)
	if t.Err != nil || len(sources) == 0 {
		return nil, Finding{State: NotApplicable}
	}
	w := sources[0]
	for _, p := range w.Places(facts.ForSend) {
		if float64(p.Open) < r.param("abandoned") || p.Open < p.Count {
			continue
		}
		a, ok := abandonedAt(in.code, p.At)
		if !ok || !a.one && p.Before == 0 { // others of one call may still be received
			continue
		}
		if a.callsLeft(t, p.At) >= mostLeft*float64(p.Open) { // who makes the channels has not come to receive, or has not left yet
			continue
		}
		before := ""
		if p.Before > 0 {
			before = fmt.Sprintf(", %s of them since before the trace began", unit.Count(p.Before))
		}
		s := stuckAt(r, p.At, float64(p.Open), "%s goroutines wait to send at %s when the trace ends%s, and nobody received one of these values: by the source, the function that receives them can leave before (%s:%d), and no other one has the channel",
			unit.Count(p.Open), place(p.At), before, baseName(a.file), a.leaves)
		s.grows = p.Open > p.Before
		s.Impact = exactly(float64(p.Open), "goroutines that wait to send")
		if s.grows {
			s.Impact = exactly(t.Rate(p.Open-p.Before), "goroutines more every second")
		}
		s.Evidence = []Evidence{in.fileAt(w.Entry, p.At, p.Frames, "waiting to send here: %s", unit.Plural(p.Open, "goroutine"))}
		s.Doubts = in.traceDoubts(t)
		all = append(all, s)
	}
	return all, Finding{State: NotApplicable}
}
