package insight

import (
	"fmt"

	"loupe/analysis/repetition"
	"loupe/value/stack"
	"loupe/value/unit"
)

// Files that are written again with what they have.

// rewrittenFiles are findings about them.
func rewrittenFiles(r *Rule, in *Input) (found []Finding) {
	all, err := repetition.RewrittenIn(in.Session)
	if err != nil {
		return nil
	}
	for _, x := range all {
		if x.Share >= r.param("share") && len(found) < 2 {
			found = append(found, rewritten(r, in, x))
		}
	}
	return found
}

func rewritten(r *Rule, in *Input, x repetition.Rewritten) Finding {
	c := newCountedLine(in, repetition.Call{Func: x.Func})
	around := stack.Short(x.Unit.Name)
	had := "the same content"
	if x.All.Distinct > 1 {
		had = "content that had been written before"
	}
	about := ""
	if x.All.Sampled {
		about = "about "
	}
	f := r.answer(Found, "%s%s of %s wrote %s to the same file", about, unit.Count(x.All.Again), unit.Plural(x.All.Calls, "call")+" of "+x.Func.Name, had)
	f.Title = "A file is written again and again with the same content"
	switch {
	case x.Around.Name != "":
		f.Summary += fmt.Sprintf(": the calls of %s that do so take %s of the time of %s", stack.Short(x.Around.Name), unit.Percent(x.Share), around)
	default:
		f.Summary += fmt.Sprintf(", which takes %s of the time of %s", unit.Percent(x.Share), around)
	}
	f.Impact = exactly(x.Share, "share of the time of "+around)
	f.Severity, f.Score = Info, score(x.Share, r.param("share"), 0.40)
	if x.Share >= r.param("warn") {
		f.Severity = Warning
	}
	c.evidence(in, &f, x.Entry, c.at, fmt.Sprintf("%s, %s%s of them with the name and the content of an earlier one", unit.Plural(x.All.Calls, "call"), about, unit.Count(x.All.Again)), "")
	f.Advice = "Write it only when what is written has changed: let whoever changes it set a flag, and write where the flag is set, or once at the end or at intervals. That saves making the content as well; to compare it with what was written last saves only the writing."
	f.costs, f.waits, f.saves, f.waitsInside = c.costs, c.rows, true, true
	if x.Around.Name != "" {
		f.Evidence = append(f.Evidence, in.code.shownAt(x.Around.File, x.Around.Line, "%s, which makes and writes it, begins here", stack.Short(x.Around.Name)))
		f.costs = append(f.costs, newCounted(in, stack.Frame{Func: x.Around.Name, File: x.Around.File, Line: x.Around.Line}, stack.Frame{Func: x.Unit.Name, File: x.Unit.File, Line: x.Unit.Line}, true).costs...)
		f.Doubts = append(f.Doubts, fmt.Sprintf("what %s does besides is in its time", stack.Short(x.Around.Name)))
	}
	if x.All.Distinct > 1 {
		f.Doubts = append(f.Doubts, "the count knows what was written before, not what was written last: where the content goes to and fro, each write is needed")
	}
	f.Doubts = append(f.Doubts, "if somebody else changes or removes the file meanwhile, or its time of change tells that the program lives, it has to be written again")
	f.Verify = "Record again: the number of calls, and the share, should fall (-phases repeats)."
	return f
}
