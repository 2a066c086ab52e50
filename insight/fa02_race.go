package insight

import (
	"fmt"
	"strings"

	"loupe/analysis/facts"
	"loupe/format/dump"
	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/unit"
)

var fa02 = &Rule{
	ID: "FA02", Title: "Data race between goroutines",
	About: "Two goroutines access the same memory, at least one of them writes, and nothing synchronises them: the program's behaviour is undefined. " +
		"The race detector reports only races that happened, so each report is a bug.",
	Asks:   []facts.Question{facts.Races},
	Params: []Param{{"most", 3, "pairs of lines", "chosen: that are listed, the first ones reported"}},
	Check:  checkRaces,
}

func checkRaces(r *Rule, in *Input) []Finding {
	all, err := in.Session.Stacks()
	type places [2]string
	var order []places
	found, times := map[places]Finding{}, map[places]int64{}
	for _, l := range all {
		for i := range l.Races {
			race := &l.Races[i]
			if len(race.Accesses) == 0 {
				continue
			}
			var at places
			var evidence []Evidence
			for n, a := range race.Accesses[:min(2, len(race.Accesses))] {
				e := accessed(in, l.Stacks, &a)
				e.Path, e.Phase = l.Entry.Path, l.Entry.Phase
				at[n] = place(stack.Frame{Func: e.Function, File: e.File, Line: e.Line})
				evidence = append(evidence, e)
			}
			if times[at]++; times[at] > 1 {
				continue
			}
			order = append(order, at)
			f := r.answer(Found, "%s at %s", strings.ToLower(race.Accesses[0].What), at[0])
			if at[1] != "" {
				f.Summary += fmt.Sprintf(" and %s at %s are not synchronised", strings.ToLower(race.Accesses[1].What), at[1])
			}
			f.Severity, f.Score, f.Evidence = Critical, 90, evidence
			f.Advice = "Guard both places with the same mutex, pass the data through a channel, or use package sync/atomic for a single word."
			f.Verify = "Run it with -race again, for as long and with as much load: there should be no report."
			found[at] = f
		}
	}
	if len(order) == 0 && err != nil && len(in.Session.Manifest().Of(recording.Stacks)) > 0 {
		return []Finding{r.answer(TooLittle, "%v", err)}
	}
	if len(order) == 0 {
		return []Finding{r.answer(NotApplicable, "there is no report of the race detector (go build -race)")}
	}
	var findings []Finding
	for _, at := range order[:min(int(r.param("most")), len(order))] {
		f := found[at]
		if times[at] > 1 {
			f.Summary += fmt.Sprintf(", %s times", unit.Count(times[at]))
		}
		findings = append(findings, f)
	}
	if more := len(order) - len(findings); more > 0 {
		last := &findings[len(findings)-1]
		last.Summary += fmt.Sprintf(" (and %s at other places)", unit.Count(int64(more)))
	}
	return findings
}

// accessed is one side of a race.
func accessed(in *Input, t *stack.Table, a *dump.Access) Evidence {
	frames := facts.Frames(t, a.Stack)
	at := in.code.userFrame(frames)
	source := in.code.text(at.File, at.Line)
	return Evidence{Text: fmt.Sprintf("%s by %s", strings.ToLower(a.What), a.By), File: at.File, Line: at.Line, Function: at.Func,
		Source: source, Stack: evidenceStack(frames)}
}
