package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"
)

// What making the arguments of a log call does besides: who leaves them out where nothing is written leaves that out, too.

// argumentCalls are the calls by which the arguments of a log call are made, if it is in the source.
func (c *loggedFor) argumentCalls(d *derivations) (calls []*ast.CallExpr, in frameCode) {
	in, ok := d.at(c.at)
	if !ok || in.file != c.file {
		return nil, in
	}
	ast.Inspect(in.body(), func(n ast.Node) bool {
		logs, ok := n.(*ast.CallExpr)
		if !ok || types.ExprString(logs.Fun) != c.text {
			return true
		}
		if _, line, _ := d.t.at(logs.Pos()); line < c.first || line > c.last {
			return true
		}
		for _, x := range logs.Args {
			ast.Inspect(x, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					calls = append(calls, call)
				}
				return true
			})
		}
		return false
	})
	return calls, in
}

// declsOfCall are the functions of the sources that a call may come to.
func declsOfCall(d *derivations, call *ast.CallExpr) []*ast.FuncDecl {
	fn := d.t.callee(call)
	if fn == nil {
		return nil
	}
	return d.declsOf(fn)
}

// argumentEffect is what a function that makes an argument changes, or reads on from, by the source, and where; name is that function. Empty where
// nothing of the kind is known.
func (c *loggedFor) argumentEffect(code *code) (name, what string, at codeLine) {
	d := derivationsOf(code)
	calls, _ := c.argumentCalls(d)
	for _, call := range calls {
		for _, decl := range declsOfCall(d, call) {
			e := &callEffects{d: d, seen: map[*ast.FuncDecl]bool{}}
			e.every = func(n ast.Node, does string) {
				if what == "" && (strings.HasPrefix(does, "changes ") || strings.HasPrefix(does, "reads on by ") || strings.HasPrefix(does, "counts or stores in ")) {
					name, what, at = decl.Name.Name, does, d.placeOf(n)
				}
			}
			e.look(decl, givenToDecl(d, decl), 0)
			if what != "" {
				return name, what, at
			}
		}
	}
	return "", "", at
}

// argumentPanics is where a function that makes an argument panics, and whether the function with the log call recovers from it.
func (c *loggedFor) argumentPanics(code *code) (at codeLine, recovers bool) {
	d := derivationsOf(code)
	calls, in := c.argumentCalls(d)
	for _, call := range calls {
		for _, decl := range declsOfCall(d, call) {
			for f := range d.reached(decl, decl.Body) {
				at = firstPanic(d, f, at)
			}
			at = firstPanic(d, decl, at)
		}
	}
	if at.line > 0 {
		recovers = hasCall(in.decl.Body, func(call *ast.CallExpr) bool { return isNamed(call.Fun, "recover") })
	}
	return at, recovers
}

// firstPanic is the first line of a function that panics, or the one before if that is in front of it.
func firstPanic(d *derivations, decl *ast.FuncDecl, before codeLine) codeLine {
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && isNamed(call.Fun, "panic") {
			if at := d.placeOf(call); before.line == 0 || at.file < before.file || at.file == before.file && at.line < before.line {
				before = at
			}
		}
		return true
	})
	return before
}

// tellLeftOut says what a function that makes an argument does besides, and that this goes with the log call.
func tellLeftOut(in *Input, f *Finding, name, does string, at codeLine) {
	f.Severity, f.saves = Info, false
	f.Evidence = append(f.Evidence, in.code.shownAt(at.file, at.line, "making the arguments %s here", does))
	f.Advice = fmt.Sprintf("Leaving the call out where nothing is written also leaves this out: %s %s (%s). If something needs it, do it apart from the log call, and make only the text for that.", name, does, at.text())
}

// tellArgumentEffect says of arguments whose making does something else, by the source; false where it does not show that.
func (c *loggedFor) tellArgumentEffect(in *Input, f *Finding) bool {
	if name, what, at := c.argumentEffect(in.code); what != "" {
		tellLeftOut(in, f, name, what, at)
		return true
	}
	at, recovers := c.argumentPanics(in.code)
	if at.line == 0 {
		return false
	}
	doubt := fmt.Sprintf("making them panics where something is wrong (%s): if somebody relies on that, as on a check, it has to stay", at.text())
	if recovers {
		f.Severity, f.saves = Info, false
		doubt += "; the function with the call recovers from it"
	}
	f.Doubts = append(f.Doubts, doubt)
	return false
}
