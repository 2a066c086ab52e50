package why_test

import (
	"strings"
	"testing"

	"loupe/analysis/why"
	"loupe/format/compiler"
)

// TestDigest sums up, by hand, what the compiler says of a few lines.
func TestDigest(t *testing.T) {
	const said = `# example.com/p
p/a.go:3:6: can inline small with cost 4 as: func() { }
p/a.go:9:6: cannot inline big: function too complex: cost 120 exceeds budget 80
p/b.go:4:6: cannot inline huge: function too complex: cost 900 exceeds budget 80
p/b.go:8:6: cannot inline rec: recursive
p/a.go:10:7: inlining call to small
p/a.go:12:9: &T{} escapes to heap in big:
p/a.go:12:9:   flow: ~r0 ← &{storage for &T{}}:
p/a.go:12:9:     from &T{} (spill) at p/a.go:12:9
p/a.go:12:9:     from return &T{} (return) at p/a.go:12:2
p/a.go:12:9: &T{} escapes to heap
p/a.go:11:2: moved to heap: x
p/a.go:9:10: leaking param: s
p/a.go:20:7: Found IsInBounds
p/a.go:20:12: Found IsInBounds
p/a.go:21:7: Found IsSliceInBounds
`
	out, err := compiler.ParseText(strings.NewReader(said), compiler.Options{})
	if err != nil {
		t.Fatal(err)
	}
	set := &compiler.Set{}
	set.Add(out.Diagnostics...)
	d := why.DigestOf(set)
	if d.Packages != 1 || d.CanInline != 1 || d.InlinedCalls != 1 || d.Leaking != 1 || d.BoundsChecks != 2 || d.SliceChecks != 1 {
		t.Errorf("counts: %+v", *d)
	}
	if len(d.Escapes) != 2 || d.Escapes[0].Pos.Line != 11 || !d.Escapes[0].Variable || d.Escapes[1].What != "&T{}" || d.Escapes[1].Way != "returned" || d.Escapes[1].Function != "big" {
		t.Errorf("escapes: %+v", d.Escapes)
	}
	if len(d.NotInlined) != 2 || d.NotInlined[0].Count != 2 || d.NotInlined[0].Reason != "the cost exceeds the budget" || d.NotInlined[0].Functions[0].Cost != 120 || d.NotInlined[1].Reason != "recursive" {
		t.Errorf("not inlined: %+v", d.NotInlined)
	}
	if len(d.Checks) != 2 || d.Checks[0].Pos.Line != 20 || d.Checks[0].Count != 2 {
		t.Errorf("checks: %+v", d.Checks)
	}
}
