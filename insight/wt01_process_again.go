package insight

import (
	"fmt"
	"slices"
	"strings"

	"loupe/analysis/repetition"
	"loupe/value/stack"
	"loupe/value/unit"
)

// Processes that are started again for what was asked before: the run that counts calls knows with which arguments the function is called that starts them.

// Limits of what counts as the same again. Chosen.
const (
	fewSameStarts  = 5 // calls
	partSameStarts = 4 // calls for each different argument
)

// processFrames are the frames of the wait for a process that a unit waits in, or that whoever ends its wait does; none where that is not known.
func processFrames(t *traced, w *waiting) []stack.Frame {
	if w.kind == "process" {
		return t.Frames(w.site.Stack)
	}
	for i := range w.causes {
		if of := &w.causes[i].Cause; of.Kind.Key() == "process" {
			return t.Frames(of.Site.Stack)
		}
	}
	return nil
}

// tellSameProcess says of processes that units wait for that the function which starts them is called again and again with the same arguments. Under a
// load it is that which asks for the same.
func tellSameProcess(in *Input, t *traced, w *waiting, f *Finding) {
	if w.group.Unit.String() == "request" {
		return
	}
	for _, at := range processFrames(t, w) {
		if !in.Session.Scope().IsUser(at) {
			continue
		}
		calls, ok := repetition.CallsOf(in.Session, stack.FoldGenerics(at.Func))
		if !ok || calls.Partial || calls.Calls < fewSameStarts || calls.Calls < partSameStarts*calls.Distinct {
			continue
		}
		name := stack.Short(stack.FoldGenerics(at.Func))
		same := "the same arguments"
		if calls.Distinct > 1 {
			same = unit.Plural(calls.Distinct, "different argument")
		}
		f.Title = "The same process is started again and again"
		f.Summary += fmt.Sprintf("; %s, which waits for it, was called %s with %s", name, unit.Plural(calls.Calls, "time"), same)
		if first := f.Evidence[0]; first.File != at.File || first.Line != at.Line { // where the process is waited for comes first: there it can be asked once
			e := in.code.shownAt(at.File, at.Line, "%s waits for the process here", name)
			e.Function, e.Path, e.Phase = at.Func, first.Path, first.Phase
			f.Evidence = slices.Insert(f.Evidence, 0, e)
		}
		again := f.Advice
		f.Advice = fmt.Sprintf("Call %s once for each argument, for all who need its answer, and keep that for as long as it holds: for the run, or until it expires.", name)
		if calls.Differ > 0 || calls.Vague {
			f.Doubts = append(f.Doubts, fmt.Sprintf("%s did not return the same each time, as far as that was compared: a time in the answer differs, and so does news; if each call has to see what has changed since the last one, it is needed", name))
		} else {
			f.Doubts = append(f.Doubts, "if each call has to see what has changed since the last one, it is needed: here none returned anything else")
		}
		if !strings.HasPrefix(again, "It waits for several runs") {
			f.Advice += " Else: " + strings.ToLower(again[:1]) + again[1:]
		}
		return
	}
}
