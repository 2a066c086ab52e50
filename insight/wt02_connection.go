package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"path"
	"slices"
	"strings"

	"loupe/value/stack"
)

// Many calls of a peer that all go over one connection: made concurrently, their requests and answers would mix.

// connectionOfCalls is the one connection, as the source names it, that the calls of a loop go over which is on a way through the code: something on the
// first line that is one by its type, and that is the same in each turn by what it is a field of; empty where nothing shows that.
func connectionOfCalls(c *code, way []stack.Frame) (conn string) {
	d := derivationsOf(c)
	in, ok := d.at(way[0])
	if !ok {
		return ""
	}
	ast.Inspect(in.body(), func(n ast.Node) bool {
		x, ok := n.(ast.Expr)
		if !ok || conn != "" || d.placeOf(n).line > way[0].Line {
			return conn == ""
		}
		switch x.(type) {
		case *ast.Ident, *ast.SelectorExpr:
			of := path.Base(libraryTypeOf(d, x, 0).text()) // or what makes one, net.Dial
			if d.placeOf(n).line == way[0].Line && (isStream(of) || isStream(of+"()")) && sameConnection(c, d, x, way) {
				conn = types.ExprString(x)
			}
		}
		return conn == ""
	})
	return conn
}

// sameConnection follows outward what a connection is a field of, up to the loop: it is the same one in each turn where the loop has it from outside.
func sameConnection(c *code, d *derivations, x ast.Expr, way []stack.Frame) bool {
	for i, f := range way {
		in, ok := d.at(f)
		if !ok || hasCall(x, func(*ast.CallExpr) bool { return true }) || hasIndex(x) {
			return false // one of several
		}
		v := d.t.rootOf(x)
		of, known := v.(*types.Var)
		if !known || of.IsField() {
			return false
		}
		if ofPackage(v) {
			return true
		}
		if loops := loopsAround(c, f); len(loops) > 0 {
			_, line, _ := d.t.at(v.Pos())
			inner := loops[len(loops)-1]
			first, last := inner.source.lines(inner.stmt)
			name := rootName(x)
			return !inner.ranges(name) && (line < first || line > last) && !setOnLines(d, in, v, first, last)
		}
		if !isLocal(in.decl, v) || in.lit != nil && in.lit.Pos() <= v.Pos() && v.Pos() < in.lit.End() {
			return false
		}
		if !isGiven(in.decl, v) {
			defs := d.definitions(in.decl)[v]
			if len(defs) != 1 || defs[0].x == nil || hasCall(defs[0].x, func(*ast.CallExpr) bool { return true }) {
				return false // made here, or taken from somewhere
			}
			x = defs[0].x
			if v = d.t.rootOf(x); v == nil || !isGiven(in.decl, v) {
				return ofPackage(v) && !hasIndex(x)
			}
		}
		if i+1 == len(way) {
			return false
		}
		out, ok := d.at(way[i+1])
		if !ok {
			return false
		}
		calls := d.callsOn(out, way[i+1], in.decl.Name.Name)
		if len(calls) != 1 {
			return false
		}
		if x = argumentFor(d, in.decl, calls[0], v); x == nil {
			return false
		}
		x = unrefer(x)
	}
	return false
}

// setOnLines tells of a variable that some lines of a function set it.
func setOnLines(d *derivations, in frameCode, v types.Object, first, last int) bool {
	return slices.ContainsFunc(d.definitions(in.decl)[v], func(def definition) bool {
		_, line, _ := d.t.at(def.at)
		return first <= line && line <= last && !def.part
	})
}

// asksConcurrently are the parts of an advice that ask for calls at the same time.
var asksConcurrently = []string{
	" If the peer has no such call, make the calls concurrently, with a limit (errgroup with SetLimit).",
	"; where the batches do not depend on each other, make several calls concurrently, with a limit (errgroup with SetLimit)",
	", or make those concurrently that do not depend on each other",
	" Make the calls concurrently only if none of them depends on what one before it has changed.",
}

// tellOneConnection makes a finding about many calls that go over one connection ask for no concurrent ones.
func tellOneConnection(c *code, o *outward, f *Finding) {
	if o.kind != "network" && o.kind != "query" || len(o.path) == 0 {
		return
	}
	conn := connectionOfCalls(c, o.path)
	if conn == "" {
		return
	}
	for _, part := range asksConcurrently {
		f.Advice = strings.Replace(f.Advice, part, "", 1)
	}
	f.Advice += fmt.Sprintf(" By the source, all of them go over one connection (%s), on which the requests and answers of concurrent calls would mix: what its protocol permits there is to send several requests before the first answer is read (a pipeline).", conn)
}

// differentCalls is advice for several calls of a peer of which none is made again by the same way through the code.
const differentCalls = "It makes several different calls, one after another: leave out those whose answers nobody needs, ask for what belongs together in one (a join, a batch), and make those concurrently that need nothing of each other (WT03 says of which the source shows that)."

// callsRepeat tells of waits for a peer's answers that a unit makes one of the calls again by the same way through the code, as a loop does.
func callsRepeat(w *waiting) bool {
	seen := false
	for _, o := range outwards(w.group) {
		if o.path[0] == w.site.Frame && farOf(o.kind) == farOf(w.kind) {
			if seen = true; o.each() >= 1.5 {
				return true
			}
		}
	}
	return !seen
}

// callsAdvice is what to do about many waits for a peer's answers, one after another.
func callsAdvice(in *Input, w *waiting) string {
	if !callsRepeat(w) {
		return differentCalls
	}
	for _, o := range outwards(w.group) {
		if o.path[0] != w.site.Frame {
			continue
		}
		if conn := connectionOfCalls(in.code, o.path); conn != "" {
			return fmt.Sprintf("It makes one call after another (N+1 queries): ask for all at once (a batch, a join, one query with many keys). By the source, they go over one connection (%s), where concurrent calls would mix: several requests may be sent before the first answer is read (a pipeline), if the protocol permits that.", conn)
		}
		break
	}
	return "It makes one call after another (N+1 queries): ask for all at once (a batch, a join, one query with many keys), or make independent calls concurrently."
}
