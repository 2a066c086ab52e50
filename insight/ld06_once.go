package insight

import (
	"go/ast"
	"slices"
	"strings"

	"loupe/value/stack"
)

// What makes the requests of a line, followed through fields, parameters and functions to the literals that make it: the settings of those are the ones in use,
// and a client that main makes once is one for all requests already.

// clientOrigins are the origins of what makes the requests of a stack; nil where one of them cannot be followed to a literal of the program.
func clientOrigins(c *code, frames []stack.Frame, user func(stack.Frame) bool) []httpOrigin {
	d := derivationsOf(c)
	at, client, _ := requestClient(d, frames, user)
	if client == nil {
		return nil
	}
	all := newOriginTrail(d, clientPackagesOf(c.session)).all(at.decl, client)
	if slices.ContainsFunc(all, func(o httpOrigin) bool {
		_, lit := unrefer(o.at).(*ast.CompositeLit)
		return !lit || !o.plain || o.given != nil
	}) {
		return nil
	}
	return all
}

// settingsOfOrigins are the settings that stand in one of the literals which make the requests of a stack; nil where none does.
func settingsOfOrigins(c *code, frames []stack.Frame, user func(stack.Frame) bool, all []connSetting) (some []connSetting) {
	d := derivationsOf(c)
	origins := clientOrigins(c, frames, user)
	set := slices.ContainsFunc(newOriginTrail(d, clientPackagesOf(c.session)).settings(origins), func(s transportSetting) bool {
		return s.field == "MaxIdleConnsPerHost" || s.field == "DisableKeepAlives"
	})
	for _, x := range all {
		if x.unset && set { // it is set later
			continue
		}
		if slices.ContainsFunc(origins, func(o httpOrigin) bool {
			lit := unrefer(o.at)
			file, first, _ := d.t.at(lit.Pos())
			_, last, _ := d.t.at(lit.End() - 1)
			return file == x.at.File && first <= x.at.Line && x.at.Line <= last
		}) {
			x.traced = true
			some = append(some, x)
		}
	}
	return some
}

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
