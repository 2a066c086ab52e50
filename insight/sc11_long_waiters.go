package insight

import (
	"fmt"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/format/dump"
	"loupe/recording"
	"loupe/session"
	"loupe/value/stack"
	"loupe/value/unit"
)

var sc11 = &Rule{
	ID: "SC11", Title: "Possible goroutine leak: many goroutines have been blocked for a long time",
	About: "A dump or a core says how long each goroutine has been blocked, in minutes. One that has been blocked on a channel or a lock for ten minutes rarely continues; " +
		"many at the same place are a goroutine leak or a standstill. Goroutines that listen, sleep or wait for the network are left out.",
	Asks: []facts.Question{facts.LongWaits},
	Params: []Param{
		{"minutes", 10, "minutes", "research: [chan receive, 10 minutes]"},
		{"per", 2, "goroutines for each P", "research: more than this at one place; a pool has as many as there are Ps"},
		{"least", 10, "goroutines", "chosen: at one place; on a small machine the threshold above is only a handful"},
	},
	Check: checkLongWaiters,
}

func checkLongWaiters(r *Rule, in *Input) []Finding {
	all, err := in.Session.Stacks()
	if len(all) == 0 {
		if m := in.Session.Manifest(); len(m.Of(recording.Stacks))+len(m.Of(session.CoreFile)) > 0 {
			return []Finding{r.answer(TooLittle, "%v", err)}
		}
		return []Finding{r.answer(NotApplicable, "the recording has no %s", facts.Describe(recording.Stacks))}
	}
	few := max(r.param("least"), r.param("per")*float64(in.Facts.Settings(nil).Procs))
	var found []Finding
	var longest int32
	for _, l := range all {
		if len(l.Dumps) == 0 {
			continue // data races alone
		}
		within := l.InDump(len(l.Dumps) - 1)
		long := func(g int) bool { return within(g) && float64(l.Waits[g]) >= r.param("minutes") }
		for g := range l.Waits {
			if within(g) {
				longest = max(longest, l.Waits[g])
			}
		}
		for _, s := range dump.Suspects(l.File, long) {
			if s.Group != nil && float64(s.Count) > few {
				found = append(found, longWaiters(r, in, l.Entry, l.File, s))
			}
		}
	}
	if len(found) > 0 {
		return found[:min(3, len(found))]
	}
	most := "none has waited for a minute"
	if longest > 0 {
		most = "the longest wait is of " + unit.Plural(int64(longest), "minute")
	}
	return []Finding{r.answer(Fine, "no place has more than %g goroutines that have waited for %g minutes; %s", few, r.param("minutes"), most)}
}

func longWaiters(r *Rule, in *Input, entry recording.Entry, d *dump.File, s dump.Suspect) Finding {
	g := s.Group
	frames := facts.Frames(d.Stacks, g.Stack)
	at := in.code.userFrame(frames)
	f := r.answer(Found, "%s goroutines have waited for %g minutes or longer at %s (%s), the first for %d", unit.Count(s.Count), r.param("minutes"), place(at), g.State, s.MaxWait)
	f.Severity, f.Score = Warning, score(float64(s.Count), 100, 1000)
	f.Impact = exactly(float64(s.Count), "goroutines blocked for a long time")
	source := in.code.text(at.File, at.Line)
	e := Evidence{Text: fmt.Sprintf("%s, %d to %d minutes", g.State, g.MinWait, g.MaxWait), Path: entry.Path, Phase: entry.Phase,
		File: at.File, Line: at.Line, Function: at.Func, Source: source}
	e.Stack = evidenceStack(frames)
	f.Evidence = []Evidence{e}
	f.Advice = "Give the wait a way out: a context, a timeout, or a channel that is closed."
	f.Verify = "Take another dump after the same time: no goroutine should have waited longer than its wait may take (loupe stacks OLD NEW shows what grew)."
	f.Doubts = []string{"workers waiting for work through a quiet night look the same: what counts is whether their number grows (SC10)"}
	if g.Leaked {
		f.Doubts = nil // Go itself says so
	}
	return f
}

// userFrame is the frame of the user's code that is nearest to the leaf; else of a
// dependency, else the first outside of the runtime, else the leaf.
func (c *code) userFrame(frames []stack.Frame) stack.Frame {
	if i := slices.IndexFunc(frames, func(f stack.Frame) bool { return strings.HasPrefix(f.Func, dump.CreatedBy) }); i >= 0 {
		frames = frames[:i]
	}
	return facts.SiteOf(c.session.Scope(), frames)
}
