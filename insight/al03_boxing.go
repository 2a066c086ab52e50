package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/analysis/why"
	"loupe/format/compiler"
	"loupe/value/stack"
)

var al03 = &Rule{
	ID: "AL03", Title: "Boxing: values are converted to interfaces",
	About: "Converting a non-pointer value to an interface copies it to the heap (boxing), as with each number passed to fmt.Sprintf. Constants " +
		"and values below 256 that fit in a byte cost nothing and are not counted.",
	Asks:   []facts.Question{facts.Allocations, facts.Compiled},
	Params: reasonParams("AL03", "Datadog's boxing rule (5 %)"),
	Check: func(r *Rule, in *Input) []Finding {
		return r.reasoned(in, "values converted to interfaces", tellBoxing)
	},
}

// isBox tells whether a value was copied into an interface.
func isBox(s *allocSite, c *why.Cause) bool {
	return c.Mechanism == why.Interface || c.Mechanism&why.Interface != 0 && strings.HasPrefix(s.Runtime, "runtime.convT")
}

// formatPlainly begins the advice for values that are boxed for package fmt.
const formatPlainly = "Format without interfaces:"

func tellBoxing(in *Input, r *reasons, g *reasonLine, f *Finding) {
	c, to := &g.sites[0].Causes[0], ""
	var end *compiler.Diagnostic
	for i := range g.sites[0].Causes {
		if to, end = r.passedTo(&g.sites[0].Causes[i]); to != "" {
			break
		}
	}
	switch {
	case strings.HasPrefix(to, "fmt."):
		f.Advice = formatPlainly + " append to a []byte with strconv.AppendInt and similar functions, or concatenate the results of strconv.Itoa."
	case strings.Contains(c.Expr, "[]"):
		f.Advice = "The slice header is copied to the heap: pass a pointer to it, or a dedicated type. In a sync.Pool store *[]byte and put back the pointer that Get returned: &buf of a local variable allocates just the same." + whenDone
	case to != "" && isDynamic(in.code, g.sites[0].Frames[0], to):
		f.Advice = "The compiler does not know which function " + to + " calls (it is a function value or a method of an interface), so its arguments escape, whatever that does with them: give it parameters of the concrete types in place of interfaces (string, not any), or call a function that is known."
	case sortsBy[to] != "":
		f.Advice = fmt.Sprintf("Use %s (Go 1.21) in place of %s: it takes the slice as it is, without an interface, and a function that compares two elements.", sortsBy[to], to)
	case takesPointer(in.code, to):
		f.Advice = "Let the function take the concrete type or a type parameter, or pass a pointer to a value that is already on the heap."
	case to != "":
		f.Advice = "Let the function take the concrete type or a type parameter, or call one that does."
	case end != nil && stepHas(end, "return"):
		f.Advice = "The interface is returned: return the concrete type, or use a type parameter."
	case end != nil && isStored(end):
		f.Advice = "The interface is stored in something that outlives the function: let that hold the concrete type, or a type parameter."
	default:
		f.Advice = "Keep the concrete type, or a type parameter, where nothing needs the interface."
	}
	if to != "" && !strings.HasPrefix(to, "fmt.") && sortsBy[to] == "" {
		f.Doubts = append(f.Doubts, "if "+to+" keeps the value, it has to be on the heap anyway")
	}
}

// sortsBy are, of functions that are given a slice as an interface, those that take it with its type. A pointer to one is no slice to them.
var sortsBy = map[string]string{"sort.Slice": "slices.SortFunc", "sort.SliceStable": "slices.SortStableFunc", "sort.SliceIsSorted": "slices.IsSortedFunc"}

// encoding are functions of the library that take a value by its address as well, and do the same with it.
var encoding = []string{"json.Marshal", "json.MarshalIndent", "xml.Marshal", "xml.MarshalIndent", "(*json.Encoder).Encode", "(*xml.Encoder).Encode", "(*gob.Encoder).Encode", "binary.Write"}

// takesPointer tells of a function, as the compiler prints it, that a pointer to a value does in place of the value: it encodes it, or it is one of
// the sources, and does nothing with what it is given that asks for the type or compares it, nor hands it on.
func takesPointer(c *code, to string) bool {
	if slices.Contains(encoding, to) {
		return true
	}
	all := c.functions()[lastName(to)]
	return to != "" && len(all) > 0 && !slices.ContainsFunc(all, func(d declaration) bool { return needsType(d.FuncDecl) })
}

// needsType tells of a function that what it is given as an interface has to have a certain type: it asks for it, compares it, uses it as a key,
// or hands it to another function, which may do so.
func needsType(fn *ast.FuncDecl) bool {
	given := map[string]bool{}
	for _, f := range fn.Type.Params.List {
		for _, id := range f.Names {
			given[id.Name] = true
		}
	}
	is := func(x ast.Expr) bool { return x != nil && given[rootName(x)] }
	return hasAny(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeAssertExpr:
			return is(n.X)
		case *ast.BinaryExpr:
			return (n.Op == token.EQL || n.Op == token.NEQ) && (is(n.X) && !isNamed(n.Y, "nil") || is(n.Y) && !isNamed(n.X, "nil"))
		case *ast.IndexExpr:
			return is(n.Index)
		case *ast.RangeStmt:
			if id, ok := n.Value.(*ast.Ident); ok && is(n.X) {
				given[id.Name] = true
			}
		case *ast.CallExpr:
			return !isNamed(n.Fun, "len") && slices.ContainsFunc(n.Args, is)
		}
		return false
	})
}

// storing are the steps, in the compiler's words, by which a value gets into something else
// that outlives its function.
var storing = []string{"send", "append", "appended slice...", "struct literal element", "slice-literal-element", "array literal element", "map literal key", "map literal value", "key of map put", "value of map put", "captured by a closure"}

// isStored tells of a value that the last thing that is said of it is that it is stored in what
// outlives its function; what is on the heap for another reason may be garbage at once.
func isStored(d *compiler.Diagnostic) bool {
	return stepHas(d, storing...) && !strings.HasPrefix(d.Flow[len(d.Flow)-1].Dst, "{storage for ")
}

// stepHas tells whether one of the last steps of a diagnostic is of a kind: those of the
// assignment that ends the way.
func stepHas(d *compiler.Diagnostic, kinds ...string) bool {
	if len(d.Flow) == 0 {
		return false
	}
	return slices.ContainsFunc(d.Flow[len(d.Flow)-1].Steps, func(s compiler.Step) bool { return slices.Contains(kinds, s.Why) })
}

// passedTo is the function that a value is passed to, as the compiler prints it, and what it says
// about the end of the way. Of an argument of a variadic function it says that it is in the slice
// of arguments, and of that where it goes.
func (r *reasons) passedTo(c *why.Cause) (to string, end *compiler.Diagnostic) {
	end = c.Diagnostic
	if end == nil || len(end.Flow) == 0 {
		return "", end
	}
	if end.Flow[len(end.Flow)-1].Dst == "{storage for ... argument}" && r.set != nil {
		for _, d := range r.set.At(end.Where().File, end.Where().Line) {
			if d.Text == "... argument" && len(d.Flow) > 0 && d.Where().Col == lastStep(end).Col {
				end = d
				break
			}
		}
	}
	for _, flow := range end.Flow {
		for _, s := range flow.Steps {
			if s.Why == "call parameter" {
				to = calleeIn(s.Expr)
			}
		}
	}
	return to, end
}

// calleeIn is what a call calls, as the compiler prints it: "log.Printf", "(*sync.Map).Store".
func calleeIn(call string) string {
	from := 0
	if strings.HasPrefix(call, "(") {
		from = max(0, strings.IndexByte(call, ')'))
	}
	if at := strings.IndexByte(call[from:], '('); at >= 0 {
		return call[:from+at]
	}
	return call
}

// lastStep is where the last step of a way is.
func lastStep(d *compiler.Diagnostic) compiler.Pos {
	steps := d.Flow[len(d.Flow)-1].Steps
	if len(steps) == 0 {
		return compiler.Pos{}
	}
	return steps[len(steps)-1].Where()
}

// isDynamic tells of a call, as the compiler prints it, that it begins with a variable: then a
// function value or a method of an interface is called. What is called by its name is printed
// with its package or its type.
func isDynamic(c *code, at stack.Frame, call string) bool {
	fn := c.function(at)
	root, _, _ := strings.Cut(call, ".")
	return fn != nil && token.IsIdentifier(root) && declaredIn(fn, root)
}
