package insight

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

// Connections that a program makes itself, with package net or crypto/tls, in goroutines that are no requests: the
// workers of a tool that dial for each of their items.

// mostAnswers is how many answers a connection brings, at most, that is used for one exchange: an answer may come in
// two parts, as a length and what follows it. Chosen.
const mostAnswers = 2

// handDial are the connections that the program makes itself at one line.
type handDial struct {
	at             stack.Frame
	call           *facts.UnitCall
	dials, answers int64
	secure         bool // with TLS
}

// handDials finds them in groups of units.
func handDials(in *Input, t *traced, groups []facts.UnitGroup) (all []*handDial) {
	for _, g := range groups {
		if name := g.Unit.String(); name == "request" || name == "task" {
			continue
		}
		own := map[string]*handDial{} // by the function that uses the connection
		for i := range g.Calls {
			if c := &g.Calls[i]; c.Kind.Key() == "dial" && c.Count > 0 && len(c.Path) > 0 && dialsItself(t.Frames(c.Stack)) {
				x := &handDial{at: c.Path[0], call: c, dials: c.Count}
				all, own[dialUser(in, c.Path).Func] = append(all, x), x
			}
		}
		for i := range g.Calls {
			c := &g.Calls[i]
			switch c.Kind.Key() {
			case "network":
				if at := slices.IndexFunc(c.Path, func(f stack.Frame) bool { return own[f.Func] != nil }); at >= 0 {
					own[c.Path[at].Func].answers += c.Count
				}
			case "tls":
				for _, x := range own {
					x.secure = x.secure || len(c.Path) > 0 && c.Path[0] == x.at
				}
			}
		}
	}
	return all
}

// eachAnew tells whether there are many of them, which cost much and serve one exchange each.
func (x *handDial) eachAnew(r *Rule, cpu stats.Interval) bool {
	return float64(x.dials) >= r.param("requests") && 2*x.answers >= x.dials && x.answers <= mostAnswers*x.dials && cpu.Low >= r.param("connecting")
}

// ownDials looks for a line at which the goroutines of a program make connections that each serve one exchange.
func ownDials(r *Rule, in *Input, t *traced) (found []Finding) {
	u := in.Facts.Units()
	if u.Err != nil {
		return nil
	}
	for _, x := range handDials(in, t, u.Groups) {
		if cpu := cpuAt(in, x.at); x.eachAnew(r, cpu) {
			found = append(found, x.finding(r, in, t, cpu))
		}
	}
	slices.SortStableFunc(found, func(a, b Finding) int { return b.Score - a.Score })
	return found[:min(2, len(found))]
}

func (x *handDial) finding(r *Rule, in *Input, t *traced, cpu stats.Interval) Finding {
	secure := ""
	if x.secure {
		secure = ", with a TLS handshake each"
	}
	f := r.answer(Found, "the program makes a new connection for each exchange%s: %s in %s%s, on which it waited for %s; %s of the CPU time goes there",
		atFrame(x.at), unit.Plural(x.dials, "connection"), unit.Duration(t.Length()), secure, unit.Plural(x.answers, "answer"), unit.Percent(cpu.Estimate))
	f.Severity, f.Score = Warning, score(cpu.Estimate, r.param("connecting"), 0.6)
	f.Impact = exactly(float64(x.dials)/float64(x.answers), "connections for each answer")
	frames := t.Frames(x.call.Stack)
	f.Evidence = []Evidence{t.seenAt(frames, x.at, "%s made here", unit.Plural(x.dials, "connection"))}
	if use := dialUser(in, x.call.Path); use != x.at {
		f.Evidence = append(f.Evidence, in.code.shownAt(use.File, use.Line, "a connection is asked for here, in %s", stack.Short(use.Func)))
	}
	f.Advice = "Keep the connection and send the next query on it: open one for each worker and each address, use it for all that the worker has to ask there, and open a new one only after an error. If workers share connections, put each back into a pool after its use."
	if x.secure {
		f.Advice += " Where a peer closes its connections, let the client resume TLS sessions (a ClientSessionCache in the tls.Config, the same for all)."
	}
	f.Verify = "Record again: the program should open a few connections and keep them, and CPU time should fall."
	f.Doubts = in.traceDoubts(t, "exchanges with as many hosts have a connection each, and a protocol may end the connection after an answer: then there is nothing to use again")
	if dialsItem(in.code, x.at) {
		f.Severity = Info
		f.Doubts = append(f.Doubts, "the source dials an address that the function is given: each may be another one")
	}
	if line := readsToClose(in.code, dialUser(in, x.call.Path)); line > 0 {
		use := dialUser(in, x.call.Path)
		f.Severity = Info
		f.Evidence = append(f.Evidence, in.code.shownAt(use.File, line, "the source reads until the peer closes the connection"))
		f.Advice = "By the source, the answer ends when the peer closes the connection: it carries one exchange, and cannot be used again. If the peer takes several queries at once, send them in one exchange; if its protocol can tell the end of an answer otherwise (a length, a last line), read up to that and keep the connection."
	}
	tellProbe(in, &f, frames)
	f.costs, f.saves, f.more = []cost{{file: x.at.File, line: x.at.Line}}, true, true
	return f
}

// readsToClose is the line at which the function of a frame reads what its line gives, a connection, to its end: nothing
// can be sent on it then. It is 0 where there is none.
func readsToClose(c *code, at stack.Frame) (line int) {
	fn := c.scopeAt(at)
	if fn == nil {
		return 0
	}
	s, conns := c.parse(at.File), map[string]bool{}
	inside(fn.body, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if s.covers(n, at.Line) && len(n.Rhs) == 1 {
				conns[types.ExprString(n.Lhs[0])] = true
			}
		case *ast.CallExpr:
			if from := readToEnd(n); from != nil && conns[types.ExprString(from)] && line == 0 {
				line, _ = s.lines(n)
			}
		}
	})
	return line
}

// dialsItem tells whether a line dials an address that is, or is made of, a parameter of its function: nothing shows
// then that it is the same one each time. A field of the receiver is that of a client.
func dialsItem(c *code, at stack.Frame) (found bool) {
	fn := c.scopeAt(at)
	if fn == nil {
		return false
	}
	for _, call := range c.lineCalls(at) {
		if !strings.HasPrefix(calledName(call), "Dial") {
			continue
		}
		for _, arg := range call.Args {
			root := rootName(arg)
			if made := fn.made(root); made != nil {
				root = rootName(made)
			}
			i := fn.parameter(root)
			found = found || i >= 0 && root != "ctx" && !strings.Contains(strings.ToLower(root), "conf") && root != fn.receiver
		}
	}
	return found
}

// dialUser is the frame that uses a connection: that behind those which only hand it on.
func dialUser(in *Input, path []stack.Frame) stack.Frame {
	for i, at := range path {
		if i > 0 && !handsOn(in.code, at, ownName(path[i-1].Func)) || i == 0 && !handsOnAny(in.code, at) {
			return at
		}
	}
	return path[0]
}

// handsOnAny tells whether the function of a frame returns the connection that its line makes.
func handsOnAny(c *code, at stack.Frame) bool {
	return slices.ContainsFunc(c.lineCalls(at), func(call *ast.CallExpr) bool { return handsOn(c, at, calledName(call)) })
}

// dialsItself tells of a stack that code of the program dials, and no client of the standard library does it for that.
func dialsItself(frames []stack.Frame) bool {
	dial := slices.ContainsFunc(frames, func(f stack.Frame) bool {
		return slices.ContainsFunc(dialling, func(d string) bool { return strings.HasPrefix(f.Func, d) })
	})
	return dial && !slices.ContainsFunc(frames, func(f stack.Frame) bool {
		pkg := stack.Package(f.Func)
		return pkg == "database/sql" || pkg == "net/http" || pkg == "net/rpc"
	})
}
