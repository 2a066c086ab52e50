package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"loupe/analysis/repetition"
	"loupe/value/unit"
)

// Patterns of which the run that counts has seen each once: there is nothing to keep.

// fewPatterns is how many elements a loop has to go through for its patterns to be told as different ones. Chosen.
const fewPatterns = 20

// tellDifferent says of patterns that none came twice in the run that counts, or that each was made of another element of a list which
// was gone through once; it tells whether that is so.
func tellDifferent(h *hit, f *Finding) bool {
	says, surely := differentPatterns(h)
	if says == "" {
		return false
	}
	f.Severity = Info
	f.Summary += "; " + says
	f.Advice = "There is nothing to keep if no text comes twice. Where a pattern is little more than fixed text, package strings does the same without compiling; patterns that differ in a quoted text alone may be a single one that captures it, with a map of the texts."
	if !surely {
		f.Doubts = append(f.Doubts, "if the same text is among the elements more than once, a map keyed by it saves the others")
	}
	return true
}

// differentPatterns says in words what shows that patterns differ; empty where nothing does. Surely tells that none came twice.
func differentPatterns(h *hit) (says string, surely bool) {
	line := h.lines[0]
	at := line.Caller
	if n, ok := repetition.NeverAgain(h.in.Session, at.File, at.Line, ownName(line.Callee)); ok {
		return fmt.Sprintf("in the run that counts it was called %s, and no pattern came twice", unit.Plural(n, "time")), true
	}
	fn := h.in.code.scopeAt(at)
	counts := blockCountsOf(h.in.code)
	if fn == nil || counts == nil {
		return "", false
	}
	in, loops, ok := counts.loopsAt(at)
	if !ok {
		return "", false
	}
	if decl := in.decl; len(loops) == 0 && in.lit == nil && decl.Recv == nil && len(fieldNames(decl.Type.Params)) == 1 {
		file, first, _ := counts.d.t.at(decl.Pos())
		if n, ok := repetition.NeverAgain(h.in.Session, file, first, ""); ok && patternOf(h, fieldNames(decl.Type.Params)[0]) {
			return fmt.Sprintf("in the run that counts %s was called %s, and %s was never the same twice", decl.Name.Name, unit.Plural(n, "time"), fieldNames(decl.Type.Params)[0]), true
		}
		return "", false
	}
	if len(loops) != 1 || in.lit != nil {
		return "", false
	}
	loop, is := loops[0].(*ast.RangeStmt)
	if !is {
		return "", false
	}
	over, known := counts.loopAt(loop)
	id, _ := loop.Value.(*ast.Ident)
	if !known || over.Entered != 1 || over.Looked != 1 || over.Size < fewPatterns || id == nil || !patternOf(h, id.Name) {
		return "", false
	}
	file, begins, _ := counts.d.t.at(loop.Pos())
	return fmt.Sprintf("in the run that counts the loop at %s began once, and went through %s, each of which gets its pattern once", fileLine(file, begins), unit.Plural(over.Size, "element")), false
}

// patternOf tells of the calls on the line that they are given a pattern with a variable in it.
func patternOf(h *hit, name string) bool {
	calls := 0
	for _, call := range h.in.code.lineCalls(h.lines[0].Caller) {
		text := types.ExprString(call.Fun)
		if !strings.HasPrefix(text, "regexp.") || len(call.Args) == 0 || strings.HasSuffix(text, "QuoteMeta") {
			continue
		}
		if calls++; !mentions(call.Args[0], name) {
			return false
		}
	}
	return calls > 0
}
