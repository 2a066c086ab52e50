package insight

import (
	"strings"

	"loupe/analysis/facts"
	"loupe/analysis/why"
	"loupe/value/stack"
)

// al02Title is used where a finding is folded into another.
const al02Title = "Allocation hot spot: one line allocates much, for a known reason"

var al02 = &Rule{
	ID: "AL02", Title: al02Title,
	About: "The lines of the user's code that allocate most, with what the compiler says about them: which expression comes from the heap, and by which way it outlives its function. " +
		"A line that a narrower rule explains is left to it: boxing to AL03, readers and writers to AL04, and so on. " +
		"An answer is exact where the compiler names one expression, or one thing that the runtime does; it is called ambiguous where several on the line may be it.",
	Asks:   []facts.Question{facts.Allocations, facts.Compiled},
	Params: reasonParams("AL02", "research"),
	Check: func(r *Rule, in *Input) []Finding {
		return r.reasoned(in, "lines whose reason is known and no other rule's", tellReason)
	},
}

func tellReason(in *Input, _ *reasons, g *reasonLine, f *Finding) {
	c, inner := &g.sites[0].Causes[0], g.sites[0].Frames[0].Func
	kept, share, _ := livesOn(in, g.at)
	f.Advice = adviceFor(c)
	if again := keptAdvice(c); share >= keptShare && again != "" {
		f.Advice = again + " " + notAgain(kept)
	}
	if inner != g.at.Func && stack.Package(inner) != stack.Package(g.at.Func) {
		f.Advice = "It is " + stack.Short(inner) + " that takes the memory for this line: call it less often, or do without it on this path; what it gives can be kept for the next time only where nobody changes it."
	}
	if g.sites[0].Certainty == why.Ambiguous {
		f.Doubts = append(f.Doubts, "several things on the line allocate alike: put them on lines of their own to see which one it is")
	}
	if c.Alone {
		f.Doubts = append(f.Doubts, "the reason is that of the function compiled on its own; where it is inlined the way to the heap may be another")
	}
}

// keptAdvice is [adviceFor] without what uses memory again, for memory that is kept; empty
// where that says nothing of the kind.
func keptAdvice(c *why.Cause) string {
	switch {
	case flowHas(c, func(how, _ string) bool { return how == "too large for stack" }):
		return "It is too large for the stack: make it smaller, if it need not be so large."
	case c.Mechanism&why.Goroutine != 0:
		return ""
	case c.Mechanism&(why.MapWrite|why.MakeMap) != 0:
		return "Give the map its size when it is made; small fixed sets do with a slice."
	case c.Mechanism&why.Append != 0 && copiesAll(c):
		return "It is a copy of a slice: hand out the original where nobody changes it."
	case c.Mechanism&why.Append != 0:
		return "Make the slice with room for all that comes (make([]T, 0, n))."
	case c.Mechanism&why.Slice != 0:
		return "Make it smaller, or less often."
	}
	return ""
}

// adviceFor says what is usually done about an allocation.
func adviceFor(c *why.Cause) string {
	has := func(words ...string) bool {
		return flowHas(c, func(how, _ string) bool {
			for _, w := range words {
				if how == w {
					return true
				}
			}
			return false
		})
	}
	switch {
	case has("too large for stack"):
		return "It is too large for the stack: make it smaller, if it need not be so large. To use one again is safe only where nothing keeps it or a part of it."
	case c.Mechanism&why.Goroutine != 0 || has("go"):
		return "A goroutine and its closure are made here each time: let a fixed number of workers take the items, or pass the variables as arguments."
	case c.Mechanism&(why.MapWrite|why.MakeMap) != 0:
		return "Give the map its size when it is made, or clear and use one map again; small fixed sets do with a slice."
	case c.Mechanism&why.Append != 0 && copiesAll(c):
		return "It is a copy of a slice. Let the caller bring the memory (append to what it gives), or hand out the original where nobody changes it."
	case c.Mechanism&why.Append != 0:
		return "Make the slice with room for all that comes (make([]T, 0, n)). To begin again with s[:0] is safe only where nothing keeps the slice or a part of it."
	case c.Mechanism&why.Concat != 0:
		return "Write the parts to where the text goes (strconv.Append…, a strings.Builder), instead of making a string in between."
	case c.Mechanism&why.MakeChan != 0:
		return "A channel is always on the heap: keep one for many uses, or call a function where nobody waits."
	case c.Mechanism&why.Wait != 0:
		return "The runtime keeps these entries for the next wait; many of them mean that many goroutines wait at once."
	case has("captured by a closure"):
		return "Pass the variable to the function as an argument, so that the closure does not hold it."
	case c.Mechanism&why.Slice != 0:
		return "Make it smaller, or less often. Where nothing keeps it or a part of it, the caller can bring the memory and use it for the next one."
	case has("return"):
		return "Return a value instead of a pointer where it is small, or fill one that the caller brings: then it can live on the caller's stack."
	case c.Mechanism&(why.Object|why.Variable) != 0 && has("struct literal element", "append", "assign", "slice-literal-element", "map literal value", "value of map put", "send"):
		return "It is kept by something that outlives the call: hold values instead of pointers (a slice of structs, one allocation for many)."
	case c.Mechanism&why.Object != 0 && has("interface-converted", "call parameter"):
		return "Whoever it is passed to may keep it. Where it is kept, take many at once from a slice of structs; where it is not, pass a value."
	case c.Mechanism&why.Call != 0 && strings.HasPrefix(c.Expr, "reflect."):
		return "Reflection makes the value: use code for the type itself on this path."
	}
	return "Keep the value inside the function (pass it by value, to functions that do not keep it), or make one and share it where nobody changes it."
}
