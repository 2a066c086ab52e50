// Package requests makes pages of where the time of requests and other units of work
// goes; it computes nothing.
package requests

import (
	"fmt"
	"path"
	"time"

	"loupe/analysis/account"
	"loupe/analysis/sched"
	"loupe/report"
	"loupe/value/stack"
	"loupe/value/unit"
)

// unitNames are what a page calls the units of each kind.
var unitNames = map[account.Unit]string{
	account.Request: "requests", account.Task: "user tasks", account.Benchmark: "benchmarks", account.Test: "tests", account.Exchange: "exchanges", account.Job: "jobs", account.Main: "main goroutine", account.Worker: "workers",
}

// shownGroups is how many groups of a kind are divided line by line.
const shownGroups = 3

// List is where the time of requests goes, or of what else the program works
// on: of typical ones and of slow ones beside each other. With slow set it is of the slow
// ones alone.
func List(a *account.Account, slow bool, top int) *report.Trace {
	facts := []report.Fact{{Key: "span_ns", Head: "time", Value: a.Span.Len()}}
	counted := map[account.Unit]int64{}
	for _, g := range a.Groups {
		counted[g.Unit] += g.Seen.Count
	}
	for u := account.Request; u <= account.Worker; u++ {
		if n := counted[u]; n > 0 {
			facts = append(facts, report.Fact{Key: u.String() + "s", Head: unitNames[u], Value: n})
		}
	}
	facts = append(facts, report.Fact{Key: "cut_off", Head: "cut off", Value: a.Cut})
	list := unitSheet(a.Groups, top)
	if a.Cut > 0 {
		list.Notes = append(list.Notes, fmt.Sprintf("%s began before the trace or ended after it, and %s not counted.", unit.Plural(a.Cut, "unit"), map[bool]string{true: "is", false: "are"}[a.Cut == 1]))
	}
	if a.Undivided > 0 {
		list.Notes = append(list.Notes, undivided(a))
	}
	if len(a.Groups) == 0 {
		list.Notes = append(list.Notes, "The trace has no complete request, user task, benchmark, test or job of a loop, and no main goroutine.")
	}
	sheets := []*report.Sheet{list}
	for i, g := range a.Divided(shownGroups) {
		sheets = append(sheets, unitParts(a, g, i, slow, top))
	}
	return &report.Trace{Facts: facts, Sheets: append(sheets, slowestSheet(a, a.Best(), top))}
}

// undivided says that the time of some units alone is divided.
func undivided(a *account.Account) string {
	divided := int64(0)
	for _, g := range a.Groups {
		divided += g.Wall.Count
	}
	return fmt.Sprintf("All are counted. Where their time goes is based on %s: the first ones, and later one in ten, in stretches spread over the trace. `loupe trace requests -slow` covers all.", unit.Count(divided))
}

// unitSheet lists the groups.
func unitSheet(groups []*account.Group, top int) *report.Sheet {
	s := &report.Sheet{Key: "groups", Title: "Units of work", Columns: columns("unit", "unit", "name", "handled by", "count", "count", "p50_ns", "median", "p99_ns", "99%", "max_ns", "longest", "typical", "most of it, typical", "typical_share", "share", "slow", "slow ones", "slow_share", "share")}
	for _, g := range groups[:min(top, len(groups))] {
		row := []any{g.Unit.String(), unitName(g.Unit, g.Name), g.Seen.Count, g.Seen.Quantile(0.5), g.Seen.Quantile(0.99), g.Seen.Max}
		for _, p := range []*account.Part{&g.Typical, &g.Slow} {
			if len(p.Rows) == 0 {
				row = append(row, nil, nil)
				continue
			}
			r := &p.Rows[0]
			row = append(row, spentOn(r), report.Share(p.Share(r.Time)))
		}
		s.Rows = append(s.Rows, row)
	}
	return s.More(len(groups)-top, "kinds of units")
}

// unitName is what a group is called.
func unitName(u account.Unit, name string) string {
	if name == "" {
		return map[bool]string{true: "(no code of yours in its stacks)", false: "(no name)"}[u == account.Request]
	}
	return stack.Short(name)
}

// spentOn is a row in a few words: "sleep at main.handle main.go:51".
func spentOn(r *account.Row) string {
	text := kindOf(r) + " at " + siteOf(r.Site)
	if c := causeOf(r); c != "" {
		text += ", for " + c
	}
	return text
}

// kindOf is the kind of a row, with the name of a stop of the world.
func kindOf(r *account.Row) string {
	if r.What != "" {
		return r.Kind.String() + " (" + r.What + ")"
	}
	return r.Kind.String()
}

// siteOf names a line.
func siteOf(s account.Site) string {
	switch {
	case s.Frame.Func == "":
		return "–"
	case s.Frame.Line == 0:
		return stack.Short(s.Frame.Func)
	}
	return fmt.Sprintf("%s %s:%d", stack.Short(s.Frame.Func), path.Base(s.Frame.File), s.Frame.Line)
}

// causeOf is what another goroutine did meanwhile.
func causeOf(r *account.Row) string {
	switch c := r.Cause; {
	case c.Kind == account.None:
		return ""
	case r.Kind == account.Lock && c.Kind == account.Unknown && c.Site.Frame.Func != "":
		return "its holder, until " + siteOf(c.Site)
	case c.Site.Frame.Func == "":
		return c.Kind.String()
	default:
		return c.Kind.String() + " at " + siteOf(c.Site)
	}
}

// unitParts is where the time of a group goes.
func unitParts(a *account.Account, g *account.Group, n int, slow bool, top int) *report.Sheet {
	s := &report.Sheet{Key: fmt.Sprintf("parts_%d", n+1), Title: fmt.Sprintf("Where the time goes: %s %s", g.Unit, unitName(g.Unit, g.Name))}
	first, second := &g.Typical, &g.Slow
	what := "typical"
	if slow {
		first, second, what = &g.Slow, &g.Typical, "slow"
	}
	other := map[string]string{"typical": "slow", "slow": "typical"}[what]
	s.Columns = columns("kind", "spent on", "stack", "where", "cause", "while another goroutine", what+"_ns", what+", each", what+"_share", "share", "count", "times", other+"_ns", other+", each", other+"_share", "share")
	beside := map[string]*account.Row{}
	for i := range second.Rows {
		beside[spentOn(&second.Rows[i])] = &second.Rows[i]
	}
	for i := range first.Rows[:min(top, len(first.Rows))] {
		r := &first.Rows[i]
		row := []any{kindOf(r), lineOf(a, r.Site), causeOf(r), each(r.Time, first.Units), report.Share(first.Share(r.Time)), timesEach(r, first)}
		if o := beside[spentOn(r)]; o != nil {
			row = append(row, each(o.Time, second.Units), report.Share(second.Share(o.Time)))
		} else {
			row = append(row, nil, nil)
		}
		s.Rows = append(s.Rows, row)
	}
	s.Notes = append(s.Notes, unitNotes(g)...)
	return s.More(len(first.Rows)-top, "lines")
}

// timesEach is how often a unit does it; nil of a part of what is counted in another row.
func timesEach(r *account.Row, p *account.Part) any {
	if r.Count == 0 {
		return nil
	}
	return float64(r.Count) / float64(max(1, p.Units))
}

// unitNotes say what the figures are of.
func unitNotes(g *account.Group) (notes []string) {
	switch {
	case g.Wall.Count == 1:
		notes = append(notes, "There is only one: typical and slow are the same.")
		if g.Before > 0 {
			notes = append(notes, fmt.Sprintf("%s of it passed in a wait that was under way when the trace began. The trace has no stack of that one: it is counted at the line of the later ones.", unit.Duration(g.Before)))
		}
	case g.Slow.Units > 0:
		notes = append(notes, fmt.Sprintf("Typical: the middle %s by time; slow: the longest %s.", unit.Count(g.Typical.Units), unit.Count(g.Slow.Units)))
	}
	if g.Samples >= account.MinSamples {
		return append(notes, fmt.Sprintf("Running time is attributed by %s CPU samples.", unit.Count(g.Samples)))
	}
	if g.Asked {
		notes = append(notes, "Judging by their number, these are requests that the program itself sends.")
	}
	return append(notes, "Running time is shown where each run ended: the trace has no CPU samples to attribute it.")
}

// lineOf is a line with one of its stacks.
func lineOf(a *account.Account, s account.Site) report.Stack {
	return report.Stack{Frames: report.StackOf(a.Reader, s.Stack).Frames, Where: siteOf(s)}
}

// each is a sum as a mean.
func each(d time.Duration, n int64) time.Duration { return d / time.Duration(max(1, n)) }

// slowestSheet lists the slowest units.
func slowestSheet(a *account.Account, groups []*account.Group, top int) *report.Sheet {
	s := &report.Sheet{Key: "slowest", Title: "The slowest", Columns: columns("id", "id", "name", "handled by", "at_ns", "at", "time_ns", "took", "goroutine", "goroutine", "most", "most of it", "share", "share")}
	for _, g := range groups[:min(shownGroups, len(groups))] {
		for _, one := range g.Slowest[:min(top, len(g.Slowest))] {
			row := []any{fmt.Sprint(one.ID), unitName(one.Unit, one.Name), time.Duration(one.Span.Start - a.Span.Start), one.Span.Len(), fmt.Sprint(one.G), nil, nil}
			if len(one.Part.Rows) > 0 {
				r := &one.Part.Rows[0]
				row[5], row[6] = spentOn(r), report.Share(one.Part.Share(r.Time))
			}
			s.Rows = append(s.Rows, row)
		}
	}
	if len(s.Rows) > 0 {
		s.Notes = append(s.Notes, "loupe trace requests ID shows one of them.")
	}
	return s
}

// One is one unit: where its time went, and in which order.
func One(a *account.Account, one *account.One, top int) *report.Trace {
	facts := []report.Fact{
		{Key: "id", Head: "unit", Value: fmt.Sprint(one.ID)}, {Key: "unit", Head: "is a", Value: one.Unit.String()}, {Key: "name", Head: "handled by", Value: unitName(one.Unit, one.Name)}, {Key: "goroutine", Head: "goroutine", Value: fmt.Sprint(one.G)},
		{Key: "start_ns", Head: "begins", Value: time.Duration(one.Span.Start - a.Span.Start)}, {Key: "time_ns", Head: "takes", Value: one.Span.Len()},
	}
	where := &report.Sheet{Key: "parts", Title: "Where its time went", Columns: columns("kind", "spent on", "stack", "where", "cause", "while another goroutine", "time_ns", "time", "share", "share", "count", "times")}
	for i := range one.Part.Rows[:min(top, len(one.Part.Rows))] {
		r := &one.Part.Rows[i]
		where.Rows = append(where.Rows, []any{kindOf(r), lineOf(a, r.Site), causeOf(r), r.Time, report.Share(one.Part.Share(r.Time)), r.Count})
	}
	where.More(len(one.Part.Rows)-top, "lines")
	steps := &report.Sheet{Key: "steps", Title: "In order", Columns: columns("at_ns", "at", "time_ns", "for", "kind", "", "stack", "where", "cause", "while another goroutine")}
	for i := range one.Steps[:min(top, len(one.Steps))] {
		st := &one.Steps[i]
		steps.Rows = append(steps.Rows, []any{time.Duration(st.At - one.Span.Start), st.Row.Time, kindOf(&st.Row), lineOf(a, st.Row.Site), causeOf(&st.Row)})
	}
	steps.More(len(one.Steps)-top, "steps")
	if one.Truncated {
		steps.Notes = append(steps.Notes, "There were more steps than are kept.")
	}
	return &report.Trace{Facts: facts, Sheets: []*report.Sheet{where, steps}}
}

// Wall ranks the functions of the profile of units of work, and says whose time it
// is.
func Wall(a *account.Account, p *sched.StateProfile, top int) *report.Trace {
	t := report.TraceProfile(p, top)
	n, best := int64(0), a.Best()
	for _, g := range best {
		n += g.Wall.Count
	}
	whose := unit.Count(n) + " " + unitNames[best[0].Unit]
	t.Sheets[0].Notes = append(t.Sheets[0].Notes, "Only the goroutines of units of work are counted, from the start to the end of each: "+whose+". What others did for them is shown above the wait, in brackets.")
	return t
}

// columns makes columns of keys and heads in turn.
func columns(keysAndHeads ...string) (all []report.Column) {
	for i := 0; i < len(keysAndHeads); i += 2 {
		all = append(all, report.Column{Key: keysAndHeads[i], Head: keysAndHeads[i+1]})
	}
	return all
}
