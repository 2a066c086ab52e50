package insight

import (
	"fmt"
	"slices"

	"loupe/analysis/facts"
	"loupe/analysis/repetition"
	"loupe/value/stack"
	"loupe/value/unit"
)

var cp27 = &Rule{
	ID: "CP27", Title: "Each call takes longer than the one before",
	About: "A run of its own counts the calls of the program's functions, and how long they take by their number within one request, one task or one run: a function whose calls take the longer the more there " +
		"have been goes through what earlier calls have left, again and again.",
	Asks: []facts.Question{facts.Repetition},
	Params: []Param{
		{"share", 0.15, "share of the time of what is around", "chosen"},
		{"warn", 0.25, "share of the time of what is around", "chosen"},
	},
	Check: checkGrowing,
}

func checkGrowing(r *Rule, in *Input) []Finding {
	all, seen, err := repetition.GrowingIn(in.Session)
	if err != nil {
		return []Finding{r.answer(TooLittle, "%v", err)}
	}
	var found []Finding
	for _, x := range all {
		if x.Share >= r.param("share") && len(found) < 3 {
			found = append(found, growingFinding(r, in, x))
		}
	}
	if len(found) == 0 {
		return []Finding{r.answer(Fine, "%s", steadyCourses(r, seen))}
	}
	return found
}

// steadyCourses says what was compared, where nothing was seen to grow, and what that does not tell.
func steadyCourses(r *Rule, seen *repetition.Courses) string {
	counted := unit.Plural(int64(len(seen.Set.Functions)), "function")
	if seen.Compared == 0 {
		return fmt.Sprintf("of %s that were counted, none was called often enough within one call of another, and took long enough, to compare early calls with later ones", counted)
	}
	text := fmt.Sprintf("of %s that were counted, %s called often enough to compare early calls with later ones, those on all receivers together: none was seen to take longer with the number of calls, and much of the time",
		counted, map[bool]string{true: "1 was", false: unit.Count(int64(seen.Compared)) + " were"}[seen.Compared == 1])
	uneven := slices.DeleteFunc(slices.Clone(seen.Uneven), func(x repetition.Growing) bool { return x.Share < r.param("share") })
	if len(uneven) > 0 {
		x := uneven[0]
		text += fmt.Sprintf("; %s took longer on average in the last calls than in the first, but not steadily, as on a busy machine, or with little and much to do: %s took %s of the time of %s, %s a call at first and %s in the end",
			unit.Plural(int64(len(uneven)), "function"), stack.Short(x.Func.Name), unit.Percent(x.Share), stack.Short(x.Unit.Name), unit.Duration(x.First), unit.Duration(x.Last))
	}
	if cut := seen.Set.Cut(); cut > 0 {
		text += fmt.Sprintf("; %s of them were too cheap to be counted to the end: of their later calls one in 64 was looked at", unit.Count(cut))
	}
	return text
}

// squares is the power from which on the time of all calls is said to grow with the square of their number, cubes that from which on
// it grows faster.
const (
	squares = 0.8
	cubes   = 1.3
)

// growingFinding says how the calls of a function grow.
func growingFinding(r *Rule, in *Input, x repetition.Growing) Finding {
	name, around := stack.Short(x.Func.Name), stack.Short(x.Within.Name)
	how := "faster than the number of calls"
	switch {
	case x.Power >= cubes:
		how = "faster than the square of the number of calls"
	case x.Power >= squares:
		how = "with the square of the number of calls"
	}
	longer := "longer"
	if x.ByAverage {
		longer = "longer on average"
	}
	f := r.answer(Found, "within one call of %s, %s takes %s the more often it is called: %s each in the first %s calls, %s from the %s on, so that its time grows %s; it takes ",
		around, name, longer, unit.Duration(x.First), unit.Count(x.FirstTo), unit.Duration(x.Last), ordinal(x.LastFrom), how)
	f.Severity, f.Score = Info, score(x.Share, 0.15, 0.5)
	if x.Share >= r.param("warn") {
		f.Severity = Warning
	}
	c := newCounted(in, stack.Frame{Func: x.Func.Name, File: x.Func.File, Line: x.Func.Line}, stack.Frame{Func: x.Within.Name, File: x.Within.File, Line: x.Within.Line}, true)
	tellGrowingShare(in, x, &c, &f)
	c.evidence(in, &f, x.Entry, stack.Frame{Func: x.Func.Name, File: x.Func.File, Line: x.Func.Line},
		fmt.Sprintf("%s calls%s in %s of %s", unit.Count(x.Inner.Calls), map[bool]string{true: " that were counted"}[x.Func.Cut], unit.Plural(x.Inner.Around, "call"), around), "which takes longer each time")
	f.costs, f.waits, f.saves, f.grows = c.costs, c.rows, true, true
	f.Advice = fmt.Sprintf("Look at what %s goes through: something that earlier calls have added to, or that is skipped up to where the last call ended. Go on from there (keep the place, not an offset), keep an index or "+
		"a running result beside it, or do it once behind all calls.", name)
	decl := stack.Frame{Func: x.Func.Name, File: x.Func.File, Line: x.Func.Line}
	if growsByInput(in.code, decl, c.site) {
		f.Severity, f.saves = Info, false
		f.Doubts = append(f.Doubts, "by the source it goes through, or counts to, what each turn of the loop gives it anew: if that becomes larger from turn to turn, the time is that of the inputs")
	}
	if waitsMost(in, &c, decl) {
		f.Severity, f.saves = Info, false
		f.Doubts = append(f.Doubts, "most of its time it waits for other goroutines, or for time to pass: these take longer, not what it does itself")
	}
	if asksSlower(in.code, &c, decl) {
		f.Severity, f.saves = Info, false
		f.Doubts = append(f.Doubts, "most of its time it waits for a peer, and is given the same each time: it may be the peer that becomes slower")
	}
	if x.FirstSize > 0 && x.LastSize >= 2*x.FirstSize {
		f.Doubts = append(f.Doubts, fmt.Sprintf("what it is given grows as well: %s elements of texts, slices and maps in the first calls, %s in the last; if these are the inputs, in the order of their size, the time is theirs", unit.Number(x.FirstSize), unit.Number(x.LastSize)))
		if !x.ByAverage {
			f.Advice = fmt.Sprintf("What %s is given grows with each call, and it goes through all of it. Give it what is new alone, and keep what was made of the rest; or call it once, behind the loop.", name)
		}
	}
	switch left, known := goesThroughLeft(in.code, decl, c.site); {
	case known && !left:
		f.Severity, f.saves, f.grows = Info, false, false
		f.Advice = fmt.Sprintf("Look at what %s has to do in its later calls. The source shows nothing that a call, or what is done between two of them, leaves behind and that a later one goes through: later inputs may be larger, or what they ask for may lie further away.", name)
	case !left && x.FirstSize > 0 && x.LastSize >= 2*x.FirstSize:
		f.Severity, f.saves = Info, false
	}
	if at, ok := makesNext(in.code, decl); ok {
		f.Severity, f.saves = Info, false
		f.Doubts = append([]string{fmt.Sprintf("by the source it makes what it goes through the next time anew from all of the last one (line %d): if each needs all of the one before, the time is needed", at)}, f.Doubts...)
		f.Advice = fmt.Sprintf("%s makes each from the whole of the one before. If only what has changed last decides about the next, go through that alone.", name)
	}
	if x.ByAverage {
		f.Severity, f.saves = Info, false
		f.Doubts = append([]string{fmt.Sprintf("most calls stay short, also from the %s on (%s by the geometric mean): a few long ones make the average. That may be one receiver that grows, among many small ones, as all calls of a function are "+
			"counted together; or inputs of very different size", ordinal(x.LastFrom), unit.Duration(x.Typical))}, f.Doubts...)
	}
	if f.Severity == Warning && len(f.Doubts) == 0 {
		f.Doubts = append(f.Doubts, "if it is given more to do from call to call, or has to do with all that there is by then, the time is needed")
	}
	f.Verify = "Record again: calls should take the same time from the first to the last (-phases repeats)."
	if x.Func.Cut {
		f.Doubts = append(f.Doubts, "counting ended before the run did, as it took too long: of later calls one in 64 was looked at")
	}
	return f
}

// ordinal is the name of a place in a row: "1,024th".
func ordinal(n int64) string {
	suffix := "th"
	switch {
	case n%100 >= 11 && n%100 <= 13:
	case n%10 == 1:
		suffix = "st"
	case n%10 == 2:
		suffix = "nd"
	case n%10 == 3:
		suffix = "rd"
	}
	return unit.Count(n) + suffix
}
