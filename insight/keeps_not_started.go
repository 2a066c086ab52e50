package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
	"loupe/value/unit"
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

// startState is what is known of a function whether it is ever called.
type startState int

const (
	mayStart     startState = iota // something that runs may call it
	neverStarts                    // nothing does
	unseenStarts                   // the sources show no call of it, but do not show everything that may call it
)

// startSearch looks outward for what would call a function.
type startSearch struct {
	c      *code
	d      *derivations
	ran    *ast.FuncDecl // the function of a line that has run
	unseen *unseenCalls
	why    notStarted
	// by says what may call the function of why without a call in the sources.
	by string
}

// notStartedBy finds why a function is never come to; false where it may be. The sources have to show main, and all of its callers: it is no
// value, no method that a library may call, and not the function of a line that has run.
func notStartedBy(c *code, fn *types.Func, ran stack.Frame) (why notStarted, ok bool) {
	s := newStartSearch(c, ran)
	if s.of(fn) != neverStarts {
		return notStarted{}, false
	}
	return s.why, true
}

func newStartSearch(c *code, ran stack.Frame) *startSearch {
	d := derivationsOf(c)
	in, _ := d.at(ran)
	return &startSearch{c: c, d: d, ran: in.decl, unseen: &unseenCalls{c: c, d: d}}
}

// of is what is known of a function; where it is not called, why is set, and by where something unseen may call it.
func (s *startSearch) of(fn *types.Func) startState {
	s.why, s.by = notStarted{}, ""
	if fn == nil || !showsMain(s.d) {
		return mayStart
	}
	decl := s.d.t.decls[fn.Origin()]
	if decl == nil {
		return mayStart
	}
	return s.state(decl, 0)
}

// state is of, at some depth.
func (s *startSearch) state(decl *ast.FuncDecl, depth int) startState {
	file, line, _ := s.d.t.at(decl.Pos())
	if depth > maxStartDepth || decl == s.ran || startsProgram(decl) || strings.HasSuffix(file, "_test.go") || decl.Recv != nil && slices.Contains(calledByLibraries, decl.Name.Name) || isValueFunc(s.d, decl) {
		return mayStart
	}
	state := neverStarts
	for _, by := range callersTo(s.d, decl) {
		if by.in == decl {
			continue
		}
		outer := mayStart
		if by.in != nil {
			outer = s.state(by.in, depth+1)
		}
		if outer == mayStart {
			at, skipped := skippedCall(s.c, s.d, by)
			if !skipped {
				return mayStart
			}
			s.why = notStarted{decl.Name.Name, s.c.shownAt(file, line, "it is not called"), at}
			continue
		}
		state = max(state, outer)
	}
	if state == unseenStarts {
		return state // by one that calls it
	}
	if by := s.unseen.whoMayCall(decl); by != "" {
		s.why, s.by = notStarted{outer: decl.Name.Name, at: s.c.shownAt(file, line, "no call of it in the sources is come to")}, by
		return unseenStarts
	}
	if n, counted := callsCounted(s.c, decl); counted && n > 0 {
		return mayStart
	}
	if s.why.outer == "" {
		s.why = notStarted{outer: decl.Name.Name, at: s.c.shownAt(file, line, "nothing in the sources calls it")}
	}
	return state
}

// callsCounted is how often a function was called in the run that counts; not counted where that is not known.
func callsCounted(c *code, decl *ast.FuncDecl) (n int64, counted bool) {
	counts := blockCountsOf(c)
	if counts == nil || decl.Body == nil {
		return 0, false
	}
	if n, counted = counts.entered(decl.Body.Lbrace); counted {
		return n, true
	}
	file, line, _ := counts.d.t.at(decl.Pos())
	return counts.blocks.Called(file, line)
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
	var first, unseen startSearch
	var takes remover
	x := newStartSearch(c, stack.Frame{File: s.file, Line: s.line})
	for _, m := range others {
		switch x.of(m.fn) {
		case mayStart:
			return
		case unseenStarts:
			if unseen.by == "" {
				unseen, takes = *x, m
			}
		case neverStarts:
			if first.why.outer == "" {
				first = *x
			}
		}
	}
	switch {
	case unseen.by != "":
		tellUnseen(c, takes, &unseen, h)
		return
	case first.why.outer == "":
		return
	}
	takes = others[0]
	h.says += fmt.Sprintf("; what takes entries out of it (%s at %s) is not come to: %s", takes.in, fileLine(takes.file, takes.line), first.why)
	h.advice = fmt.Sprintf("Nothing leaves %s, as %s. If entries are to leave it by that, call %s where the program starts. Otherwise delete each when it is done with, or give it a bound.", s.container, first.why, first.why.outer)
	h.shows = append(h.shows, first.why.at)
	if first.why.skipped.File != "" {
		h.shows = append(h.shows, first.why.skipped)
	}
	h.lets = Evidence{}
}

// tellUnseen says of what takes entries out of a container that the sources do not show who calls it, and how often it was called where that was counted.
func tellUnseen(c *code, takes remover, x *startSearch, h *holding) {
	at := fileLine(takes.file, takes.line)
	h.says += fmt.Sprintf("; what takes entries out of it (%s at %s) needs a call of %s (%s), and none in the sources is come to; but %s", takes.in, at, x.why.outer, fileLine(x.why.at.File, x.why.at.Line), x.by)
	if decl := x.d.t.decls[takes.fn.Origin()]; decl != nil {
		if n, counted := callsCounted(c, decl); counted {
			h.says += fmt.Sprintf("; in the run that counts, %s was called %s", takes.in, unit.Plural(n, "time"))
		}
	}
	h.shows = append(h.shows, x.why.at)
}
