package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/analysis/holders"
	"loupe/value/unit"
)

// pinnedTitle is the title of buffers of which a core shows that only small parts keep them.
const pinnedTitle = "Small parts keep whole buffers"

// How much it is for a warning, chosen: so many bytes, in more objects than are in work at one time.
const (
	pinnedLeast = 64 << 20
	pinnedMany  = 256
)

// tellPinned says of a place that holds memory that most of it are buffers which only small parts keep, where the core shows that.
func (t heapTeller) tellPinned(f *Finding, k *holders.Keeper) {
	p := k.Pinned
	if p == nil || float64(p.Objects.Bytes) < mostOf*float64(k.Bytes) {
		return
	}
	buffers, parts := p.Kept()
	in, at, clone := "", "", "strings.Clone for strings, slices.Clone for slices"
	switch p.Strings {
	case p.Parts.Count:
		clone = "strings.Clone of each string: to copy a slice of them would not be enough"
	case 0:
		clone = "bytes.Clone, slices.Clone"
	}
	if p.Where != "" {
		in = ", in " + p.Where
	}
	if stored := storedInField(t.in.code, p.Where); len(stored) > 0 {
		at = fmt.Sprintf(", at %s:%d", baseName(stored[0].File), stored[0].Line)
		for _, e := range stored[:min(2, len(stored))] {
			if !shows(f, evidenceLine(e)) {
				f.Evidence = append(f.Evidence, e)
			}
		}
		putFirst(f, stored[0])
	}
	f.Summary += fmt.Sprintf("; according to the heap graph, %s are kept by nothing but %s%s", buffers, parts, in)
	f.Advice = fmt.Sprintf("Copy the parts where they are stored%s (%s): then the buffers can be freed, of which these %s use %s of %s.",
		at, clone, unit.Plural(p.Parts.Count, "part"), unit.BytesOf(float64(min(p.Parts.Bytes, p.Objects.Bytes))), unit.BytesOf(float64(p.Objects.Bytes)))
	f.wastes, f.keeps = wastesMuch, false
	f.Doubts = slices.DeleteFunc(f.Doubts, func(d string) bool { return d == nearlyAllOfIt })
	if p.Objects.Bytes >= pinnedLeast && p.Objects.Count >= pinnedMany && f.Rule == "GC16" {
		f.Title, f.Severity, f.Score = pinnedTitle, Warning, max(f.Score, 50)
	}
}

// tellParted says of memory of which the source shows that a part of it keeps it how much of it the parts are, as far as the core
// shows that: where they are most of it, a copy of each frees hardly anything. said is the advice by the source.
func (t heapTeller) tellParted(f *Finding, k *holders.Keeper, said string) {
	x := &k.Parted
	if f.wastes == noWaste {
		return
	}
	switch {
	case float64(x.Covered.Bytes) >= mostOf*float64(k.Bytes):
		f.Summary += fmt.Sprintf("; according to the heap graph, %s together are most of %s", unit.Plural(x.Parts.Count, "part"), unit.Plural(x.Covered.Count, "buffer"))
		f.wastes, f.ends = noWaste, false
		if f.Title == mayHoldTitle {
			f.Title = mostlyTitle
			if !strings.Contains(f.Summary, grewToTheEnd) { // it was a warning as hardly any of it was said to be needed
				f.Severity = Info
			}
		}
		f.Advice = "A copy of each part would free hardly anything, as the parts are most of what they keep. Keep fewer of them, or not all that is in them. "
		if p := holders.PlaceOf(k); p.Expr != "" {
			f.Advice += t.advice(k, p)
		}
	case float64(x.Roomy.Bytes) >= mostOf*float64(k.Bytes):
		f.Summary += fmt.Sprintf("; according to the heap graph, %s of the %s of %s are used", unit.BytesOf(float64(x.Used)), unit.BytesOf(float64(x.Roomy.Bytes)), unit.Plural(x.Roomy.Count, "buffer"))
		f.wastes, f.Advice = wastesMuch, said
	default:
		return
	}
	f.Doubts = slices.DeleteFunc(f.Doubts, func(d string) bool { return d == nearlyAllOfIt })
}

// storedInField finds where the sources put something into a field, "index.Entry.Labels": composite literals of the type with it,
// else what is assigned to a field of that name in the type's package.
func storedInField(c *code, field string) (all []Evidence) {
	names := strings.Split(field, ".")
	if len(names) != 3 || strings.ContainsAny(field, " []*") {
		return nil
	}
	var assigned []Evidence
	c.eachSource(func(file string, s *syntax) {
		own := s.file.Name.Name == names[0]
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				if n.Type == nil {
					break
				}
				if of := types.ExprString(n.Type); of != names[0]+"."+names[1] && !(own && of == names[1]) {
					break
				}
				for _, x := range n.Elts {
					if kv, ok := x.(*ast.KeyValueExpr); ok && isNamed(kv.Key, names[2]) {
						line, _ := s.lines(kv)
						all = append(all, c.shownAt(file, line, "the parts are stored here"))
					}
				}
			case *ast.AssignStmt:
				for _, lhs := range n.Lhs {
					if sel, ok := lhs.(*ast.SelectorExpr); ok && own && sel.Sel.Name == names[2] {
						line, _ := s.lines(n)
						assigned = append(assigned, c.shownAt(file, line, "something is stored in a field of that name here"))
					}
				}
			}
			return true
		})
	})
	if len(all) == 0 {
		all = assigned
	}
	return all
}
