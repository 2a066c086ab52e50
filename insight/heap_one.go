package insight

import (
	"slices"
	"strings"

	"loupe/analysis/holders"
	"loupe/value/stack"
)

// Of one memory one thing is said: where a core shows for sure what holds it, the source is asked only for what agrees with that.

// tellKeeping says of a finding about memory that a line keeps what holds it, as [tellHolder] does, unless a core shows that another
// place does: then the source is passed over, and [tellHeap] says which.
func tellKeeping(in *Input, f *Finding, at stack.Frame, frames []stack.Frame, otherwise string) {
	if k := surelyHeld(in, at); k != nil {
		if h, ok := (sourceHolders{in.code}).holder(at, frames); ok && !agrees(in.code, k, h) {
			f.Advice = heldBy
			return
		}
	}
	tellHolder(in, f, at, frames, otherwise)
	tellGrowsInPlace(in, at, frames, f)
}

// surelyHeld is the place of which a core shows that it holds most of what a line has in use; nil where there is none.
func surelyHeld(in *Input, at stack.Frame) *holders.Keeper {
	if at.File == "" {
		return nil
	}
	held, err := holders.Of(in.Session)
	if err != nil {
		return nil
	}
	t := heapTeller{in: in, held: held, beside: besideCore(in, held)}
	if t.beside == nil {
		return nil
	}
	sizes, sum := t.ofSizes(at)
	if all := held.OfSizes(sizes); len(all) > 0 && sum > 0 && float64(all[0].Low) >= mostOf*float64(sum) {
		return all[0].Keeper
	}
	return nil
}

// agrees tells whether what holds memory by the source may be what does by a core, or lie under that: it has a name of the way there,
// or is in a type that is there; what several refer to may be both.
func agrees(c *code, k *holders.Keeper, h holding) bool {
	s := h.into
	if s.file == "" {
		s = h.adds
	}
	if s.file == "" || k.Shared || holders.PlaceOf(k).Expr == "" {
		return true
	}
	container, _, _ := strings.Cut(s.container, "[")
	name := lastName(container)
	var way []string
	way = append(way, lastName(k.Root.Name), k.Variable)
	for _, step := range k.Steps {
		way = append(way, strings.FieldsFunc(step.Field+"."+step.Through, func(r rune) bool { return strings.ContainsRune(".[]0123456789", r) })...)
	}
	if slices.Contains(way, name) {
		return true
	}
	if name == container { // a variable
		return !packageHas(c, s.file, name)
	}
	of, _, _ := strings.Cut(s.name, ".")
	if of == s.container || s.name == s.container {
		return true // whose field it is is not known
	}
	seen := k.Type
	for _, step := range k.Steps {
		seen += " " + step.Type
	}
	for _, r := range k.Objects {
		seen += " " + r.Type
	}
	// Of more types than the core's answer has, that of the field may be one.
	return len(k.Objects) >= fullObjects || slices.Contains(strings.FieldsFunc(seen, func(r rune) bool { return strings.ContainsRune(" .*[]()/", r) }), of)
}

// fullObjects is how many types are told of a keeper at most, by package heap.
const fullObjects = 5
