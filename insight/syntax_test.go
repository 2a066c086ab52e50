package insight

import (
	"go/ast"
	"testing"
)

// TestAround: what is around a node is told by its own function, and by the declared one.
func TestAround(t *testing.T) {
	const source = "package main\n\nvar first = mark()\n\nfunc (r T) f(p int) (out int) {\nmark()\nfor range p {\nmark()\ngo func(q int) {\nmark()\nfor {\nmark()\n}\n}(p)\n}\nreturn\n}\n"
	type told struct{ decl, lit, loop, p, q, out bool }
	want := []told{{}, {decl: true, p: true}, {decl: true, p: true, loop: true}, {decl: true, lit: true, p: true, q: true}, {decl: true, lit: true, p: true, q: true, loop: true}}
	var got []told
	eachNode(sourceOf(source).parse("a.go").file, func(n ast.Node, around []ast.Node) {
		if call, ok := n.(*ast.CallExpr); ok && isNamed(call.Fun, "mark") {
			got = append(got, told{declAround(around) != nil, withinLit(around), loopBody(around) != nil, parameterAround(around, "p"), parameterAround(around, "q"), parameterAround(around, "out")})
		}
	})
	if len(got) != len(want) {
		t.Fatalf("%d calls, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("call %d: %+v, want %+v", i, got[i], want[i])
		}
	}
	fn := sourceOf(source).functions()["f"][0].FuncDecl
	for name, want := range map[string]bool{"r": true, "p": true, "out": true, "q": false, "f": false} {
		if got := isParameter(fn, name); got != want {
			t.Errorf("parameter %s: %v", name, got)
		}
	}
}
