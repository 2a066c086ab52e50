package insight

import (
	"go/ast"
	"go/parser"
	"regexp"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/analysis/why"
)

var al04 = &Rule{
	ID: "AL04", Title: "A reader or writer interface makes a value escape to the heap",
	About: "The compiler must assume that the implementation behind an io.Reader or io.Writer keeps what it is given. So the reader itself, and each buffer " +
		"passed to Read or Write, escapes to the heap, although none of them outlives the call.",
	Asks:   []facts.Question{facts.Allocations, facts.Compiled},
	Params: reasonParams("AL04", "research: only where the code is hot"),
	Check: func(r *Rule, in *Input) []Finding {
		return r.reasoned(in, "values that escape through a reader or writer interface", tellReader)
	},
}

// readerCall is a call of package io's functions on readers and writers, or of
// the methods themselves, as the compiler prints it. The standard readers that
// keep what they are given are not among them: bufio.NewReader is there to
// last.
var readerCall = regexp.MustCompile(`^(io\.(ReadFull|ReadAtLeast|ReadAll|Copy|CopyN|CopyBuffer|WriteString)\(|[\pL_][\pL\pN_.]*\.(Read|Write|ReadAt|WriteAt|ReadFrom|WriteTo|ReadByte|WriteByte|WriteString)\()`)

// throughReader tells whether a value escapes by being passed to a reader or
// writer, or as one. What is returned, kept in a field or boxed as well has
// another reason to be on the heap.
func throughReader(_ *allocSite, c *why.Cause) bool {
	if c.Diagnostic == nil || c.Mechanism&(why.Object|why.Variable|why.Slice|why.Convert) == 0 {
		return false
	}
	call := flowHas(c, func(how, expr string) bool {
		return (how == "call parameter" || how == "receiver in indirect call") && readerCall.MatchString(expr)
	})
	kept := flowHas(c, func(how, _ string) bool {
		switch how {
		case "return", "send", "captured by a closure", "map literal value", "value of map put", "append", "struct literal element", "range-deref":
			return true
		}
		return false
	})
	return call && !kept
}

// numberSize tells whether a call of make has a number as its size.
func numberSize(expr string) bool {
	x, err := parser.ParseExpr(expr)
	call, ok := x.(*ast.CallExpr)
	if err != nil || !ok || len(call.Args) < 2 {
		return false
	}
	return !slices.ContainsFunc(call.Args[1:], func(a ast.Expr) bool { _, ok := a.(*ast.BasicLit); return !ok })
}

func tellReader(in *Input, _ *reasons, g *reasonLine, f *Finding) {
	c := &g.sites[0].Causes[0]
	if flowHas(c, func(how, _ string) bool { return how == "interface-converted" }) {
		f.Advice = "Call the methods of the concrete type (ReadByte, Read of *bytes.Reader, WriteString of *bytes.Buffer), or scan the bytes directly: then it stays on the stack."
	} else {
		f.Advice = "Use the concrete reader or writer type: then it stays on the stack. " + reuse(in, g)
		if madeWithSize(c.Expr) && !numberSize(c.Expr) {
			f.Advice = "A buffer whose size is not constant is on the heap whoever reads into it; one of constant size stays on the stack if the reader or writer is of a concrete type. " + reuse(in, g)
		}
	}
	if !strings.Contains(c.Reason, "io.") {
		f.Doubts = append(f.Doubts, "if the method belongs to a concrete type, it is that type that passes the buffer on to an interface")
	}
}
