package insight

import (
	"go/ast"
	"strings"

	"loupe/value/stack"
)

// A client that main makes once is one for all requests already.

// onceDepth is how many functions the making of a client is followed up through: chosen.
const onceDepth = 5

// madeOnce tells of a part of a function that the program comes there once: main, or the start of a package, does, or one place that main comes to once, and no loop
// or function without a name is around it.
func madeOnce(d *derivations, in *ast.FuncDecl, part ast.Node, depth int) bool {
	switch {
	case in == nil:
		return true
	case in.Body == nil || depth == onceDepth:
		return false
	}
	alone := true
	eachNode(in.Body, func(n ast.Node, around []ast.Node) {
		if n == part {
			alone = loopBody(around) == nil && !withinLit(around)
		}
	})
	if !alone {
		return false
	}
	if in.Recv == nil && (in.Name.Name == "main" || in.Name.Name == "init") {
		return true
	}
	calls := callersTo(d, in)
	return len(calls) == 1 && madeOnce(d, calls[0].in, calls[0].call, depth+1)
}

// tellMadeOnce takes back the advice to use one client for all requests where the source makes only one.
func tellMadeOnce(f *Finding, c *code, frames []stack.Frame, user func(stack.Frame) bool) {
	origins := clientOrigins(c, frames, user)
	d := derivationsOf(c)
	if len(origins) != 1 || !madeOnce(d, origins[0].in, origins[0].at, 0) {
		return
	}
	f.Advice = onceMade.Replace(f.Advice)
}

// onceMade are the texts of that advice, and what stays of them.
var onceMade = strings.NewReplacer(
	"; use one http.Client for all requests; and set its Transport's", "; and set the Transport's",
	"Use one http.Client for all requests, and set its Transport's", "Set the Transport's",
	"use one http.Client for all requests, and set its Transport's", "set the Transport's",
)
