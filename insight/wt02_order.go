package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// Whether the peer may need the calls of a loop in their order: unless the source says of each that it only reads, that is a condition of
// asking for all at once.

// asksForAll begins advice that makes one call of many.
const asksForAll = "Ask for all at once"

// tellPeerOrder puts the condition first in the advice of a finding about calls of a loop. path is the way of the calls through the code, way that to the loop.
func tellPeerOrder(c *code, path, way []stack.Frame, f *Finding) {
	before, rest, ok := strings.Cut(f.Advice, "(N+1 queries): ask for all at once")
	if ok {
		before += "(N+1 queries). "
	} else if rest, ok = strings.CutPrefix(f.Advice, asksForAll); ok {
		before = ""
	}
	at := way[len(way)-1]
	if a, b, met := leftForNext(c, at); ok && met {
		f.Severity = Info
		f.Advice = fmt.Sprintf("%sIf no call needs what an earlier one leaves behind (%s, %s), ask for all at once%s", before, a.text(), b.text(), rest)
		f.Evidence = append(f.Evidence, c.shownAt(a.at.file, a.at.line, "%s", a.what), c.shownAt(b.at.file, b.at.line, "%s", b.what))
		return
	}
	if why := peerOrder(c, path, way); ok && why != "" {
		f.Advice = fmt.Sprintf("%sIf the peer need not get these calls in order, and no later one needs an effect of an earlier one (%s), ask for all at once%s", before, why, rest)
	}
}

// leftForNext finds what a call that a loop makes in each turn changes and reads as well, which is not its own: the next one finds it.
func leftForNext(c *code, at stack.Frame) (change, read openPoint, met bool) {
	x, ok := closingOfTurns(c, at)
	if !ok {
		return change, read, false
	}
	x.results = slices.DeleteFunc(x.results, func(p openPoint) bool { return p.at == (codeLine{at.File, at.Line}) })
	return meets(x, x)
}

// peerOrder says what leaves open that calls of a loop only read; empty where their names, or what they send, say so.
func peerOrder(c *code, path, way []stack.Frame) string {
	at := way[len(way)-1]
	if all, ok := closingOf(c, at, []int{at.Line}); ok {
		for _, p := range all[0].open {
			if p.peer {
				return p.text()
			}
		}
		return ""
	}
	for i := len(way) - 2; i >= 0; i-- { // by the names alone
		switch name := ownName(path[i].Func); {
		case saysReads.MatchString(name) && !readsAndMore.MatchString(name):
			return ""
		case saysDoes.MatchString(name), writeNames.MatchString(name), readsAndMore.MatchString(name):
			return "by its name, " + stack.Short(path[i].Func) + " does something"
		}
	}
	return "the source does not show that they only read"
}

// endsAtFirst tells of a loop which an answer may end that it does so at the first one that suits: the condition asks for what the turn has been
// answered. Where it asks for something that the answers of several turns use up, says tells that.
func endsAtFirst(l loop, line int) (first bool, says string) {
	w := l.answers(line)
	given := map[string]bool{}
	ast.Inspect(l.body, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && (a.Tok.String() == ":=" || a.Tok.String() == "=") {
			for i, x := range a.Lhs {
				// x = append(x, y) and x = x + y gather
				if len(a.Lhs) != len(a.Rhs) || !hasText(a.Rhs[i], types.ExprString(x)) {
					given[rootName(x)] = true
				}
			}
		}
		return true
	})
	delete(given, "")
	delete(given, "_")
	for _, x := range l.exits() {
		switch worked, known := onSuccess(x.cond, w); {
		case certain(x.cond, x.on, w) && !failing(x.cond, !x.on, w), known && worked != x.on:
			continue
		case failing(x.cond, !x.on, w):
			return true, ""
		case x.fails || !decides(x.cond, x.on, w):
			continue
		}
		if mentionsAny(x.cond, given) || hasCall(x.cond, w.calls) {
			return true, ""
		}
		at, _ := l.source.lines(x.cond)
		says = fmt.Sprintf("the loop ends by %s (line %d), which the answers may change: made concurrently, more calls may be made than that allows", types.ExprString(x.cond), at)
	}
	return false, says
}

// tellEnd says of a loop that an answer may end it, as far as the source shows how.
func tellEnd(c *code, path []stack.Frame, f *Finding) {
	for l, at := range loopsOn(c, path) {
		first, says := endsAtFirst(l, at.Line)
		switch {
		case first:
			f.Doubts = append(f.Doubts, "the loop ends at the first accepted answer: made concurrently, more calls would be made than needed")
		case says != "":
			f.Doubts = append(f.Doubts, says)
			if rest, ok := strings.CutPrefix(f.Advice, asksForAll); ok {
				f.Advice = "If more calls may be made than the loop makes now, ask for all at once" + rest
			}
		}
		return
	}
}
