package insight

import (
	"fmt"
	"go/types"
	"strings"
	"testing"
)

// TestRecursiveTypes: whatever the types of a program lead back to, and whether that compiles or not, all that is asked about types has
// an answer; whether one leads to the struct item is told where it is part of the same circle, too.
func TestRecursiveTypes(t *testing.T) {
	var wide strings.Builder // each refers to all others: there are more ways than can be gone
	wide.WriteString("type T w0")
	for i := range 20 {
		wide.WriteString("\ntype w" + string(rune('a'+i)) + " struct {")
		for j := range 20 {
			wide.WriteString(" F" + string(rune('a'+j)) + " *w" + string(rune('a'+j)) + ";")
		}
		wide.WriteString(" }")
	}
	connected := strings.Replace(wide.String(), "type T w0", "type T wa", 1)
	for _, c := range []struct {
		types       string
		leads, ways bool // leadsTo, mayReach
	}{
		{"type T map[string]T", false, false},
		{"type T map[string]map[int]T", false, false},
		{"type T []T", false, false},
		{"type T *T", false, false},
		{"type T chan T", false, true},
		{"type T [2]*T", false, false},
		{"type T func(T) T", false, true},
		{"type T interface { M(T) T }", false, true},
		{"type T struct { next *T; all []T; by map[string]T }", false, false},
		{"type T []U\ntype U map[string]T", false, false},
		{"type T []U\ntype U map[item]T", true, true},
		{"type T map[string]U\ntype U struct { in T; of []item }", false, true},
		{"type T map[string]*item", true, true},
		{"type T = []*E\ntype E = item", true, true},
		{"type P[X any] map[string]P[X]\ntype T P[int]", false, false},
		{"type P[X any] map[string]P[X]\ntype T struct { Of P[int] }", false, false},
		{"type P[X any] struct { Of X; Next *P[X] }\ntype T []P[item]", true, true},
		{"type P[X any] []P[X]\ntype T map[string]P[item]", true, false},
		{"type P[X any] struct { Of X; Next *P[X] }\ntype T struct { Of *P[T] }", false, false},
		{connected, false, false},
		{columns(100, "Last int"), false, false},
		{columns(100, "Last *item"), false, true},

		// There are more types than a walk goes to.
		{columns(400, "Last int"), false, true},
		{columns(400, "Last *item"), false, true},

		// None of these compiles.
		{"type T struct { Of T }", false, true},
		{"type T [2]T", false, true},
		{"type T = []T", false, true},
		{"type T struct { U }\ntype U struct { T }", false, true},
		{"type P[X any] struct { Next *P[[]X]; Of []X }\ntype T P[int]", false, true},
		{"type P[X any] map[string]P[[]X]\ntype T P[int]", true, true},
		{"type P[X any] struct { Next P[[]X] }\ntype T P[int]", false, true},
	} {
		d := newDerivations(codeOf("package main\n\nimport \"encoding/json\"\n\ntype item struct { id int; raw json.RawMessage }\n\n" + c.types + "\n\nvar list []T\n\nfunc f(a T) T { return a }\n"))
		var of, item types.Type
		for id, obj := range d.t.info.Defs {
			if name, ok := obj.(*types.TypeName); ok && id.Name == "T" {
				of = name.Type()
			} else if ok && id.Name == "item" {
				item = name.Type()
			}
		}
		if got := leadsTo(of, item.(*types.Named)); got != c.leads {
			t.Errorf("%s: leads to an item %v, want %v", c.types, got, c.leads)
		}
		if got := mayReach(of, item.(*types.Named)); got != c.ways {
			t.Errorf("%s: may reach an item %v, want %v", c.types, got, c.ways)
		}
		askTypes(d)
	}
}

// columns is a row that points to a struct of its own in each of its fields but the last.
func columns(n int, last string) string {
	var b, row strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "type c%d struct { N int%d }\ntype int%[2]d int\n", i, i)
		fmt.Fprintf(&row, " C%d *c%d;", i, i)
	}
	return b.String() + "type T struct {" + row.String() + " " + last + " }"
}

// TestWideRows: of a row with more fields than a walk over types goes to, nobody says that it is known whole.
func TestWideRows(t *testing.T) {
	for n, want := range map[int]bool{50: true, 400: false} {
		d := newDerivations(codeOf("package main\n\n" + columns(n, "Last int") + "\n\nvar v T\n\nfunc f(t T) (int, any) {\nfor _, x := range []any{" + strings.TrimSuffix(read(n), ",") + "} {\nuse(x)\n}\nreturn t.Last, nil\n}\n"))
		for id, obj := range d.t.info.Defs {
			v, ok := obj.(*types.Var)
			if !ok || id.Name != "v" {
				continue
			}
			w := &derivedWay{derivations: d, dep: dependence{vars: map[types.Object]bool{v: true}, reads: map[types.Object]bool{}}}
			if encodedReads(w) != want {
				t.Errorf("%d: what is encoded is known, want %v", n, want)
			}
			if _, all := fieldsRead(d, v.Type()); all != want {
				t.Errorf("%d: all fields are read, want %v", n, want)
			}
		}
	}
}

// read is an expression for each of the fields of columns and what these point to.
func read(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "t.C%d.N,", i)
	}
	return b.String()
}

// askTypes asks of all types of the sources what rules ask of some.
func askTypes(d *derivations) {
	items := newLaterChanges(d, nil)
	for _, obj := range d.t.info.Defs {
		if obj == nil || obj.Type() == nil {
			continue
		}
		of := obj.Type()
		refers(of)
		mayRefer(of)
		plainKey(of)
		plainType(of, 4)
		sized(of)
		fixedSize(of)
		carriesType(of, 3)
		holdsType(of, "item", 3)
		ofTypeParam(of, 0)
		encodedIn(of, typesSeen{})
		fieldsRead(d, of)
		items.take(of)
		for _, shallow := range []bool{false, true} {
			cellsOf(of, shallow).addElement(of, 0)
		}
		if s, ok := of.Underlying().(*types.Struct); ok {
			mostlyAny(s)
		}
		if v, ok := obj.(*types.Var); ok {
			encodedReads(&derivedWay{derivations: d, dep: dependence{vars: map[types.Object]bool{v: true}, reads: map[types.Object]bool{}}})
		}
	}
}
