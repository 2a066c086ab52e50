package insight

import (
	"strings"

	"loupe/analysis/facts"
	"loupe/analysis/why"
)

var al19 = &Rule{
	ID: "AL19", Title: "A defer in a loop allocates on every iteration",
	About: "A defer statement in a loop cannot keep its record in the function's frame: each iteration allocates one on the heap, with the closure, and all of them run only when the function " +
		"returns. Files stay open and locks stay held until then.",
	Asks:   []facts.Question{facts.Allocations},
	Params: reasonParams("AL19", "our default"),
	Check: func(r *Rule, in *Input) []Finding {
		return r.reasoned(in, "defers in loops", tellDefer)
	},
}

// defersInLoop tells whether a place is the record or the closure of a defer
// statement in a loop.
func (c *code) defersInLoop(s *allocSite) bool {
	if s.at != s.Frames[0] || !c.parse(s.at.File).deferInLoop(s.at.Line) {
		return false
	}
	if strings.HasPrefix(s.Runtime, "runtime.deferproc") || s.Runtime == "runtime.newdefer" {
		return true
	}
	for i := range s.Causes {
		if s.Causes[i].Mechanism&(why.Defer|why.Closure) == 0 {
			return false
		}
	}
	return true
}

func tellDefer(_ *Input, _ *reasons, _ *reasonLine, f *Finding) {
	f.Advice = "Move the loop body into its own function: its defer then runs at the end of each iteration and needs no heap allocation."
}
