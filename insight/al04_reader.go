package insight

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/types"
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
var readerCall = lazily(`^(io\.(ReadFull|ReadAtLeast|ReadAll|Copy|CopyN|CopyBuffer|WriteString)\(|[\pL_][\pL\pN_.]*\.(Read|Write|ReadAt|WriteAt|ReadFrom|WriteTo|ReadByte|WriteByte|WriteString)\()`)

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
	concrete := "Call the method of a concrete type that passes the buffer to no interface itself (os.File, bytes.Reader; not bufio.Reader or bufio.Writer): then it stays on the stack. "
	if flowHas(c, func(how, expr string) bool { return how == "call parameter" && strings.HasPrefix(expr, "io.") }) {
		concrete = "The functions of package io take an interface, whatever they are given. " + concrete
	}
	again := reuse(in, g)
	sized := madeWithSize(c.Expr) && !numberSize(c.Expr)
	switch {
	case flowHas(c, func(how, _ string) bool { return how == "interface-converted" }):
		concrete, again = "Call the methods of the concrete type (ReadByte, Read of *bytes.Reader, WriteString of *bytes.Buffer), or scan the bytes directly: then it stays on the stack.", ""
	case sized:
		concrete = "A buffer whose size is not constant is on the heap whoever reads into it; one of constant size stays on the stack if the reader or writer is of a concrete type and nothing else keeps it. "
	}
	ways, known := waysOut(in.code, g.sites[0].Frames[0], func(n *ast.CallExpr) bool { return readerCall.MatchString(types.ExprString(n.Fun) + "(") })
	if i := slices.IndexFunc(ways, func(w wayOut) bool { return w.sure }); i >= 0 {
		tellOtherWay(in, c, ways[i], f)
		return
	}
	switch {
	case len(ways) > 0 && sized:
		f.Advice = concrete + "It is also " + ways[0].at() + ", which may keep it. " + again
		f.Evidence = append(f.Evidence, in.code.shownAt(ways[0].file, ways[0].line, "it is also %s", ways[0].how))
	case len(ways) > 0:
		f.Advice = "The interface may not be the only reason: it is also " + ways[0].at() + ". Only if it does not outlive that does a concrete reader or writer type let it stay on the stack. " + again
		f.Evidence = append(f.Evidence, in.code.shownAt(ways[0].file, ways[0].line, "it is also %s", ways[0].how))
	case !known && !sized:
		f.Advice = "The compiler names the first way to the heap alone. If there is no other (a channel, a field, a return value, a closure), a concrete reader or writer type lets it stay on the stack. " + again
		if again == "" { // it is the reader itself
			f.Advice = concrete + "This holds if nothing else keeps it (a channel, a field, a return value, a closure): the compiler names the first way to the heap alone."
		}
	default:
		f.Advice = concrete + again
	}
	f.Advice = strings.TrimSpace(f.Advice)
	if !strings.Contains(c.Reason, "io.") {
		f.Doubts = append(f.Doubts, "if the method belongs to a concrete type, it is that type that passes the buffer on to an interface")
	}
}

// tellOtherWay says what to do about a value that is on the heap whoever reads into it, since
// it goes on somewhere else.
func tellOtherWay(in *Input, c *why.Cause, w wayOut, f *Finding) {
	f.Title = "Each call allocates a value that outlives it"
	if c.Mechanism&why.Slice != 0 {
		f.Title = "Each call allocates a new buffer that outlives it"
	}
	f.Summary += "; it would escape without the interface too: it is " + w.at()
	f.Evidence = append(f.Evidence, in.code.shownAt(w.file, w.line, "it is %s", w.how))
	last := "its last user is done with it"
	if w.to != "" {
		last = "whoever receives from " + w.to + " is done with it"
	}
	f.Advice = fmt.Sprintf("A concrete type would not keep it off the heap, since it is %s. Take it from a sync.Pool, and put it back where %s.%s", w.at(), last, whenDone)
	if c.Mechanism&why.Slice != 0 && flowHas(c, func(_, expr string) bool { return readsInto.MatchString(expr) }) {
		f.Advice = fmt.Sprintf("A concrete type would not keep it off the heap, since it is %s. If it is usually filled only in part, read into one buffer, and let only a copy of the bytes that were read go on (bytes.Clone(buf[:n])). Or take it from a sync.Pool, and put it back where %s.%s", w.at(), last, whenDone)
	}
}

// readsInto is a call that fills a buffer, as the compiler prints it.
var readsInto = lazily(`\.(Read|ReadAt|ReadFrom|ReadFull|ReadAtLeast|ReadFromUDP|ReadFromUDPAddrPort|ReadMsgUDP|Recv|RecvFrom)\(`)
