package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// What would take entries out of a container may be a function that the program never calls: a cleaner that is not started.

// notStarted is why a function is never come to: a function on the way to it that nothing calls, or a call on the way that was not
// reached in the run that counts.
type notStarted struct {
	// outer is the function that would have to be called, at its line; it is the function itself, or one that leads to it.
	outer string
	at    Evidence
	// skipped is the line of a call of it that was not reached; the zero Evidence where the sources have none.
	skipped Evidence
}

// String says it: "nothing in the sources calls store.StartCleaner (store.go:54)".
func (n notStarted) String() string {
	if n.skipped.File != "" {
		return fmt.Sprintf("the call of %s at %s was reached 0 times in the run that counts", n.outer, fileLine(n.skipped.File, n.skipped.Line))
	}
	return fmt.Sprintf("nothing in the sources calls %s (%s)", n.outer, fileLine(n.at.File, n.at.Line))
}

// calledByLibraries are methods that a library may call by an interface of its own.
var calledByLibraries = []string{"ServeHTTP", "RoundTrip", "String", "Error", "Close", "Read", "Write", "Len", "Less", "Swap", "Push", "Pop", "Run", "Start", "Stop", "Shutdown",
	"Describe", "Collect", "Scan", "Value", "Handle", "Enabled", "Flush", "Done", "MarshalJSON", "UnmarshalJSON", "MarshalText", "UnmarshalText", "Execute", "Process"}

// maxStartDepth is how many calls are followed outward; chosen.
const maxStartDepth = 5

// notStartedBy finds why a function is never come to; false where it may be. The sources have to show main, and all of its callers: it is no
// value, no method that a library may call, and not the function of a line that has run.
func notStartedBy(c *code, fn *types.Func, ran stack.Frame) (why notStarted, ok bool) {
	d := derivationsOf(c)
	in, _ := d.at(ran)
	if fn == nil || !showsMain(d) {
		return why, false
	}
	var never func(decl *ast.FuncDecl, depth int) bool
	never = func(decl *ast.FuncDecl, depth int) bool {
		file, line, _ := d.t.at(decl.Pos())
		if depth > maxStartDepth || decl == in.decl || startsProgram(decl) || strings.HasSuffix(file, "_test.go") || decl.Recv != nil && slices.Contains(calledByLibraries, decl.Name.Name) || isValueFunc(d, decl) {
			return false
		}
		name := decl.Name.Name
		for _, by := range callersTo(d, decl) {
			if by.in == decl {
				continue
			}
			if by.in != nil && never(by.in, depth+1) {
				continue
			}
			at, skipped := skippedCall(c, d, by)
			if !skipped {
				return false
			}
			why = notStarted{name, c.shownAt(file, line, "it is not called"), at}
		}
		if why.outer == "" {
			why = notStarted{outer: name, at: c.shownAt(file, line, "nothing in the sources calls it")}
		}
		return true
	}
	decl := d.t.decls[fn.Origin()]
	if decl == nil || !never(decl, 0) {
		return notStarted{}, false
	}
	return why, true
}

// showsMain tells whether the sources have the function that starts the program.
func showsMain(d *derivations) bool {
	for _, decl := range d.t.decls {
		if startsProgram(decl) && decl.Name.Name == "main" {
			return true
		}
	}
	return false
}

// isValueFunc tells of a function that the sources name it where they do not call it.
func isValueFunc(d *derivations, decl *ast.FuncDecl) bool {
	return slices.ContainsFunc(valueFuncs(d), func(v valueFunc) bool { return v.decl == decl })
}

// skippedCall tells of a call that its function was counted, and that the call was not reached once. One in a loop, or in a function
// literal, as that of a ticker, may only come later than the run was long.
func skippedCall(c *code, d *derivations, by callBy) (at Evidence, skipped bool) {
	counts := blockCountsOf(c)
	if counts == nil || by.in == nil {
		return at, false
	}
	file, line, _ := d.t.at(by.call.Pos())
	found := false
	eachNode(by.in, func(n ast.Node, around []ast.Node) {
		if n == ast.Node(by.call) {
			times, known := counts.times(around, n)
			found = known && times == 0 && !slices.ContainsFunc(around, mayComeLater)
		}
	})
	if !found {
		return at, false
	}
	return c.shownAt(file, line, "this call was not reached"), true
}

// mayComeLater tells of a node around a call that the call may come at a later time.
func mayComeLater(n ast.Node) bool {
	switch n.(type) {
	case *ast.ForStmt, *ast.RangeStmt, *ast.FuncLit, *ast.SelectStmt, *ast.DeferStmt, *ast.GoStmt:
		return true
	}
	return false
}

// tellNotStarted says of a container whose entries nothing takes out but functions that are never come to which of them have to be called.
func tellNotStarted(c *code, s keepsAt, others []remover, h *holding) {
	var first notStarted
	for i, m := range others {
		why, ok := notStartedBy(c, m.fn, stack.Frame{File: s.file, Line: s.line})
		if !ok {
			return
		}
		if i == 0 {
			first = why
		}
	}
	if len(others) == 0 {
		return
	}
	takes := others[0]
	h.says += fmt.Sprintf("; what takes entries out of it (%s at %s) is not come to: %s", takes.in, fileLine(takes.file, takes.line), first)
	h.advice = fmt.Sprintf("Nothing leaves %s, as %s. If entries are to leave it by that, call %s where the program starts. Otherwise delete each when it is done with, or give it a bound.", s.container, first, first.outer)
	h.shows = append(h.shows, first.at)
	if first.skipped.File != "" {
		h.shows = append(h.shows, first.skipped)
	}
	h.lets = Evidence{}
}
