package insight

import (
	"loupe/analysis/facts"
	"loupe/analysis/why"
)

var al07 = &Rule{
	ID: "AL07", Title: "A closure is allocated for every item",
	About: "A function literal that captures variables is an object; it escapes to the heap when it is passed to something that may keep it, together with the variables that it modifies. Closures " +
		"of go statements are not counted here: there the goroutine is what costs (SC02).",
	Asks:   []facts.Question{facts.Allocations, facts.Compiled},
	Params: reasonParams("AL07", "research"),
	Check: func(r *Rule, in *Input) []Finding {
		return r.reasoned(in, "closures and the variables they capture", tellClosure)
	},
}

// isClosure tells whether a function literal or a method value escapes, or a
// variable because one has captured it.
func isClosure(_ *allocSite, c *why.Cause) bool {
	return c.Mechanism == why.Closure || c.Mechanism == why.Variable &&
		flowHas(c, func(how, _ string) bool { return how == "captured by a closure" })
}

func tellClosure(_ *Input, _ *reasons, g *reasonLine, f *Finding) {
	c := &g.sites[0].Causes[0]
	switch {
	case c.Mechanism == why.Variable:
		f.Advice = "Pass the variable as an argument, or copy it to a new variable that nobody modifies before the closure uses it: then it is captured by value."
	case flowHas(c, func(how, _ string) bool { return how == "return" }):
		f.Advice = "Return a value of a type with a method instead of a function, or create the function once and pass it what differs."
	default:
		f.Advice = "Create the function once, before the loop, or make it a named function and pass what it needs as arguments; a parameter that is only called keeps the closure on the stack if the callee can be inlined."
	}
}
