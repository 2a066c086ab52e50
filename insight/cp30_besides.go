package insight

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"loupe/value/stack"
)

// What else belongs to one request, though nothing of it is given to what makes the answer: what the writer of the answer tells, what is set for
// each request before, and what making the answer changes or draws.

// answerBesides is what was found of that.
type answerBesides struct {
	// tells is true where something asks the writer of the answer, or the context, about the request.
	tells bool
	// doubts are reasons for which each request may need an answer of its own.
	doubts []string
	// system is a line that asks the operating system or the runtime.
	system string
}

// besidesAnswer looks at a part of a function and at all that this calls. callers are the lines that call the function, the nearest first.
func besidesAnswer(d *derivations, in frameCode, part ast.Stmt, callers []stack.Frame) (b answerBesides) {
	within := d.reached(in.decl, part)
	// The part stands for a function of its own.
	own := &ast.FuncDecl{Name: in.decl.Name, Recv: in.decl.Recv, Type: in.decl.Type, Body: &ast.BlockStmt{List: []ast.Stmt{part}}}
	for _, decl := range append([]*ast.FuncDecl{own}, funcsInOrder(within)...) {
		b.look(d, decl, decl.Body)
		file, _, _ := d.t.at(decl.Name.Pos())
		at, says := otherIn(d.c, declaration{decl, file})
		switch {
		case strings.HasSuffix(says, "value of the context"):
			b.tells = true
		case says != "":
			b.doubts = append(b.doubts, fmt.Sprintf("%s %s at %s: a copy would give all requests the same", decl.Name.Name, says, lineAt(d.t, at)))
		}
	}
	b.doubts = append(b.doubts, changesWithin(d, in, part, within)...)
	b.doubts = append(b.doubts, setOnWay(d, in, part, within, callers)...)
	return b
}

// systemPackages are packages whose functions say how things are now.
var systemPackages = lazily(`^(os|runtime(/.*)?|syscall|net|os/(user|exec)|io/ioutil|golang\.org/x/sys/.*)$`)

// drawsValues are packages that give another value each time.
var drawsValues = lazily(`^(math/rand|math/rand/v2|crypto/rand)$|/(uuid|ulid|xid|ksuid|nanoid)$`)

// look finds what a node asks the writer, and where it asks the system.
func (b *answerBesides) look(d *derivations, decl *ast.FuncDecl, n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeAssertExpr:
			if id, ok := n.X.(*ast.Ident); ok && isWriter(d, decl, id) && (n.Type == nil || ownType(n.Type)) {
				b.tells = true
			}
		case *ast.UnaryExpr:
			b.tells = b.tells || n.Op == token.ARROW // what is received may be a request's
		case *ast.CallExpr:
			if sel, ok := n.Fun.(*ast.SelectorExpr); ok && (sel.Sel.Name == "Get" || sel.Sel.Name == "Values") && strings.HasSuffix(types.ExprString(sel.X), ".Header()") {
				b.tells = true
			}
			name := calledName(n)
			b.tells = b.tells || name == "Hijack" || name == "RemoteAddr" || name == "Sleep" // a stream, or who asks
			pkg := d.t.fromPackage(uninstantiated(n))
			if drawsValues.MatchString(pkg) && name != "New" && name != "NewSource" {
				b.doubts = append(b.doubts, fmt.Sprintf("it draws a random value at %s: a copy would give all requests the same", lineAt(d.t, n.Pos())))
			}
			if id, ok := n.Fun.(*ast.Ident); ok {
				if v, isVar := d.t.info.Uses[id].(*types.Var); isVar && ofPackage(v) {
					b.doubts = append(b.doubts, fmt.Sprintf("it calls %s at %s, which may be any function", id.Name, lineAt(d.t, n.Pos())))
				}
			}
			if b.system == "" && systemPackages.MatchString(pkg) {
				b.system = lineAt(d.t, n.Pos())
			}
		}
		return true
	})
}

// isWriter tells of a name that it is a parameter of what an answer is written to.
func isWriter(d *derivations, decl *ast.FuncDecl, id *ast.Ident) bool {
	v, ok := d.t.info.Uses[id].(*types.Var)
	if !ok {
		return false
	}
	field := parameterField(decl, v)
	return field != nil && outTypes.MatchString(types.ExprString(field.Type))
}

// ownType tells of a type that it is none of another package. Of the type of a value that it does not know, go/types says nothing.
func ownType(x ast.Expr) bool {
	if star, ok := x.(*ast.StarExpr); ok {
		x = star.X
	}
	_, ok := x.(*ast.Ident)
	return ok
}

// changesWithin are what the part changes that outlives the request: a count, a turn, a log.
func changesWithin(d *derivations, in frameCode, part ast.Stmt, within map[*ast.FuncDecl]bool) (doubts []string) {
	for _, x := range writesIn(d, func(x changing) bool {
		_, called := within[x.in]
		return (called || x.in == in.decl && part.Pos() <= x.at && x.at < part.End()) && !onlyTells(x)
	}) {
		doubts = append(doubts, fmt.Sprintf("it changes %s at %s: a copy would leave that out", x.of.Name(), lineAt(d.t, x.at)))
	}
	return doubts
}

// answerTells are methods of libraries that change nothing of what they are called on, which counts as changed where nothing is known of it.
var answerTells = lazily(`^(Replace|Match|Find|Execute|Lookup|String|Split|Format|Expand)`)

// onlyTells tells of a change that it is such a call.
func onlyTells(x changing) (found bool) {
	ast.Inspect(x.in, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		found = found || ok && call.Pos() == x.at && receiverOf(call) != nil && answerTells.MatchString(calledName(call))
		return !found
	})
	return found
}

// setOnWay are what the part reads and what is set on the way to it, for each request.
func setOnWay(d *derivations, in frameCode, part ast.Stmt, within map[*ast.FuncDecl]bool, callers []stack.Frame) (doubts []string) {
	reads := map[types.Object]bool{}
	note := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				if v, ok := d.t.info.Uses[id].(*types.Var); ok && (v.IsField() || ofPackage(v)) {
					reads[v] = true
				}
			}
			return true
		})
	}
	note(part)
	for decl := range within {
		note(decl.Body)
	}
	before, way := map[*ast.FuncDecl]bool{}, []ast.Node{in.body()}
	maps.Copy(before, d.reached(in.decl, in.body()))
	for _, f := range callers {
		if caller, ok := d.at(f); ok {
			maps.Copy(before, d.reached(caller.decl, caller.body()))
			way = append(way, caller.body())
		}
	}
	inside := func(n ast.Node, x changing) bool { return n.Pos() <= x.at && x.at < n.End() }
	for _, x := range writesIn(d, func(x changing) bool {
		_, called := within[x.in]
		_, reached := before[x.in]
		reached = reached || slices.ContainsFunc(way, func(n ast.Node) bool { return inside(n, x) })
		return reads[x.of] && reached && !called && !inside(part, x)
	}) {
		doubts = append(doubts, fmt.Sprintf("it reads %s, which is set on the way to it at %s: if that is done for each request, a copy for each value is needed", x.of.Name(), lineAt(d.t, x.at)))
	}
	return doubts
}

// writesIn are places that change what outlives a call, one for each of what is changed.
func writesIn(d *derivations, is func(x changing) bool) (all []changing) {
	for _, places := range d.writes() {
		if i := slices.IndexFunc(places, is); i >= 0 {
			all = append(all, places[i])
		}
	}
	slices.SortFunc(all, func(a, b changing) int { return cmp.Compare(a.at, b.at) })
	return all
}

// funcsInOrder are functions by their place.
func funcsInOrder(decls map[*ast.FuncDecl]bool) []*ast.FuncDecl {
	return slices.SortedFunc(maps.Keys(decls), func(a, b *ast.FuncDecl) int { return cmp.Compare(a.Pos(), b.Pos()) })
}

// lineAt is a position as people read it: "main.go:12".
func lineAt(t *typed, at token.Pos) string {
	file, line, _ := t.at(at)
	return fileLine(file, line)
}
