package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/analysis/repetition"
	"loupe/value/unit"
)

// How often each item has to be made anew, on average, before the run that counts calls is said to show that they are the same again; and from how many
// different ones on a load is not what has asked for the same. Chosen.
const (
	itemsAgain = 10
	manyItems  = 4
)

// tellItemsSeen says of work for the items of a loop that the run that counts calls has seen the same ones again and again; it is false where it has not.
func tellItemsSeen(h *hit, f *Finding) bool {
	at := h.lines[0].Caller
	calls, loaded, ok := repetition.SeenAt(h.in.Session, at.File, at.Line, ownName(h.lines[0].Callee))
	if !ok || calls.Calls < itemsAgain*calls.Distinct {
		return false
	}
	kinds := unit.Count(calls.Distinct)
	if calls.Sampled {
		kinds = unit.About(calls.Distinct)
	}
	f.Summary += fmt.Sprintf("; the run that counts calls saw %s with %s different arguments", unit.Plural(calls.Calls, "call"), kinds)
	f.Advice = "Make each once and keep it, by its text or its key, with a bound; make it again when what it is made of changes."
	f.Doubts = append(f.Doubts, "whoever changes what is kept, or what it points to, needs a copy of his own")
	if loaded {
		f.Doubts = append(f.Doubts, "a load asks for the same again and again: if each user brings items of his own, less is saved")
		if calls.Distinct < manyItems || loopsInHandler(h) {
			f.Severity, f.saves = Info, false
		}
	}
	return true
}

// loopsInHandler tells whether the loop nearest to the work is in a function that is given a request: what it goes through may come with that.
func loopsInHandler(h *hit) bool {
	for _, f := range facts.Frames(h.p.Stacks, h.lines[0].heavy) {
		if !h.in.Session.Scope().IsUser(f) || len(loopsAround(h.in.code, f)) == 0 {
			continue
		}
		fn := h.in.code.scopeAt(f)
		return fn != nil && fn.params != nil && slices.ContainsFunc(fn.params.List, func(p *ast.Field) bool {
			return strings.HasSuffix(types.ExprString(p.Type), "Request")
		})
	}
	return false
}
