package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// What follows a sync in a loop at the top of the next turn: a loop is a cycle, and what its turn begins with may tell somebody that the piece before is safe.

// actsOnFiles are functions that change other files, or start a process.
var actsOnFiles = lazily(`^(os\.(WriteFile|Rename|Remove|RemoveAll|Symlink|Link|Truncate|Chmod|StartProcess)|os/exec\.Command(Context)?)$`)

// ofPeers are packages whose functions and methods ask a peer.
var ofPeers = lazily(`^(net|net/.*|crypto/tls|database/sql|google\.golang\.org/grpc(/.*)?)$`)

// turnAround is what the turns of a loop do before and after the calls of a way through the code.
type turnAround struct {
	d      *derivations
	before []turnCall
	set    map[types.Object]bool // behind the call, and lives on
	sends  *effect
}

// turnCall is a call before that, with the function around it.
type turnCall struct {
	in   *ast.FuncDecl
	call *ast.CallExpr
}

// effectNext finds what the next turn of the loop around a call on a way through the code begins with: it changes files, sends to a peer or to a channel, starts a
// process, or asks a peer with what has been set behind the call.
func effectNext(c *code, path []stack.Frame) (e effect, found bool) {
	n := &turnAround{d: derivationsOf(c), set: map[types.Object]bool{}}
	for _, f := range path {
		in, ok := n.d.at(f)
		if !ok {
			return e, false
		}
		body, looped := n.turnBody(in, f.Line)
		n.add(in, body, f.Line)
		if !looped {
			continue
		}
		if n.sends != nil {
			return *n.sends, true
		}
		for _, b := range n.before {
			if n.tellsOthers(b) {
				return n.effect(b.call, types.ExprString(b.call.Fun)), true
			}
		}
		return e, false
	}
	return e, false
}

// effect is one at a node.
func (n *turnAround) effect(at ast.Node, name string) effect {
	place := n.d.placeOf(at)
	return effect{name, place.file, place.line}
}

// turnBody is the body of the innermost loop of a function around a line, with the calls of its condition; that of the function where there is none.
func (n *turnAround) turnBody(in frameCode, line int) (body ast.Node, looped bool) {
	body = in.body()
	ast.Inspect(in.body(), func(x ast.Node) bool {
		if lit, ok := x.(*ast.FuncLit); ok && lit != in.lit && n.covers(lit, line) && in.lit != nil {
			return true
		}
		if of := bodyOfLoop(x); of != nil && n.covers(of, line) {
			body, looped = of, true
			if loop, ok := x.(*ast.ForStmt); ok && loop.Cond != nil {
				n.addCalls(in.decl, loop.Cond)
			}
		}
		return true
	})
	return body, looped
}

func (n *turnAround) covers(x ast.Node, line int) bool { return coversLine(n.d, x, line) }

// add collects what a part of the turn does before a line, and what it sets behind it.
func (n *turnAround) add(in frameCode, body ast.Node, line int) {
	ast.Inspect(body, func(x ast.Node) bool {
		if x == nil {
			return false
		}
		_, first, _ := n.d.t.at(x.Pos())
		_, last, _ := n.d.t.at(x.End())
		switch s := x.(type) {
		case *ast.FuncLit:
			return n.covers(s, line)
		case *ast.DeferStmt, *ast.GoStmt:
			return false
		case *ast.SendStmt:
			if last < line && n.sends == nil {
				e := n.effect(s, "a send on "+types.ExprString(s.Chan))
				n.sends = &e
			}
		case *ast.CallExpr:
			if last < line {
				n.before = append(n.before, turnCall{in.decl, s})
			}
		}
		if first > line {
			for _, place := range placesSet(x) {
				if v := n.livesOn(place, body); v != nil {
					n.set[v] = true
				}
			}
		}
		return true
	})
}

// addCalls collects the calls of an expression.
func (n *turnAround) addCalls(in *ast.FuncDecl, x ast.Expr) {
	ast.Inspect(x, func(x ast.Node) bool {
		if call, ok := x.(*ast.CallExpr); ok {
			n.before = append(n.before, turnCall{in, call})
		}
		return true
	})
}

// livesOn is the variable or field that a place is, if it outlives the turn; nil otherwise.
func (n *turnAround) livesOn(place ast.Expr, body ast.Node) types.Object {
	switch x := ast.Unparen(place).(type) {
	case *ast.SelectorExpr:
		return n.d.t.info.Uses[x.Sel]
	case *ast.Ident:
		if v := n.d.variable(x); v != nil && (v.Pos() < body.Pos() || v.Pos() >= body.End()) {
			return v
		}
	}
	return nil
}

// tellsOthers tells of a call, and what it comes to, that others than the program see it, or are asked with what the turn before has set.
func (n *turnAround) tellsOthers(b turnCall) bool {
	parts := []ast.Node{b.call}
	for decl := range n.d.reached(b.in, b.call) {
		if decl.Body != nil {
			parts = append(parts, decl.Body)
		}
	}
	asks, told := false, false
	for _, part := range parts {
		told = told || hasNode(part, func(x ast.Node) bool {
			id, ok := x.(*ast.Ident)
			return ok && n.set[n.d.t.info.Uses[id]]
		})
		if hasNode(part, func(x ast.Node) bool {
			if _, sends := x.(*ast.SendStmt); sends {
				return true
			}
			call, ok := x.(*ast.CallExpr)
			asks = asks || ok && ofPeers.MatchString(n.packageOf(call))
			return ok && n.acts(call)
		}) {
			return true
		}
	}
	return asks && told
}

// packageOf is the package that a called function is of, or that of what a method is called on.
func (n *turnAround) packageOf(call *ast.CallExpr) string {
	fun := ast.Unparen(uninstantiated(call))
	if pkg := n.d.t.fromPackage(fun); pkg != "" {
		return pkg
	}
	if sel, ok := fun.(*ast.SelectorExpr); ok && n.d.t.callee(call) == nil {
		return libraryTypeOf(n.d, sel.X, 0).pkg
	}
	return ""
}

// acts tells of a call that it changes a file, starts a process, or sends something to a peer that changes something there.
func (n *turnAround) acts(call *ast.CallExpr) bool {
	pkg, name := n.packageOf(call), calledName(call)
	switch {
	case actsOnFiles.MatchString(pkg + "." + name):
		return true
	case pkg == "net/http":
		return name == "Post" || name == "PostForm" || httpMethod([]*ast.CallExpr{call}) != ""
	case pkg == "net" || pkg == "crypto/tls" || pkg == "net/smtp":
		return strings.HasPrefix(name, "Write") || name == "SendMail"
	case pkg == "fmt" && strings.HasPrefix(name, "Fprint"), pkg == "io" && name == "WriteString":
		return len(call.Args) > 0 && slices.Contains([]string{"net", "crypto/tls"}, libraryTypeOf(n.d, call.Args[0], 0).pkg)
	}
	return false
}

// effectBehindWrites finds what follows the writes on a way through the code which go to a file that is opened at a place: in the turn of any loop around them that does not open
// it, or at the top of the next.
func effectBehindWrites(c *code, path []stack.Frame, open codeLine) (e effect, found bool) {
	for i, f := range path {
		for _, l := range slices.Backward(loopsAround(c, f)) {
			if first, last := l.source.lines(l.stmt); f.File == open.file && first <= open.line && open.line <= last {
				return e, false
			}
			if e, found = (turnPart{s: l.source, file: f.File, line: f.Line, body: l.body}).effectAfter(); found {
				return e, true
			}
		}
		if i == 0 {
			if e, found = effectAfter(c, path); found {
				return e, true
			}
		}
		if fn := c.function(f); fn == nil || f.File == open.file && c.parse(f.File).covers(fn, open.line) {
			break
		}
	}
	e, _, found = syncTold(c, path)
	return e, found
}

// nextDoubt is what speaks against one sync for several where the next turn begins with something.
func nextDoubt(e effect) string {
	return fmt.Sprintf("%s follows each sync, at the top of the next turn: if it tells somebody that what was written is safe, or must not happen before that is on the disk, the syncs cannot simply be combined", e)
}
