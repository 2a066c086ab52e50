package insight

import (
	"go/ast"
	"go/parser"
	"go/types"
	"strings"

	"loupe/analysis/facts"
	"loupe/analysis/why"
	"loupe/value/stack"
)

// al02Title is used where a finding is folded into another.
const al02Title = "Allocation hot spot: one line allocates much, for a known reason"

var al02 = &Rule{
	ID: "AL02", Title: al02Title,
	About: "The lines of the user's code that allocate most, with the compiler's escape analysis: which expression is on the heap, and how it outlives its function. " +
		"A line that a narrower rule explains is left to that rule: boxing to AL03, readers and writers to AL04, and so on. " +
		"An answer is exact where the compiler names one expression, or one operation of the runtime; it is ambiguous where several things on the line may be the cause.",
	Asks:   []facts.Question{facts.Allocations, facts.Compiled},
	Params: reasonParams("AL02", "research"),
	Check: func(r *Rule, in *Input) []Finding {
		return withClones(r, in, r.reasoned(in, "lines with a known reason that no other rule covers", tellReason))
	},
}

func tellReason(in *Input, r *reasons, g *reasonLine, f *Finding) {
	if tellSteps(in, r, g, f) {
		return
	}
	if m, ok := poolMissesAt(in.code, g.at); ok {
		m.tell(in.code, f)
		return
	}
	c, inner := &g.sites[0].Causes[0], g.sites[0].Frames[0].Func
	l := livesOn(in, g.at)
	f.Advice = adviceFor(c)
	if isCopy(c, inner) {
		f.Advice = copyAdvice(in.code, g.at, l.share >= keptShare)
	} else if again := keptAdvice(c); l.share >= keptShare && again != "" {
		f.Advice = again + " " + notAgain(l)
	}
	if c.Mechanism&(why.MapWrite|why.MakeMap) != 0 && c.Mechanism&why.Goroutine == 0 {
		kept := l.share >= keptShare
		f.Advice = mapAdvice(in.code, g.at, c, kept)
		if kept && c.Mechanism&why.MakeMap != 0 {
			f.Advice += " " + notAgain(l)
		}
	}
	if c.Mechanism == why.Concat && joinsArgument(in.code, g.at) {
		f.Severity = Info // what takes a text needs one
		f.Advice = "The text is made for a call: if it is a key, use a struct of its parts instead; if the same text is needed again, keep it."
	}
	if m, ok := frontMoveAt(in.code, g.at); ok && c.Mechanism&why.Append != 0 {
		f.Summary += "; " + m.says()
		f.Advice = m.advice(len(r.objectSizes(g)) >= lengthsOfGrowing)
		f.Verify = "Record again under the same load: the CPU time of this line and the bytes it allocates should fall. An append still takes memory, when the slice has to grow."
	} else if c.Mechanism&why.Append != 0 && isQueue(in.code, g.sites[0].Frames[0], c.Expr) {
		f.Advice = queueAdvice
	}
	if !copiesByName(inner) && inner != g.at.Func && stack.Package(inner) != stack.Package(g.at.Func) {
		f.Advice = "It is " + stack.Short(inner) + " that allocates for this line: call it less often, or avoid it on this path; its result can be kept for next time only if nobody modifies it."
	}
	if g.sites[0].Certainty == why.Ambiguous {
		f.Doubts = append(f.Doubts, "several things on the line allocate: put each on its own line to see which one it is")
	}
	if c.Alone {
		f.Doubts = append(f.Doubts, "the reason is that of the function compiled on its own; where it is inlined, the escape path may differ")
	}
}

// queueAdvice is what to do about a slice whose elements are taken from the front.
const queueAdvice = "The slice is a queue: taking from the front (q = q[1:]) gives up the room there, so that append has to make the slice anew again and again. Use a ring buffer, or move what is left to the front before appending (copy, then clear the rest), and start at the front again when it is empty."

// appendTo is what an append, as the compiler prints it, adds to.
var appendTo = lazily(`^append\(([\pL_][\pL\pN_.]*),`)

// isQueue tells whether the source takes elements from the front of a slice that an append adds
// to: it sets the field, or variable, of that name to a slice of itself without its first ones.
func isQueue(c *code, at stack.Frame, expr string) (found bool) {
	m := appendTo.FindStringSubmatch(expr)
	s := c.parse(at.File)
	if m == nil || s == nil {
		return false
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != len(a.Rhs) {
			return !found
		}
		for i, left := range a.Lhs {
			part, ok := a.Rhs[i].(*ast.SliceExpr)
			found = found || ok && part.Low != nil && part.High == nil && types.ExprString(part.X) == types.ExprString(left) && lastName(types.ExprString(left)) == lastName(m[1])
		}
		return !found
	})
	return found
}

// keptAdvice is [adviceFor] without what uses memory again, for memory that is kept; empty
// where that says nothing of the kind.
func keptAdvice(c *why.Cause) string {
	switch {
	case flowHas(c, func(how, _ string) bool { return how == "too large for stack" }):
		return "It is too large for the stack: make it smaller if it need not be so large."
	case c.Mechanism&why.Goroutine != 0:
		return ""
	case c.Mechanism&why.Append != 0:
		return "Preallocate the slice for everything that will be added (make([]T, 0, n))."
	case c.Mechanism&why.Slice != 0:
		return "Make it smaller, or allocate it less often."
	}
	return ""
}

// madeWithSize tells whether an expression is a call of make with a size.
func madeWithSize(expr string) bool {
	x, err := parser.ParseExpr(expr)
	call, ok := x.(*ast.CallExpr)
	return err == nil && ok && types.ExprString(call.Fun) == "make" && len(call.Args) > 1
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
		return "It is too large for the stack: make it smaller if it need not be so large. Reuse is safe only if nothing keeps it or a part of it."
	case c.Mechanism&why.Goroutine != 0 || has("go"):
		return "A goroutine and its closure are allocated here each time: use a fixed number of workers, or pass the variables as arguments."
	case c.Mechanism&why.Append != 0:
		return "Preallocate the slice for everything that will be added (make([]T, 0, n)). Reusing it with s[:0] is safe only if nothing keeps the slice or a part of it."
	case c.Mechanism&why.Concat != 0:
		return "Write the parts directly to their destination (strconv.Append…, a strings.Builder) instead of building a string first."
	case c.Mechanism&why.MakeChan != 0:
		return "A channel is always on the heap: reuse one for many operations, or call a function where nobody waits."
	case c.Mechanism&why.Wait != 0:
		return "The runtime keeps these entries for the next wait; many of them mean that many goroutines are waiting at once."
	case has("captured by a closure"):
		return "Pass the variable to the function as an argument, so that the closure does not hold it."
	case c.Mechanism&why.Slice != 0:
		return "Make it smaller, or allocate it less often. If nothing keeps it or a part of it, the caller can pass in the memory and reuse it" + oldContent
	case has("return"):
		return "Return a value instead of a pointer where it is small, or fill one that the caller passes in: then it can live on the caller's stack."
	case c.Mechanism&(why.Object|why.Variable) != 0 && has("send"):
		return "It is sent on a channel and outlives the call. If it is small, send a value instead of a pointer; if it is a buffer, send several pieces in one, or let the receiver give it back once nothing uses it or a part of it."
	case c.Mechanism&(why.Object|why.Variable) != 0 && has("struct literal element", "append", "assign", "slice-literal-element", "map literal value", "value of map put"):
		return "It is put into something else that is on the heap: store values instead of pointers (a slice of structs, one allocation for many)."
	case c.Mechanism&why.Object != 0 && has("interface-converted", "call parameter"):
		return "The callee may keep it. If it does, allocate many at once in a slice of structs; if it does not, pass a value."
	case c.Mechanism&why.Call != 0 && strings.HasPrefix(c.Expr, "reflect."):
		return "Reflection allocates the value: use type-specific code on this path."
	}
	return "Keep the value inside the function (pass it by value to functions that do not keep it), or allocate one and share it where nobody modifies it."
}
