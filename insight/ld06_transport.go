package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// A Transport that is made for each request: its connections are of no use to the next one.

// ownTransport is where the path of a request makes a Transport.
type ownTransport struct {
	calls []*ast.CallExpr // that lead to it, the outermost first
	in    []*ast.FuncDecl // the functions of the way, that which makes it last
	made  ast.Node
	sets  bool // MaxIdleConnsPerHost
	given bool // the function that makes it returns it
	often      // by the conditions on the way
}

// setPerHost is what to set of a Transport that is made once.
const setPerHost = " Set its MaxIdleConnsPerHost, which is 2 otherwise, to at least the number of concurrent requests to one host."

// tellTransport says of connections that are not used again that each request makes a Transport, where the source shows
// that; it is false where it does not.
func tellTransport(f *Finding, c *code, frames []stack.Frame, user func(stack.Frame) bool) bool {
	d := newDerivations(c)
	x, ok := transportFor(d, frames, user)
	if !ok {
		return false
	}
	at := d.placeOf(x.made)
	shown := []Evidence{c.shownAt(at.file, at.line, "a Transport of its own is made for each request here")}
	if x.given && len(x.calls) > 0 {
		from := d.placeOf(x.calls[len(x.calls)-1])
		shown = append(shown, c.shownAt(from.file, from.line, "by this call"))
	}
	f.Evidence = append(shown, f.Evidence...)
	field, from := transportOwn(d, x)
	if from == settingGiven {
		f.Severity = Info
		f.Advice = fmt.Sprintf("Its %s comes from what the function is given, as at %s: keep one Transport for each of these settings (for each tenant, account or proxy), and never one for all of them, which would send requests with those of another one.", field, at.text())
		return true
	}
	if s, is := transportDiffers(d, x); is {
		s.tell(f, d)
		return true
	}
	varies := x.varies(d)
	if x.unset == nil {
		f.Summary = fmt.Sprintf("each request makes a Transport of its own at %s%s, so no connection is used again: ", at.text(), x.says()) + f.Summary
	}
	old := f.Advice
	f.Advice = "Make the Transport once, and not for each request as at " + at.text() + ": it keeps the connections, so those of one that is made anew are of no use to the next request. Keep it in the value that makes the requests" + orPackage(field, from) + "; it is safe for concurrent use."
	if !x.sets {
		f.Advice += setPerHost
	}
	f.Advice += oneKept(d, x)
	if varies.tell(f, at) {
		shown := c.shownAt(varies.at.file, varies.at.line, "%s", varies.says)
		f.Evidence = slices.Insert(f.Evidence, 1, shown)
	}
	f.Advice = x.tellOften(d, f.Advice)
	x.sessionOf(d).tell(f)
	if body, _, ok := strings.Cut(old, " Otherwise: "); ok && strings.HasPrefix(body, "By the source, the body") {
		f.Advice += " Then the bodies: " + strings.ToLower(body[:1]) + body[1:]
	}
	f.Doubts = slices.DeleteFunc(f.Doubts, func(s string) bool {
		return strings.Contains(s, "large body") || strings.Contains(s, "MaxIdleConnsPerHost is unset")
	})
	return true
}

// transportFor finds on the way of a request to package net/http what makes a Transport for it.
func transportFor(d *derivations, frames []stack.Frame, user func(stack.Frame) bool) (found ownTransport, ok bool) {
	at, client, inner := requestClient(d, frames, user)
	if client == nil {
		return found, false
	}
	served := slices.ContainsFunc(frames, func(f stack.Frame) bool {
		return serves.MatchString(stack.Package(f.Func)) && strings.Contains(f.Func, "erve")
	})
	w := &transportTrail{d: d, counts: blockCountsOf(d.c), asked: map[ast.Expr]bool{}}
	p := clientPlace{at, client, inner}.givenAlong(d, frames, user)
	at, client, inner = p.at, p.x, p.frame
	for _, x := range w.of(at.decl, client) {
		if x.often, ok = w.each(x); ok && w.forEach(p, frames, user, served, x.steps()[0]) {
			return x, true
		}
	}
	need, ok := transportOf(d, at.decl, client, 0)
	if !ok {
		return found, false
	}
	for i := inner; i < len(frames); i++ {
		if !user(frames[i]) {
			continue
		}
		in, ok := d.at(frames[i])
		if !ok {
			return found, false
		}
		body := ast.Node(in.body())
		looped := loopsAround(d.c, frames[i])
		if !served && len(looped) > 0 {
			body = transportLoop(d, in.body(), frames[i].Line)
		}
		if served || len(looped) > 0 || slices.ContainsFunc(frames[i+1:], func(f stack.Frame) bool { return user(f) && len(loopsAround(d.c, f)) > 0 }) {
			if x, ok := transportMade(d, in.decl, body, need, map[*ast.FuncDecl]bool{}); ok {
				if x.often, ok = w.each(x); ok && !w.manyOf(clientPlace{at: in, frame: i}, frames, user, x.steps()[0]) {
					return x, true
				}
			}
		}
		if !served && len(looped) > 0 {
			break
		}
	}
	return found, false
}

// requestClient is what the request of a stack is made with, on the line of the program that is nearest to package net/http, with
// the function there and the place of its frame; nil where the source does not show it.
func requestClient(d *derivations, frames []stack.Frame, user func(stack.Frame) bool) (at frameCode, client ast.Expr, inner int) {
	inner = slices.IndexFunc(frames, user)
	if inner < 1 {
		return at, nil, inner
	}
	at, ok := d.at(frames[inner])
	if !ok {
		return at, nil, inner
	}
	for _, name := range []string{"Do", "Get", "Post", "PostForm", "Head", "RoundTrip"} {
		for _, call := range d.callsOn(at, frames[inner], name) {
			client = receiverOf(call)
		}
	}
	return at, client, inner
}

// transportLoop is the innermost loop of a function around a line.
func transportLoop(d *derivations, body *ast.BlockStmt, line int) ast.Node {
	var in ast.Node = body
	ast.Inspect(body, func(n ast.Node) bool {
		if n != nil && isLoop(n) {
			_, first, _ := d.t.at(n.Pos())
			_, last, _ := d.t.at(n.End())
			if first <= line && line <= last {
				in = n
			}
		}
		return true
	})
	return in
}

// transportOf says of what does a request what has to be made for it: need is the type of the value that has its Transport,
// nil where it is made here. ok tells that it may be made for it: not what a package keeps.
func transportOf(d *derivations, decl *ast.FuncDecl, x ast.Expr, depth int) (need types.Type, ok bool) {
	x = ast.Unparen(x)
	switch n := x.(type) {
	case *ast.UnaryExpr:
		return transportOf(d, decl, n.X, depth)
	case *ast.CompositeLit:
		if isTransport(n) {
			return nil, true
		}
		for _, e := range n.Elts {
			if kv, is := e.(*ast.KeyValueExpr); is && isNamed(kv.Key, "Transport") {
				return transportOf(d, decl, kv.Value, depth+1)
			}
		}
		return nil, false // the default one
	case *ast.CallExpr:
		return nil, true
	}
	root, isVar := innermost(x).(*ast.Ident)
	if !isVar || depth > 4 {
		return nil, false
	}
	v := d.variable(root)
	switch {
	case v == nil || ofPackage(v):
		return nil, false
	case isGiven(decl, v) || !isIdent(x):
		return pointedType(v.Type()), true
	}
	for _, def := range d.definitions(decl)[v] {
		if def.x != nil && !def.part {
			if need, ok = transportOf(d, decl, def.x, depth+1); ok {
				return need, true
			}
		}
	}
	return nil, false
}

// isTransport tells of a literal that it is a Transport of package net/http, or of the one for HTTP/2.
func isTransport(lit *ast.CompositeLit) bool {
	return lit.Type != nil && (types.ExprString(lit.Type) == "http.Transport" || types.ExprString(lit.Type) == "http2.Transport")
}

// transportMade finds in a part of a function, and in what that calls, what makes a Transport and keeps it nowhere. need is
// the type of which a value has to be made with it.
func transportMade(d *derivations, decl *ast.FuncDecl, part ast.Node, need types.Type, looked map[*ast.FuncDecl]bool) (found ownTransport, ok bool) {
	eachNode(part, func(n ast.Node, around []ast.Node) {
		if ok || withinLit(around) && part == ast.Node(decl.Body) {
			return
		}
		switch n := n.(type) {
		case *ast.CompositeLit:
			if isTransport(n) && !transportKept(d, decl, n, around) {
				x := ownTransport{in: []*ast.FuncDecl{decl}, made: n, sets: transportSets(n)}
				x.given = slices.ContainsFunc(around, func(n ast.Node) bool { _, ret := n.(*ast.ReturnStmt); return ret })
				found, ok = x, transportHas(d, x, need)
			}
		case *ast.CallExpr:
			fn := d.t.callee(n)
			if fn == nil || d.t.decls[fn] == nil || d.t.decls[fn] == decl || looked[d.t.decls[fn]] || transportKept(d, decl, n, around) {
				return
			}
			looked[d.t.decls[fn]] = true // once is enough, found or not
			x, is := transportMade(d, d.t.decls[fn], d.t.decls[fn].Body, nil, looked)
			if !is {
				return
			}
			x.calls, x.in = append([]*ast.CallExpr{n}, x.calls...), append([]*ast.FuncDecl{decl}, x.in...)
			found, ok = x, transportHas(d, x, need)
		}
	})
	return found, ok
}

// transportHas tells whether one of the functions that lead to a Transport makes a value of the type that has to have it.
func transportHas(d *derivations, x ownTransport, need types.Type) bool {
	if need == nil {
		return true
	}
	return slices.ContainsFunc(x.in, func(decl *ast.FuncDecl) bool {
		makes := false
		ast.Inspect(decl, func(n ast.Node) bool {
			if lit, ok := n.(*ast.CompositeLit); ok {
				of := d.t.typeOf(lit)
				makes = makes || of != nil && types.Identical(of, need)
			}
			return !makes
		})
		return makes
	})
}

// transportSets tells whether a literal says how many idle connections are kept.
func transportSets(lit *ast.CompositeLit) bool {
	return slices.ContainsFunc(lit.Elts, func(e ast.Expr) bool {
		kv, ok := e.(*ast.KeyValueExpr)
		return ok && isNamed(kv.Key, "MaxIdleConnsPerHost")
	})
}

// transportKept tells whether what an expression makes is put where the next request finds it: in something that the function
// has not made, in a map, or by a method that stores.
func transportKept(d *derivations, decl *ast.FuncDecl, x ast.Expr, around []ast.Node) (kept bool) {
	vars := map[types.Object]bool{}
	mentions := func(e ast.Expr) bool {
		return within(e, x) || vars[d.variable(pointed(ast.Unparen(e)))]
	}
	for range 2 {
		eachAssigned(decl.Body, func(lhs, rhs ast.Expr) {
			if lit, ok := unrefer(rhs).(*ast.CompositeLit); !mentions(rhs) && !(ok && slices.ContainsFunc(lit.Elts, func(e ast.Expr) bool {
				kv, keyed := e.(*ast.KeyValueExpr)
				return keyed && mentions(kv.Value)
			})) {
				return
			}
			if v := d.variable(ast.Unparen(lhs)); v != nil && isLocal(decl, v) {
				vars[v] = true
				return
			}
			root := d.variable(innermost(lhs))
			kept = kept || root == nil || ofPackage(root) || isGiven(decl, root)
		})
	}
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		kept = kept || ok && ast.Expr(call) != x && (storers.MatchString(calledName(call)) && receiverOf(call) != nil || calledName(call) == "Do" && len(call.Args) == 1 && isFuncLit(call.Args[0])) && slices.ContainsFunc(call.Args, mentions)
		return !kept
	})
	return kept
}
