package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/value/unit"
)

var al20 = &Rule{
	ID: "AL20", Title: "Field alignment: struct padding wastes memory",
	About: "Fields are aligned to their size: a bool between two words leaves seven bytes of padding. With the large fields first the struct is smaller; that saves " +
		"memory if many are kept and the objects then fall into a smaller size class of the allocator.",
	Asks: []facts.Question{facts.Kept},
	Params: []Param{
		{"saves", 0.01, "share of the live heap", "research, AL20"},
		{"heap", 8 << 20, "bytes", "chosen: a hundredth of a smaller heap does not matter"},
		{"samples", 50, "samples of the live heap", "guard g0"},
	},
	Check: checkPadding,
}

func checkPadding(r *Rule, in *Input) []Finding {
	all, err := facts.RetentionIn(in.Facts)
	if err != nil {
		return []Finding{r.answer(TooLittle, "%v", err)}
	}
	kept := all.Most.InUse
	switch {
	case float64(kept.Bytes) < r.param("heap"):
		return []Finding{r.answer(Fine, "%s are in use: there is little to save", unit.BytesOf(float64(kept.Bytes)))}
	case float64(kept.Samples) < r.param("samples"):
		return []Finding{r.short("%s rests on %d in-use samples; %g are needed", kept.Entry.Path, kept.Samples, r.param("samples"))}
	}
	var found []Finding
	looked := 0
	seen := map[string]bool{}
	for _, line := range kept.Lines() {
		if float64(line.Weight) < r.param("saves")*float64(kept.Bytes) {
			break // the heaviest come first
		}
		l := layoutAt(in, line.At)
		if l == nil {
			continue
		}
		looked++
		weight := line.Weight
		if !l.slice { // a line may allocate something else besides
			weight = kept.InObjects(line.At, unit.SizeClass(l.size))
		}
		saves := l.saving() * float64(weight) / float64(kept.Bytes)
		if l.packed >= l.size || saves < r.param("saves") || seen[l.name] {
			continue
		}
		seen[l.name] = true
		if writtenAsItIs(in.code, l.name) {
			continue // its order is a format
		}
		found = append(found, paddingFinding(r, in, kept, line, l, saves))
	}
	switch {
	case len(found) > 0:
		return found[:min(2, len(found))]
	case looked == 0:
		return []Finding{r.answer(Fine, "no struct with known fields takes %s of the live heap", unit.Percent(r.param("saves")))}
	}
	return []Finding{r.answer(Fine, "reordering fields would save less than %s of the live heap; %s were examined", unit.Percent(r.param("saves")), unit.Plural(int64(looked), "line"))}
}

// writtenAsItIs tells of a type, by its name, that the source gives values of it to package
// encoding/binary, which reads and writes the fields in their order.
func writtenAsItIs(c *code, name string) (found bool) {
	t := typedOf(c)
	for _, f := range t.files {
		found = found || hasCall(f.file, func(call *ast.CallExpr) bool {
			return t.fromPackage(call.Fun) == "encoding/binary" && slices.ContainsFunc(call.Args, func(a ast.Expr) bool { return holdsType(t.typeOf(a), name, 3) })
		})
	}
	return found
}

// holdsType tells of a type that it is one of a name, or a pointer to it, or a list of it.
func holdsType(of types.Type, name string, deep int) bool {
	switch of := of.(type) {
	case *types.Named:
		return of.Obj().Name() == name || deep > 0 && holdsType(of.Underlying(), name, deep-1)
	case *types.Pointer:
		return deep > 0 && holdsType(of.Elem(), name, deep-1)
	case *types.Slice:
		return deep > 0 && holdsType(of.Elem(), name, deep-1)
	case *types.Array:
		return deep > 0 && holdsType(of.Elem(), name, deep-1)
	}
	return false
}

func paddingFinding(r *Rule, in *Input, kept *facts.InUse, line *facts.Line, l *layout, saves float64) Finding {
	size := fmt.Sprintf("%d B instead of %d", l.packed, l.size)
	if !l.slice {
		size = fmt.Sprintf("%d B (%d of the allocator) instead of %d (%d)", l.packed, unit.SizeClass(l.packed), l.size, unit.SizeClass(l.size))
	}
	f := r.answer(Found, "%s would take %s with its fields in another order: %s of the live heap, which is kept from %s", l.name, size, unit.Percent(saves), place(line.At))
	f.Severity, f.Score = Info, score(saves, 0.05, 0.3)
	f.Impact = exactly(saves, "share of the live heap")
	f.Evidence = []Evidence{
		in.fileAt(kept.Entry, line.At, line.Frames, "%s in use", unit.BytesOf(float64(line.Weight))),
		{Text: "the type", File: l.file, Line: l.line, Source: in.code.text(l.file, l.line)},
	}
	f.Advice = "Put the fields in this order: " + strings.Join(l.order[:min(12, len(l.order))], ", ") + map[bool]string{true: ", and the rest by size", false: ""}[len(l.order) > 12] + "."
	f.Verify = "unsafe.Sizeof of the type, or the analyzer fieldalignment of golang.org/x/tools; record again: less memory should be in use."
	f.Doubts = []string{"keep the order of fields where it has a meaning: for C, encoding/binary or file formats; fields that different goroutines write to are better kept apart"}
	return f
}
