package insight

import (
	"fmt"
	"strings"

	"loupe/analysis/facts"
	"loupe/analysis/why"
	"loupe/value/unit"
)

var al05 = &Rule{
	ID: "AL05", Title: "Buffer reallocated on every call because its size is not constant",
	About: "A slice that does not outlive its function is on the stack if its size is a constant of at most 64 KiB. " +
		"With a size computed at run time it is allocated on the heap (since Go 1.25 only above 32 bytes), although nothing else requires it.",
	Asks:   []facts.Question{facts.Allocations, facts.Compiled},
	Params: reasonParams("AL05", "our default"),
	Check: func(r *Rule, in *Input) []Finding {
		return r.reasoned(in, "buffers that are on the heap only because of their size", tellMake)
	},
}

// isSizedAtRunTime tells whether a make escapes for its size alone.
func isSizedAtRunTime(_ *allocSite, c *why.Cause) bool {
	if c.Mechanism&why.Slice == 0 || c.Diagnostic == nil || !strings.HasPrefix(c.Expr, "make(") {
		return false
	}
	if !c.Diagnostic.Allocates() {
		return true // the compiler says that it does not escape
	}
	return flowHas(c, bySize) && !flowHas(c, func(how, expr string) bool { return !bySize(how, expr) && how != "spill" })
}

func bySize(how, _ string) bool { return how == "non-constant size" || how == "too large for stack" }

func tellMake(in *Input, r *reasons, g *reasonLine, f *Finding) {
	c := &g.sites[0].Causes[0]
	sizes := r.objectSizes(g)
	switch {
	case flowHas(c, func(how, _ string) bool { return how == "too large for stack" }):
		f.Advice = "It is too large for the stack: make it smaller if it need not be so large. " + reuse(in, g)
	case len(sizes) == 1:
		for size := range sizes {
			f.Summary += fmt.Sprintf("; each is %s", unit.BytesOf(float64(size)))
		}
		f.Advice = "If the size has an upper bound, use an array of that constant size and slice it ([N]byte on the stack, then buf[:n]). This works only if nothing keeps it: what is returned, stored or sent still escapes to the heap."
	default:
		f.Advice = "If n has an upper bound, slice an array of constant size, provided that nothing keeps it. " + reuse(in, g)
	}
}
