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
		f.Title = "Buffer allocated on every call because it is too large for the stack"
		f.Advice = "It is too large for the stack: make it smaller if it need not be so large. " + reuse(in, g)
	case len(sizes) == 1:
		for size := range sizes {
			f.Summary += fmt.Sprintf("; each is %s", unit.BytesOf(float64(size)))
		}
		f.Advice = arrayAdvice(sizes) + reuse(in, g)
	default:
		f.Advice = arrayAdvice(sizes) + reuse(in, g)
	}
}

// Bounds of [arrayAdvice], chosen: a larger array costs more to clear than it saves, and one that
// is several times as long as most of the buffers is cleared mostly for nothing.
const (
	largestArray = 16 << 10
	arrayTimes   = 4
)

// arrayAdvice is what to do with an array of constant size instead of buffers of these sizes;
// empty where that costs more. All of an array is cleared on each call, so that only the
// sizes that were seen justify one, whatever bound the source has.
func arrayAdvice(sizes map[int64]allocated) string {
	largest, sum, objects := int64(0), 0.0, 0.0
	for size, a := range sizes {
		largest = max(largest, size)
		sum += float64(size) * float64(a.objects)
		objects += float64(a.objects)
	}
	if objects == 0 || largest > largestArray || float64(largest) > arrayTimes*sum/objects {
		return ""
	}
	return fmt.Sprintf("If the size has an upper bound not far above the %s seen here, use an array of that constant size and slice it ([N]byte on the stack, then buf[:n]): this works only if nothing keeps it, "+
		"and a much larger array costs more than the buffer, because all of it is cleared on each call. ", unit.BytesOf(float64(largest)))
}
