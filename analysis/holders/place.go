package holders

import (
	"cmp"
	"fmt"
	"strings"

	"loupe/analysis/heap"
	"loupe/value/stack"
	"loupe/value/unit"
)

// Keeper is a place that memory piles up at.
type Keeper = heap.Keeper

// Together are a few global variables that hold something together.
type Together = heap.Together

// PackageOf is the package of a global variable by the name of its root.
func PackageOf(name string) string { return heap.PackageOf(name) }

// ObjectsOf are the two types that a keeper has most of: "20,000 shop.order, 2 [N]uint8".
func ObjectsOf(k *Keeper) string {
	var parts []string
	for _, r := range k.Objects[:min(2, len(k.Objects))] {
		if r.Bytes*20 >= k.Bytes {
			parts = append(parts, fmt.Sprintf("%s × %s", unit.Count(r.Count), heap.ShortType(r.Type)))
		}
	}
	return strings.Join(parts, ", ")
}

// Place is where a keeper is.
type Place struct {
	Name string // "the global variable shop.All.open", "the variable s.open of main.run"
	Expr string // "shop.All.open", "s.open"; empty where it has none
	// Path is Expr with all that was left out of it: "http.mux…store.open".
	Path string
	Type string // of what is there; empty where the root itself is the keeper
	// Stack tells that it is the stack of a goroutine, or of several.
	Stack bool
}

// PlaceOf names a keeper by the path from its root.
func PlaceOf(k *Keeper) (p Place) {
	var fields strings.Builder
	for _, s := range k.Steps {
		fields.WriteString(s.Field)
		switch {
		case s.Times == 2:
			fields.WriteString(s.Through)
		case s.Times > 2:
			fields.WriteString(s.Through + "…")
		}
	}
	p.Type = heap.ShortType(k.Type)
	switch k.Root.Kind {
	case heap.Global:
		p.set(stack.Short(strings.TrimLeft(k.Root.Name, "*")), fields.String())
		p.Name = "the global variable " + p.Expr
	case heap.Goroutine:
		p.Name, p.Stack = "the stack", true
		if k.Variable != "" {
			p.set(k.Variable, fields.String())
			p.Name = "the variable " + p.Expr
		}
		p.Name += " of " + stack.Short(cmp.Or(k.Frame, k.Root.Func))
		if k.Goroutines > 1 {
			p.Name += " in " + unit.Plural(k.Goroutines, "goroutine")
		}
	default:
		p.Name = "what is to be run when an object is gone (" + stack.Short(k.Root.Name) + ")"
	}
	return p
}

// maxFields is how many fields a place is told with, behind the root; of more the last two.
const maxFields = 4

// set notes a path: a variable and the fields from there.
func (p *Place) set(variable, fields string) {
	p.Path, p.Expr = variable+fields, variable+fields
	if names := strings.Split(strings.TrimPrefix(fields, "."), "."); len(names) > maxFields {
		p.Expr = variable + "…" + strings.Join(names[len(names)-2:], ".")
	}
}
