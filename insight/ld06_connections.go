package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/format/loadlog"
	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

var ld06 = &Rule{
	ID: "LD06", Title: "No keep-alive: connections are not reused",
	About: "A new connection costs a round trip (with TLS two, and a millisecond of CPU time) and leaves a port blocked for a minute. A server that closes the connection after each response " +
		"makes its clients pay for it; a program that does not read response bodies to their end, or keeps too few idle connections to servers or databases, pays itself.",
	Asks: []facts.Question{facts.Connections},
	Params: []Param{
		{"opened", 0.5, "connections for each request", "research"},
		{"requests", 100, "requests", "chosen: fewer connections are those of the startup"},
		{"handshake", 0.05, "share of the CPU time", "research: spent on TLS handshakes"},
		{"databases", 0.15, "share of the time", "chosen: the part of the waits in package database/sql that is for new connections"},
		{"made", 0.1, "connections for each request", "chosen: of other clients than net/http; a pool that fills makes fewer"},
		{"connecting", 0.1, "share of the time of requests, or of the CPU time", "chosen: that goes into making connections, of other clients than net/http"},
		{"samples", 50, "samples", "as everywhere: with fewer a profile says nothing"},
		{"idle", 0.002, "s", "chosen: a connection that ends later than this after its last response ends because it is idle"},
	},
	Check: func(r *Rule, in *Input) []Finding {
		if len(in.Session.Manifest().Of(recording.Load)) == 0 {
			return ownConnections(r, in)
		}
		return onLoads(checkConnections)(r, in)
	},
}

func checkConnections(r *Rule, in *Input, all []loadRound) []Finding {
	var found []Finding
	tls := handshakes(r, in)
	if f, ok := closedByServer(r, in, all); ok {
		tls.foldInto(&f, false)
		found = append(found, f)
	}
	outgoing, traced := outgoing(r, in)
	if traced && outgoing.State == Found {
		tls.foldInto(&outgoing, true)
		found = append(found, outgoing)
	}
	if tls.found {
		if !tls.client && byRequest(all) {
			tls.Severity = Info
			tls.Advice = "The load was sent so that each request has a connection of its own: send it without that, to see what connections cost that are kept. If clients are like that, let them resume sessions (a ClientSessionCache, session tickets)."
		}
		found = append(found, tls.Finding)
	}
	found = append(found, databases(r, in)...)
	found = append(found, clients(r, in)...)
	for _, f := range madeClients(r, in) {
		if !slices.ContainsFunc(found, func(g Finding) bool { return len(g.Evidence) > 0 && samePlace(g.Evidence[0], f.Evidence[0]) }) {
			found = append(found, f) // a handle of a database is told as that
		}
	}
	if len(found) > 0 {
		return found
	}
	text := opening(all)
	if byRequest(all) {
		text = "the load was to open a connection for each request"
	}
	if traced {
		return []Finding{r.answer(Fine, "%s; %s", text, outgoing.Summary)}
	}
	return []Finding{r.answer(Fine, "%s; an execution trace under load would show whether the program itself opens many", text)}
}

// samePlace tells whether two pieces of evidence are of the same line.
func samePlace(a, b Evidence) bool { return a.File != "" && a.File == b.File && a.Line == b.Line }

// opening says how many connections the loads of all rounds opened: those of before their start, for
// which no request had to wait, are told apart.
func opening(all []loadRound) string {
	opened, n, before := 0, 0, 0
	for i := range all {
		l := all[i].Log
		opened, n = opened+dials(l), n+l.Len()
		for j := range l.Connections {
			if l.Connections[j].Opened < 0 {
				before++
			}
		}
	}
	switch requests := unit.Count(int64(n)); {
	case before > 0:
		return fmt.Sprintf("the load opened %s before its start and %s during %s requests", unit.Plural(int64(before), "connection"), unit.Count(int64(opened)), requests)
	case opened == 0:
		return fmt.Sprintf("none of the load's %s requests waited for a new connection", requests)
	default:
		return fmt.Sprintf("%s requests of the load opened %s", requests, unit.Plural(int64(opened), "connection"))
	}
}

// dials is how many connections were opened while requests were sent.
func dials(l *loadlog.Log) (n int) {
	for i := range l.Connections {
		if l.Connections[i].Opened >= 0 {
			n++
		}
	}
	if n > 0 {
		return n
	}
	for q := range l.All() {
		if q.Dial > 0 {
			n++
		}
	}
	return n
}

// byRequest tells that the load itself closed its connections.
func byRequest(all []loadRound) bool {
	n, asked := 0, 0
	for i := range all {
		for _, c := range all[i].Log.Connections {
			if n++; c.Why == loadlog.ByRequest {
				asked++
			}
		}
	}
	return asked > n/2
}

// readLoop is the goroutine that net/http starts for each connection that a
// client opens, to read from it, writeLoop that to write to it; roundTrip is where one waits
// for an answer.
const (
	readLoop  = "net/http.(*persistConn).readLoop"
	writeLoop = "net/http.(*persistConn).writeLoop"
	roundTrip = "net/http.(*persistConn).roundTrip"
)

// outgoing looks at the connections that the program opened while it was traced
// under load, over HTTP/1 and, where these are no finding, over HTTP/2.
func outgoing(r *Rule, in *Input) (f Finding, traced bool) {
	f, traced = overHTTP1(r, in)
	if traced && f.State != Found {
		if g, ok := overHTTP2(r, in); ok {
			return g, true
		}
	}
	return f, traced
}

// overHTTP1 looks at those of which each carries a request at a time.
func overHTTP1(r *Rule, in *Input) (f Finding, traced bool) {
	t := in.trace()
	if t.Err != nil || t.Length() < facts.MinTrace {
		return Finding{}, false
	}
	served := int64(0) // of a load
	if len(in.Session.Manifest().Of(recording.Load)) > 0 {
		l, err := in.Session.Load(t.Entry.Phase)
		if l == nil || err != nil && l.Len() == 0 {
			return Finding{}, false
		}
		served = int64(l.Len())
	}
	opened := openedIn(t)
	var top, late *sched.Block // with most answers, with most calls that ended without one
	var answers, most, lost, unanswered, stopped, stoppedHere int64
	var cancelling stack.ID
	for _, b := range t.Blocks {
		if b.Reason == exectrace.NameSelect && t.through(b.Stack, roundTrip) {
			n, without := t.answersAt(b), t.unanswered(b)
			if answers += n; top == nil || n > most {
				top, most = b, n
			}
			if lost += without; late == nil || without > unanswered {
				late, unanswered = b, without
			}
			if n, from := cancelled(t, b); n > 0 {
				if stopped += n; n > stoppedHere {
					stoppedHere, cancelling = n, from
				}
			}
		}
	}
	of := answers
	if served > 0 {
		of = min(answers, served)
	}
	share := float64(opened) / float64(max(1, of))
	if top == nil {
		return r.answer(Fine, "%s", noCalls), true
	}
	if float64(answers+lost) < r.param("requests") || share < r.param("opened") {
		return r.answer(Fine, "the program opened %s for %s from other services that it waited for", unit.Plural(opened, "connection"), unit.Plural(answers, "answer")), true
	}
	during, impact := "in "+unit.Duration(t.Length()), "connections for each call"
	if served > 0 {
		during, impact = fmt.Sprintf("while it answered %s requests", unit.Count(served)), "connections for each request"
	}
	f = r.answer(Found, "%s, the program opened %s connections to other services; it waited for %s", during, unit.Count(opened), unit.Plural(answers, "answer"))
	f.Severity, f.Score = Warning, score(share, 0.3, 1)
	f.Impact = exactly(share, impact)
	f.Evidence = []Evidence{t.seen(top.Stack, "here it waited for %s", unit.Plural(most, "answer"))}
	f.Advice = "Read each response to its end and close it (" + drainBody + ", then resp.Body.Close()); " + endlessBody + "; use one http.Client for all requests; and set its Transport's MaxIdleConnsPerHost " + perHostDefault + " to at least the number of concurrent requests to one host."
	if in.code.closesBodies(t.Site(top.Stack)) {
		f.Advice = "The body is closed there: check that this happens on every path, including error statuses, and read each response to its end first (" + drainBody + "), or the connection is discarded; " + endlessBody + "; use one http.Client for all requests; and set its Transport's MaxIdleConnsPerHost " + perHostDefault + " to at least the number of concurrent requests to one host."
	}
	if 2*lost >= opened {
		if float64(stopped) > allSeen*float64(lost) {
			return allCancelled(f, in, t, cancelling, lost), true
		}
		return noAnswers(f, in, t, late, lost, unanswered, answers), true
	}
	f.Verify = "Record a trace under the same load: the program should open a few connections and keep them."
	f.Doubts = append(in.traceDoubts(t), restDoubt)
	tellPart(&f, in.code, t.Site(top.Stack))
	if unread := leftOpenBodies(t); mostOpen(unread, opened) {
		f.Summary += fmt.Sprintf("; %s of them still have an answer whose body was neither read to its end nor closed", unit.Count(unread))
		f.Severity, f.Advice = Warning, bodyAdvice(in.code, t.Site(top.Stack))
	}
	tellProbe(in, &f, t.Frames(top.Stack))
	sources, why := connSources{in.code}, false
	if ways, ok := bodyWaysOf(in.code, t.Site(top.Stack)); ok && f.Severity.AtLeast(Warning) && !mostOpen(leftOpenBodies(t), opened) {
		why = tellWays(&f, &ways, sources, t.Site(top.Stack), float64(opened)/float64(max(1, answers)))
	}
	if readsBodies(in.code, t.Site(top.Stack)) {
		f.Advice = readThere + " Use one http.Client for all requests, and set its Transport's MaxIdleConnsPerHost " + perHostDefault + " to at least the number of concurrent requests to one host."
		f.Doubts = in.traceDoubts(t)
	} else if ways, ok := bodyWaysOf(in.code, t.Site(top.Stack)); ok && ways.kept() && !mostOpen(leftOpenBodies(t), opened) {
		tellEnded(&f, &ways, sources, t.Site(top.Stack))
	}
	settings := append(sources.unsetPerHost(), sources.httpSettings()...)
	if some := settingsOfOrigins(in.code, t.Frames(top.Stack), in.Session.Scope().IsUser, settings); len(some) > 0 {
		settings = some
	}
	limits := limitsOf(in.code, t.Frames(top.Stack), in.Session.Scope().IsUser)
	limits.compare(t, answers)
	tellSettings(&f, sources, t.Frames(top.Stack), limits.without(whereAnswersAreRead(why, settings)))
	tellKept(&f, in.code, t.Site(top.Stack))
	if !mostOpen(leftOpenBodies(t), opened) {
		tellStream(&f, in.code, t.Site(top.Stack))
	}
	told := why || mostOpen(leftOpenBodies(t), opened)
	if f.Severity.AtLeast(Warning) {
		told = tellTransport(&f, in.code, t.Frames(top.Stack), in.Session.Scope().IsUser) || told
	}
	tellDependency(&f, in.code, t.Frames(top.Stack), in.Session.Scope().IsUser)
	tellMadeOnce(&f, in.code, t.Frames(top.Stack), in.Session.Scope().IsUser)
	tellOneClient(&f, in.code, t.Frames(top.Stack), in.Session.Scope().IsUser)
	if !told && f.Severity.AtLeast(Warning) {
		limits.tell(&f, in.code, float64(opened)/float64(max(1, answers)))
	}
	if served == 0 && !mostOpen(leftOpenBodies(t), opened) { // those of a load are not its own
		tellOwnServer(&f, t, sources, opened)
	}
	tellOpening(in, &f, cost{callee: httpDials}, cost{callee: "crypto/tls.(*Conn).clientHandshake"})
	return f, true
}

// httpDials is what makes a connection for a client of package net/http.
const httpDials = "net/http.(*Transport).dialConn"

// tellOpening says which CPU time is that of opening connections: whatever else is found in it, as
// hashing passwords for a login, is done for these. It is told as a gain where it is much.
func tellOpening(in *Input, f *Finding, costs ...cost) {
	f.costs = costs
	s := spentOf(in)
	if m := s.mark(costs); m != nil {
		f.saves = s.interval(m).Estimate >= leastOfMuch
	}
}

// noAnswers is the finding where most new connections replace those of requests that ended without
// an answer, which net/http closes.
func noAnswers(f Finding, in *Input, t *traced, late *sched.Block, lost, there, answers int64) Finding {
	f.Summary += fmt.Sprintf("; %s ended before an answer came, by a time limit or because they were cancelled: net/http closes the connection of such a request", unit.Plural(lost, "call"))
	f.Severity = Info
	f.Evidence = []Evidence{t.seen(late.Stack, "here %s ended before an answer came", unit.Plural(there, "call"))}
	f.Verify = "Record a trace under the same load: fewer calls should end without an answer, and the program should open fewer connections."
	f.Doubts = in.traceDoubts(t)
	frames := t.Frames(late.Stack)
	if left := endedByClients(t, late); float64(left) > allSeen*float64(there) {
		f.Summary += "; they ended with the requests that they belong to, whose clients had gone"
		f.Advice = "New connections follow from these calls: find out why the clients do not wait for the answers (their own time limit, a user who goes on), and make these requests faster. That a call ends with its request is right."
		return f
	}
	f.Advice = limitAdvice
	if mostInTime(lost, answers+lost) {
		f.Advice = tailAdvice
	}
	polls := tellPoll(in.code, frames, &f)
	f.Advice += " Calls that are cancelled since another answer came first cost a connection each."
	if polls {
		f.Advice = "Each of these calls costs its connection. " + strings.Replace(f.Advice, "leave it so.", "leave it so; if the peer answers before the limit comes, the connection is kept.", 1)
	} else {
		f.Advice = "New connections follow from these calls: see to it that fewer of them end so. " + f.Advice
	}
	tellLimit(&f, in.code, frames, untilLost(t, late), 0)
	return f
}

// allCancelled is the finding where the program itself cancels the calls whose connections are lost.
func allCancelled(f Finding, in *Input, t *traced, from stack.ID, lost int64) Finding {
	f.Summary += fmt.Sprintf("; %s were cancelled by the program before an answer came: net/http closes the connection of such a request", unit.Plural(lost, "call"))
	f.Severity = Info
	f.Evidence = []Evidence{t.seen(from, "calls are cancelled here")}
	f.Advice = "A call of HTTP/1.1 that is cancelled costs its connection. Cancel fewer: make the call first that decides whether the others are needed, or start a second one for the same only when the first takes longer than usual. If an early end is worth a new connection, leave it so."
	f.Verify = "Record a trace under the same load: fewer calls should end without an answer, and the program should open fewer connections."
	f.Doubts = in.traceDoubts(t)
	return f
}

// closesBodies tells whether the function that a frame is in closes the body of an
// answer, by its source: then nobody is told to.
func (c *code) closesBodies(at stack.Frame) (closes bool) {
	s := c.parse(at.File)
	s.onLine(at.Line, func(n ast.Node, _ []ast.Node) {
		f, ok := n.(*ast.FuncDecl)
		if !ok || closes {
			return
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if c, ok := n.(*ast.CallExpr); ok && strings.HasSuffix(types.ExprString(c.Fun), ".Body.Close") {
				closes = true
			}
			return true
		})
	})
	return closes
}

// readsBodies tells whether the function that a frame is in reads the body of the answer to its end on each path that
// has one: what comes between the call and that is no way out but for an error of the call.
func readsBodies(c *code, at stack.Frame) bool {
	fn := c.scopeAt(at)
	if fn == nil {
		return false
	}
	s, asked := c.parse(at.File), false
	for _, x := range fn.body.List {
		whole := hasCall(x, func(call *ast.CallExpr) bool {
			body := readToEnd(call)
			return body != nil && strings.HasSuffix(types.ExprString(body), ".Body")
		})
		_, simple := x.(*ast.AssignStmt)
		_, plain := x.(*ast.ExprStmt)
		check, guards := x.(*ast.IfStmt)
		switch {
		case s.covers(x, at.Line):
			asked = true
		case !asked:
		case whole && (simple || plain || guards && check.Init != nil && hasCall(check.Init, func(*ast.CallExpr) bool { return true })):
			return true
		case guards && errorCheck(check.Cond) && check.Else == nil:
		case guards, isLoop(x):
			return false
		default:
			switch x.(type) {
			case *ast.ReturnStmt, *ast.SwitchStmt, *ast.SelectStmt, *ast.TypeSwitchStmt:
				return false
			}
		}
	}
	return false
}

// tellKept makes a remark of a finding where the function that a frame is in keeps the bodies for later, or hands
// them to others: then as many connections are open at once as there are of them.
func tellKept(f *Finding, c *code, at stack.Frame) {
	fn := c.scopeAt(at)
	if fn == nil {
		return
	}
	s := c.parse(at.File)
	answers := map[string]bool{}
	body := func(x ast.Expr) bool {
		text, of := strings.CutSuffix(types.ExprString(x), ".Body")
		return answers[text] || of && answers[text]
	}
	line := 0
	inside(fn.body, func(n ast.Node) {
		kept := false
		switch n := n.(type) {
		case *ast.AssignStmt:
			if s.covers(n, at.Line) && len(n.Rhs) == 1 {
				answers[types.ExprString(n.Lhs[0])] = true
				return
			}
			for i, x := range n.Lhs {
				call, calls := n.Rhs[min(i, len(n.Rhs)-1)].(*ast.CallExpr)
				kept = kept || calls && isNamed(call.Fun, "append") && slices.ContainsFunc(call.Args[1:], body)
				kept = kept || hasIndex(x) && body(n.Rhs[min(i, len(n.Rhs)-1)])
			}
		case *ast.SendStmt:
			kept = body(n.Value)
		case *ast.GoStmt:
			kept = slices.ContainsFunc(n.Call.Args, body)
		}
		if kept && line == 0 {
			line, _ = s.lines(n)
		}
	})
	if line == 0 {
		return
	}
	f.Severity = Info
	f.Evidence = append(f.Evidence, c.shownAt(at.File, line, "the source keeps the bodies here, or hands them on"))
	f.Advice = "By the source, the bodies are kept, or handed on, and read later: each of them needs its connection until it is read to its end or closed, as a stream does. What is to be had is to close those that are not needed any more. If the answers are short: " + strings.ToLower(f.Advice[:1]) + f.Advice[1:]
}

// tellPart says where the function that a frame is in reads only a part of the body of an answer.
func tellPart(f *Finding, c *code, at stack.Frame) {
	fn := c.scopeAt(at)
	if fn == nil {
		return
	}
	s, line, part, rest := c.parse(at.File), 0, "", false
	inside(fn.body, func(n ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || !slices.ContainsFunc(call.Args, func(x ast.Expr) bool { return strings.HasSuffix(types.ExprString(x), ".Body") }) {
			return
		}
		switch name := types.ExprString(call.Fun); name {
		case "io.ReadFull", "io.ReadAtLeast":
			if part == "" {
				part = name
				line, _ = s.lines(call)
			}
		default:
			rest = rest || strings.HasPrefix(name, "io.")
		}
	})
	if part == "" || rest {
		return
	}
	f.Severity = Info
	f.Evidence = append(f.Evidence, c.shownAt(at.File, line, "reads a part of the body: %s", part))
	f.Advice = fmt.Sprintf("The source reads only a part of the body (%s, %s:%d): if the rest is large, a new connection is cheaper than to read it. Ask for the part that is wanted (a Range header), if the peer can do that; where the rest is small, read it to its end ("+drainBody+"), and the connection is used again; "+endlessBody+".", part, baseName(at.File), line)
}

// answersAt is how many answers came at a line where one waits for them. Each has up to two
// waits: one that ends when the request is written, and one when the answer is there. The last
// one is left out where the answer is there by then. Calls that ended before had none, and those
// that the end of the trace finds waiting not yet.
func (t *traced) answersAt(b *sched.Block) int64 {
	var read, written int64
	for _, w := range b.Wakers {
		switch {
		case t.through(w.Stack, readLoop):
			read += w.Count
		case t.through(w.Stack, writeLoop):
			written += w.Count
		}
	}
	if read+written == 0 { // who has ended them is not known
		return b.Wait.Count - t.unanswered(b)
	}
	written -= t.unanswered(b)
	for i := range t.Left {
		if l := &t.Left[i]; l.Stack == b.Stack && l.Reason == b.Reason {
			written -= l.Count
		}
	}
	return max(read, written)
}

// through tells whether a stack leads through a function.
func (t *traced) through(id stack.ID, function string) bool {
	return slices.ContainsFunc(t.Frames(id), func(f stack.Frame) bool { return f.Func == function })
}

// handshaken is what TLS handshakes cost.
type handshaken struct {
	Finding
	found, client bool
	clients       int64   // samples of clients
	by            dialler // of most of them
}

// foldInto adds it to a finding that says why there are so many, if they are of the same side.
func (h *handshaken) foldInto(f *Finding, client bool) {
	if !h.found || h.client != client || client && h.by != dialsUnknown && h.by != dialsHTTP {
		return
	}
	f.Summary += "; " + h.Summary
	f.Impact = h.Impact
	f.Score = max(f.Score, h.Score)
	f.Evidence = append(f.Evidence, h.Evidence...)
	h.found = false
}

// handshakes looks at the CPU time of TLS handshakes.
func handshakes(r *Rule, in *Input) (h handshaken) {
	cpu, err := in.Facts.Weights(facts.CPU, "samples")
	if err != nil {
		return h
	}
	p, index, entry := cpu.Profile, cpu.Index, cpu.Entry
	var all, of int64
	for id, n := range p.Samples(index) {
		all += n
		for _, f := range p.Stacks.Frames(id) {
			if name := p.Stacks.Frame(f).Func; strings.HasPrefix(name, "crypto/tls.(*Conn).") && strings.HasSuffix(name, "Handshake") || strings.HasPrefix(name, "crypto/tls.(*Conn).handshakeContext") {
				of += n
				break
			}
		}
	}
	share := stats.Wilson(float64(of), float64(max(1, all)), compare.Confidence)
	if float64(all) < r.param("samples") || share.Low < r.param("handshake") {
		return h
	}
	by, clients := handshakesBy(p, index, in.Session.Scope().IsUser)
	h.clients, h.client = clients, 2*clients >= of || float64(clients) >= r.param("handshake")*float64(all)
	f := r.answer(Found, "%s of the CPU time went into TLS handshakes", unit.Percent(share.Estimate))
	f.connects = true
	f.Severity, f.Score = Warning, score(share.Estimate, 0.1, 0.4)
	f.Impact = &Impact{share.Estimate, "share of CPU samples", share.Low, share.High}
	f.Evidence = []Evidence{{Text: fmt.Sprintf("%d of %d samples", of, all), Path: entry.Path, Phase: entry.Phase}}
	f.Advice = "Keep connections open between requests, and let clients resume sessions (a ClientSessionCache, session tickets)."
	if h.client {
		f.Advice = "The program opens TLS connections as a client: one http.Client for all that is asked as the same (with one certificate, proxy and dialer), bodies read to their end, MaxIdleConnsPerHost above 2, and a ClientSessionCache."
	}
	f.Verify = "Record a CPU profile under the same load: handshakes should be below 5%."
	h.Finding, h.found = f, true
	if h.client {
		tellDialled(in, &h, by[0], all, entry)
	}
	return h
}
