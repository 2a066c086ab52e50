package insight

import (
	"fmt"
	"go/ast"
	"strings"
	"testing"
)

// TestNameLooks: a name whose parts each have many parts again is looked at so long, and no longer; one with few is told whole.
func TestNameLooks(t *testing.T) {
	few := "func f0(a, b string) {\nos.Open(filepath.Join(dir, a, b+`.txt`))\n}\nconst dir = `data`\nfunc one() {\nf0(`x`, `y`)\n}\nfunc two() {\nf0(`x`, `z`)\n}\n"
	var many strings.Builder
	many.WriteString("func f0(a, b string) {\nos.Open(filepath.Join(a, b))\n}\n")
	for level := range nameDepth + 1 {
		fmt.Fprintf(&many, "func f%d(a, b string) {\nf%d(filepath.Join(a%s), a+b)\n}\n", level+1, level, strings.Repeat(", a", 60))
	}
	for _, c := range []struct {
		name, source string
		ways         int
		all          bool // within the bound
	}{
		{"few", few, 4, true},
		{"many", many.String(), 1, false},
	} {
		code := sourceOf("package main\n\n" + c.source)
		in := code.functions()["f0"][0]
		var opened ast.Expr
		hasCall(in.Body, func(call *ast.CallExpr) bool {
			opened = call.Args[0]
			return true
		})
		names := &sourceNames{c: code}
		got := names.of(opened, in)
		if len(got) != c.ways {
			t.Errorf("%s: %d ways, want %d", c.name, len(got), c.ways)
		}
		if all := names.looks <= nameLooks; all != c.all || names.looks > 10*nameLooks {
			t.Errorf("%s: looked at %d expressions", c.name, names.looks)
		}
	}
}

// TestOnlyDeclared: what a name means is known where one function alone has it.
func TestOnlyDeclared(t *testing.T) {
	c := sourceOf("package main\n\nfunc one() {}\nfunc two() {}\nfunc (t T) two() {}\nfunc (t T) three() {}\n")
	for name, want := range map[string]bool{"one": true, "two": false, "three": true, "four": false} {
		if d, ok := onlyDeclared(c, name); ok != want || ok && d.Name.Name != name {
			t.Errorf("%s: %v", name, ok)
		}
	}
}
