package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
	"loupe/value/unit"
)

// What the source does with the body of an answer, on each way out of the function that asks for it: a connection is used
// again where the body is read to its end and closed.

// bodyWays is what the function of a call does with the body of its answer.
type bodyWays struct {
	c      *code
	s      *syntax
	file   string
	name   string // of the answer
	handed int    // the line at which it is handed on open; 0 without one
	owner  string // the field that it is put into there
	closed []int  // lines at which it is closed
	unread []int  // lines at which the function returns before it has read the body, which is closed then
	drains bool   // what is deferred to close it reads it to its end

	counted  *waysTaken // how often these were taken, where that was counted and is why
	deferred bool       // it is closed by the first statement that follows the check for an error, by defer
	whole    int        // how often it is read to its end
	other    int        // how often something else is done with it
	limited  int        // the line at which no more than a limit is read; 0 without one
}

// bodyWaysOf looks at the call on the line of a frame; ok is false where the source does not show it, or does something else than
// to assign the answer and go on.
func bodyWaysOf(c *code, at stack.Frame) (b bodyWays, ok bool) {
	fn := c.scopeAt(at)
	if fn == nil {
		return b, false
	}
	b = bodyWays{c: c, s: c.parse(at.File), file: at.File}
	for i, x := range fn.body.List {
		a, assigns := x.(*ast.AssignStmt)
		if !b.s.covers(x, at.Line) {
			continue
		}
		id, named := ast.Expr(nil), false
		if assigns && len(a.Rhs) == 1 && len(a.Lhs) == 2 {
			id, named = a.Lhs[0], true
		}
		n, is := id.(*ast.Ident)
		if !named || !is || n.Name == "_" {
			return b, false
		}
		b.name = n.Name
		rest := fn.body.List[i+1:]
		if len(rest) > 0 {
			if check, guards := rest[0].(*ast.IfStmt); guards && check.Init == nil && errorCheck(check.Cond) {
				rest = rest[1:]
			}
		}
		if len(rest) > 0 {
			if s, ok := rest[0].(*ast.DeferStmt); ok {
				b.deferred, _ = b.closes(s.Call)
			}
		}
		b.countReaders(rest)
		b.walk(rest, false)
		if b.drains {
			b.unread = nil
		}
		return b, true
	}
	return b, false
}

// body is how the source writes the body.
func (b *bodyWays) body() string { return b.name + ".Body" }

// is tells whether an expression is the body, or the answer itself.
func (b *bodyWays) is(x ast.Expr) bool {
	text := types.ExprString(x)
	return text == b.body() || text == b.name
}

// bodyReaders are names of functions that read what they are given, to its end as far as one can tell.
var bodyReaders = lazily(`(?i)^(read|copy|decode|parse|unmarshal|load|scan|drain|discard|newdecoder|newreader|newscanner)`)

// reads tells whether a node reads the body, itself or by what it calls.
func (b *bodyWays) reads(n ast.Node) bool {
	return hasCall(n, func(call *ast.CallExpr) bool {
		return bodyReaders.MatchString(calledName(call)) && slices.ContainsFunc(call.Args, func(x ast.Expr) bool { return mentionsText(x, b.body()) || isNamed(x, b.name) })
	})
}

// hands tells whether a return gives the body away: as it is, within a value, or to a function that is not known to read it.
func (b *bodyWays) hands(r *ast.ReturnStmt) bool {
	found := false
	eachNode(r, func(n ast.Node, around []ast.Node) {
		x, ok := n.(ast.Expr)
		if !ok || !b.is(x) || len(around) == 0 {
			return
		}
		switch p := around[len(around)-1].(type) {
		case *ast.SelectorExpr: // resp.Status
			return
		case *ast.CallExpr:
			if bodyReaders.MatchString(calledName(p)) || strings.HasPrefix(types.ExprString(p.Fun), "fmt.") {
				return
			}
		case *ast.KeyValueExpr:
			if b.owner == "" {
				b.owner = types.ExprString(p.Key)
			}
		}
		found = true
	})
	return found
}

// closes tells whether a call closes the body, and whether it certainly reads it to its end before.
func (b *bodyWays) closes(call *ast.CallExpr) (closes, drains bool) {
	if types.ExprString(call.Fun) == b.body()+".Close" {
		return true, false
	}
	if lit, ok := call.Fun.(*ast.FuncLit); ok {
		closes = hasCall(lit.Body, func(c *ast.CallExpr) bool { return types.ExprString(c.Fun) == b.body()+".Close" })
		return closes, closes && b.reads(lit.Body)
	}
	if len(call.Args) == 0 || !slices.ContainsFunc(call.Args, b.is) {
		return false, false
	}
	return releasesBody(b.c, calledName(call))
}

// releasesBody looks at the functions that a name may stand for: those that are declared so, and those that are put into a
// variable or a field of that name. They close what they are given, and drains tells whether all of them read it before.
func releasesBody(c *code, name string) (closes, drains bool) {
	var bodies []*ast.BlockStmt
	declared := func(name string) {
		for _, d := range c.functions()[name] {
			bodies = append(bodies, d.Body)
		}
	}
	add := func(x ast.Expr) {
		switch x := x.(type) {
		case *ast.FuncLit:
			bodies = append(bodies, x.Body)
		case *ast.Ident:
			declared(x.Name)
		case *ast.SelectorExpr:
			declared(x.Sel.Name)
		}
	}
	declared(name)
	c.eachSource(func(_ string, s *syntax) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.KeyValueExpr:
				if isNamed(n.Key, name) {
					add(n.Value)
				}
			case *ast.AssignStmt:
				for i, x := range n.Lhs {
					if len(n.Lhs) == len(n.Rhs) && lastName(types.ExprString(x)) == name {
						add(n.Rhs[i])
					}
				}
			}
			return true
		})
	})
	drains = len(bodies) > 0
	for _, body := range bodies {
		if body == nil {
			continue
		}
		closes = closes || hasCall(body, func(call *ast.CallExpr) bool { return calledName(call) == "Close" })
		drains = drains && hasCall(body, func(call *ast.CallExpr) bool { return bodyReaders.MatchString(calledName(call)) })
	}
	return closes, drains
}

// kept tells that each way out of the function has read the body to its end and closed it: it is closed by defer, before anything else is done with it, and is given
// to nothing but what reads all of it, or as much as a limit allows on the way of an error.
func (b *bodyWays) kept() bool {
	return b.deferred && len(b.unread) == 0 && b.handed == 0 && b.whole > 0 && b.other == 0
}

// endReaders read to the end what they are given, the argument of this number.
var endReaders = map[string]int{"io.ReadAll": 0, "ioutil.ReadAll": 0, "io.Copy": 1, "io.CopyBuffer": 1}

// readToEnd is what a call reads to its end, nil of other calls.
func readToEnd(call *ast.CallExpr) ast.Expr {
	if n, ok := endReaders[types.ExprString(call.Fun)]; ok && n < len(call.Args) {
		return call.Args[n]
	}
	return nil
}

// countReaders counts, of what comes behind the call, what reads all of the body, what reads no more than a limit, and what else is done with it.
func (b *bodyWays) countReaders(rest []ast.Stmt) {
	for _, x := range rest {
		eachNode(x, func(n ast.Node, around []ast.Node) {
			e, ok := n.(ast.Expr)
			if !ok || types.ExprString(e) != b.body() && !isNamed(e, b.name) || len(around) == 0 {
				return
			}
			switch p := around[len(around)-1].(type) {
			case *ast.SelectorExpr: // resp.Body of resp, resp.StatusCode, resp.Body.Close
				return
			case *ast.CallExpr:
				name := types.ExprString(p.Fun)
				switch {
				case readToEnd(p) == e:
					b.whole++
					return
				case name == "io.LimitReader":
					b.limited, _ = b.s.lines(p)
					return
				}
			}
			b.other++
		})
	}
}

// limitDoubt begins what speaks against a body being read to its end.
const limitDoubt = "a body that is longer than the limit"

// tellEnded says that the bodies are not why.
func tellEnded(f *Finding, b *bodyWays, sources connSources, at stack.Frame) {
	others := sources.others(at)
	if others == "" {
		others = "set its Transport's MaxIdleConnsPerHost to at least the number of concurrent requests to one host."
	}
	f.Advice = "By the source, the body is read and closed on every path there. " + strings.ToUpper(others[:1]) + others[1:]
	f.Doubts = slices.DeleteFunc(f.Doubts, func(s string) bool { return s == restDoubt })
	if b.limited > 0 {
		f.Doubts = append(f.Doubts, fmt.Sprintf(limitDoubt+" at %s is not read to its end, which costs the connection", fileLine(b.file, b.limited)))
	}
}

// bodyless are statuses whose answers have no body.
var bodyless = lazily(`StatusNo(Content|tModified)|\b(204|304)\b`)

// bodyState is what is known of the body behind some statements: that it has been read, or that nothing comes behind them.
type bodyState struct{ read, ends bool }

// joined is what is known behind branches of which one is taken: what is known of all that go on.
func joined(branches []bodyState) bodyState {
	after := bodyState{read: true, ends: true}
	for _, x := range branches {
		if !x.ends {
			after.read, after.ends = after.read && x.read, false
		}
	}
	return after
}

// walk goes through statements; read tells whether the body has been read before.
func (b *bodyWays) walk(list []ast.Stmt, read bool) bodyState {
	for _, x := range list {
		after := b.step(x, read)
		if after.ends {
			return after
		}
		if _, leaves := x.(*ast.BranchStmt); leaves {
			break
		}
		read = after.read
	}
	return bodyState{read: read}
}

// step goes through one statement.
func (b *bodyWays) step(x ast.Stmt, read bool) bodyState {
	switch x := x.(type) {
	case *ast.ReturnStmt:
		line, _ := b.s.lines(x)
		switch {
		case b.hands(x):
			b.handed = max(b.handed, line)
		case !read && !b.reads(x):
			b.unread = append(b.unread, line)
		}
		return bodyState{read, true}
	case *ast.DeferStmt:
		if closes, drains := b.closes(x.Call); closes {
			b.note(x)
			b.drains = b.drains || drains
		}
		return bodyState{read: read}
	case *ast.ExprStmt:
		drains, ends := false, false
		if call, ok := x.X.(*ast.CallExpr); ok {
			var closes bool
			if closes, drains = b.closes(call); closes {
				b.note(x)
			}
			ends = neverReturns(types.ExprString(call.Fun))
		}
		return bodyState{read || drains || b.reads(x), ends}
	case *ast.IfStmt:
		read = read || x.Init != nil && b.reads(x.Init) || b.reads(x.Cond)
		empty, otherwise := emptyStatus(x.Cond)
		then, other := b.walk(x.Body.List, read || empty), bodyState{read: read || otherwise}
		if x.Else != nil {
			other = b.step(x.Else, other.read)
		}
		return joined([]bodyState{then, other})
	case *ast.SwitchStmt:
		read = read || x.Init != nil && b.reads(x.Init) || x.Tag != nil && b.reads(x.Tag)
		return b.clauses(x.Body.List, read)
	case *ast.TypeSwitchStmt:
		return b.clauses(x.Body.List, read || x.Init != nil && b.reads(x.Init) || b.reads(x.Assign))
	case *ast.SelectStmt:
		return b.clauses(x.Body.List, read)
	case *ast.BlockStmt:
		return b.walk(x.List, read)
	case *ast.LabeledStmt:
		return b.step(x.Stmt, read)
	}
	return bodyState{read: read || b.reads(x)}
}

// clauses goes through those of a switch or a select. A switch without a default may take none of them.
func (b *bodyWays) clauses(list []ast.Stmt, read bool) bodyState {
	var all []bodyState
	exhaustive := false
	for _, c := range list {
		before, body := read, statements(c)
		switch c := c.(type) {
		case *ast.CaseClause:
			exhaustive = exhaustive || c.List == nil
			before = read || slices.ContainsFunc(c.List, func(e ast.Expr) bool { empty, _ := emptyStatus(e); return empty })
		case *ast.CommClause:
			exhaustive = true // it waits for one of them
			before = read || c.Comm != nil && b.reads(c.Comm)
		}
		after := b.walk(body, before)
		if n := len(body); n > 0 {
			if last, ok := body[n-1].(*ast.BranchStmt); ok && last.Tok == token.FALLTHROUGH {
				continue // the next clause goes on
			}
		}
		all = append(all, after)
	}
	if !exhaustive {
		all = append(all, bodyState{read: read})
	}
	return joined(all)
}

// emptyStatus tells of a condition that an answer has no body where it holds, and where it does not.
func emptyStatus(cond ast.Expr) (then, otherwise bool) {
	if !bodyless.MatchString(types.ExprString(cond)) {
		return false, false
	}
	x, ok := ast.Unparen(cond).(*ast.BinaryExpr)
	if ok && (x.Op == token.NEQ || x.Op == token.LAND) {
		return x.Op == token.LAND && !strings.Contains(types.ExprString(cond), "!="), x.Op == token.NEQ
	}
	return true, false
}

// note keeps the line of what closes the body.
func (b *bodyWays) note(n ast.Node) {
	line, _ := b.s.lines(n)
	b.closed = append(b.closed, line)
}

// closer is where the sources close the field that the body is handed on in.
func (b *bodyWays) closer() (at Evidence, found bool) {
	if b.owner == "" {
		return at, false
	}
	b.c.eachSource(func(file string, s *syntax) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && !found && strings.HasSuffix(types.ExprString(call.Fun), "."+b.owner+".Close") {
				line, _ := s.lines(call)
				at, found = b.c.shownAt(file, line, "closed here by whoever it is handed to"), true
			}
			return !found
		})
	})
	return at, found
}

// waysNamed is how many ways out are named.
const waysNamed = 3

// tell says in a finding about connections that are not used again what the source does, where that may be why. The other
// remedies, which the advice is then, may be empty.
func (b *bodyWays) tell(f *Finding, others string) bool {
	or := ""
	if others != "" {
		or = " Otherwise: " + others
	}
	switch {
	case b.handed > 0:
		f.Evidence = append(f.Evidence, b.c.shownAt(b.file, b.handed, "the body is handed on open here"))
		text := fmt.Sprintf("By the source, the body is handed on open at %s", fileLine(b.file, b.handed))
		if len(b.closed) > 0 {
			text += fmt.Sprintf(", and closed in this function only where it is not (line %d)", b.closed[0])
		}
		if at, found := b.closer(); found {
			f.Evidence = append(f.Evidence, at)
			text += fmt.Sprintf("; what it is handed to closes it at %s", fileLine(at.File, at.Line))
		}
		f.Advice = text + ". Whoever has it must close it on every way out, and read it to its end before, also where it stops early: a body that is closed before its end, or never, costs its connection. Where it stops because its own client has left, that may be the price." + or
		return true
	case len(b.unread) > 0 && len(b.closed) > 0:
		var places []string
		for _, line := range b.unread[:min(waysNamed, len(b.unread))] {
			f.Evidence = append(f.Evidence, b.c.shownAt(b.file, line, "the source returns here before it has read the body"))
			places = append(places, fmt.Sprint(line))
		}
		where := baseName(b.file) + ":" + andList(places)
		f.Advice = fmt.Sprintf("By the source, the function returns at %s before it has read the body, which is then closed unread: that costs the connection. ", where)
		if w := b.counted; w != nil {
			f.Advice += fmt.Sprintf("By the counts, %s of %s went that way. Read these answers", unit.Count(w.taken), unit.Plural(w.calls, "call"))
		} else {
			f.Advice += "If these answers (error statuses, for example) are not rare, read them"
		}
		f.Advice += fmt.Sprintf(" to their end first, with a limit: io.Copy(io.Discard, io.LimitReader(%s, 64<<10)).", b.body()) + or
		return true
	}
	return false
}

// others are the remedies beside those for bodies that the source does not show to be followed already: one client for all
// requests, and enough idle connections; empty where it shows both.
func (c connSources) others(at stack.Frame) string {
	var parts []string
	if !c.keepsClient(at) {
		parts = append(parts, "use one http.Client for all requests")
	}
	if !c.setsPerHost() {
		parts = append(parts, "set its Transport's MaxIdleConnsPerHost "+perHostDefault+" to at least the number of concurrent requests to one host")
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ", and ") + "."
}

// keepsClient tells whether the call on a line is one of a client that is kept in a field or a variable of the package.
func (c connSources) keepsClient(at stack.Frame) bool {
	fn, s := c.scopeAt(at), c.parse(at.File)
	if fn == nil {
		return false
	}
	kept := false
	s.onLine(at.Line, func(n ast.Node, _ []ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || !slices.Contains([]string{"Do", "Get", "Post", "Head", "PostForm"}, calledName(call)) {
			return
		}
		f, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return
		}
		switch x := f.X.(type) {
		case *ast.SelectorExpr: // of the receiver
			kept = kept || fn.receiver != "" && rootName(x) == fn.receiver
		case *ast.Ident:
			kept = kept || declaresOfType(s.file, x.Name, func(of ast.Expr) bool { return strings.HasSuffix(types.ExprString(of), "http.Client") }) && fn.parameter(x.Name) < 0 && fn.made(x.Name) == nil
		}
	})
	return kept
}

// setsPerHost tells whether each Transport that the sources make has more idle connections to one host than two.
func (c connSources) setsPerHost() bool {
	n := 0
	c.eachSource(func(_ string, s *syntax) {
		ast.Inspect(s.file, func(x ast.Node) bool {
			kv, ok := x.(*ast.KeyValueExpr)
			if !ok || !isNamed(kv.Key, "MaxIdleConnsPerHost") {
				return true
			}
			if value, known := numberOf(kv.Value); !known || value > 2 {
				n++
			}
			return true
		})
	})
	return n > 0 && len(c.unsetPerHost()) == 0
}
