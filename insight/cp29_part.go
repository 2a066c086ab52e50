package insight

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

var cp29 = &Rule{
	ID: "CP29", Title: "All of a list is made for a part of it",
	About: "A function has a list or a map made, and uses a part of it: a page, the few elements that a condition lets through, or how many there are. " +
		"Where calls were counted, it is known how large the part is.",
	Asks: []facts.Question{facts.CPU},
	Params: []Param{
		{"share", 0.10, "share of CPU time that goes into the rest", "chosen; the lower bound of the interval counts"},
		{"warn", 0.20, "share of CPU time that goes into the rest", "chosen: as CP24"},
		{"least", fewInPart, "elements on average", "chosen: below that there is little to leave out"},
		{"used", mostOfPart, "share of the elements", "chosen: from there on most of the work is needed"},
		g0,
	},
	Check: checkParts,
}

// Limits of a part, for what makes the rest to be told.
const (
	fewInPart  = 10
	mostOfPart = 0.5
)

// partCost is what a profile shows of the work for such a list.
type partCost struct {
	*partUse
	weight int64
	at     stack.Frame
	most   int64         // of its samples on one stack
	heavy  []stack.Frame // that stack, from its line out
	costs  map[cost]bool
}

func checkParts(r *Rule, in *Input) []Finding {
	cpu, err := in.Facts.Weights(facts.CPU, "samples")
	if err != nil {
		return []Finding{r.answer(TooLittle, "%v", err)}
	}
	total := cpu.Total()
	if total < int64(r.param("samples")) {
		return []Finding{r.short("%s has %d samples; %g are needed: record longer (-phases cpu:30s) or under load", cpu.Entry.Path, total, r.param("samples"))}
	}
	var found []Finding
	told := map[codeLine]bool{}
	for _, c := range partsIn(in, cpu) {
		if f, ok := c.finding(r, in, cpu, told); ok && len(found) < 3 {
			found = append(found, f)
		}
	}
	if len(found) == 0 {
		nothing := "no list or map was found of which a part is used, and whose making takes " + unit.Percent(r.param("share")) + " of the CPU time"
		if blockCountsOf(in.code) == nil {
			return []Finding{r.answer(TooLittle, "%s; what a loop or a condition leaves out is only known with counts: run the package (loupe run PACKAGE)", nothing)}
		}
		return []Finding{r.answer(Fine, "%s", nothing)}
	}
	return found
}

// partsIn adds up a profile by such lists, the heaviest first; of the same work the one next to it.
func partsIn(in *Input, cpu *facts.Weights) (all []*partCost) {
	v, finder := in.view(cpu.Profile), newPartFinder(in.code)
	type place struct {
		at     stack.FrameID
		callee string
	}
	known, costs := map[place][]*partUse{}, map[*partUse]*partCost{}
	for id, w := range cpu.Profile.Samples(cpu.Index) {
		frames, counted := v.t.Frames(id), map[*partUse]bool{}
		for i := nextUser(v, frames, 0); i >= 0; i = nextUser(v, frames, i+1) {
			key := place{frames[i], ""}
			if i > 0 {
				key.callee = ownName(v.t.Frame(frames[i-1]).Func)
			}
			uses, asked := known[key]
			if !asked {
				uses = finder.on(lineOnly(v.t.Frame(frames[i])), key.callee)
				known[key] = uses
			}
			for _, u := range uses {
				if counted[u] {
					continue
				}
				counted[u] = true
				if len(u.taken) == 0 && u.walk == nil && neededToCount(finder.d, facts.Frames(cpu.Profile.Stacks, id)[:i]) {
					continue
				}
				c := costs[u]
				if c == nil {
					c = &partCost{partUse: u, at: lineOnly(v.t.Frame(frames[i])), costs: map[cost]bool{}}
					costs[u], all = c, append(all, c)
				}
				if c.weight += w; w > c.most {
					c.most, c.heavy = w, facts.Frames(cpu.Profile.Stacks, id)[i:]
				}
				at := cost{file: c.at.File, line: v.t.Frame(frames[i]).Line}
				if i > 0 && !u.own {
					at.callee = stack.FoldGenerics(v.t.Frame(frames[i-1]).Func)
				}
				c.costs[at] = true
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *partCost) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.of.file, b.of.file), cmp.Compare(a.of.line, b.of.line))
	})
	return all
}

// finding is false where too little of the CPU time goes into what is not used, or where the place that takes the part has been told.
func (c *partCost) finding(r *Rule, in *Input, cpu *facts.Weights, told map[codeLine]bool) (f Finding, ok bool) {
	part, all, counted := c.used()
	share := stats.Wilson(float64(c.weight), float64(cpu.Total()), compare.Confidence)
	one := len(c.taken) > 0 && !slices.ContainsFunc(c.taken, func(t partTaken) bool { return t.kind != partOne })
	if counted && all < r.param("least") || !counted && one { // it may have one alone
		return f, false
	}
	if part > r.param("used") || share.Low*(1-part) < r.param("share") {
		return f, false
	}
	where := c.where()
	if told[where] {
		return f, false
	}
	told[where] = true
	f = r.answer(Found, "%s takes %s of the CPU time to make %s", c.maker(), unit.Percent(share.Estimate), c.what(part*all, all, counted))
	if c.records {
		f.Title = "Each record is made whole, though few are wanted"
	}
	if c.walk != nil {
		f.Title = "A walk goes through folders of which hardly anything is used"
		f.Summary = fmt.Sprintf("%s takes %s of the CPU time to go through %s files and folders, of which %s uses %s: nothing leaves out a whole folder", c.by, unit.Percent(share.Estimate), elementCount(all), stack.Short(c.at.Func), elementCount(part*all))
		f.Doubts = append(f.Doubts, "if what is left out stands in the same folders as what is used, each of them has to be looked at")
	}
	f.Severity, f.Score = Info, score(share.Estimate*(1-part), r.param("share"), 0.50)
	if counted {
		f.Impact = &Impact{share.Estimate * (1 - part), cpuSamples, share.Low * (1 - part), share.High * (1 - part)}
		f.part, f.saves = 1-part, true
	}
	switch {
	case c.walk != nil && c.walk.leaves == walkUnknown:
		f.Doubts = append(f.Doubts, "the source does not show that the condition is decided for whole folders: a folder whose own path it does not let through may hold files that it does")
	case c.repeats && slices.ContainsFunc(c.taken, func(t partTaken) bool { return t.kind == partFew }):
		f.Doubts = append(f.Doubts, "of a key that comes again, the last element counts: to ask the condition before that gives others, where it lets through an element that a later one takes the place of")
	case !counted:
		f.Doubts = append(f.Doubts, "how many elements there are, and how many of these are used, was not counted: if most calls ask for most of them, there is little to gain")
	case c.topOf():
		f.Doubts = append(f.Doubts, "it is put in an order before: if that needs what is costly to make, all have to be made to know which come first")
	case share.Low*(1-part) >= r.param("warn"):
		f.Severity = Warning
	}
	f.Evidence = append(f.Evidence, in.code.shownAt(c.of.file, c.of.line, "%s here; %d of %d samples are below", c.happens(), c.weight, cpu.Total()))
	for _, t := range c.taken {
		f.Evidence = append(f.Evidence, in.code.shownAt(t.at.file, t.at.line, "%s", t.says()))
	}
	for _, at := range c.numbers() {
		if len(f.Evidence) < 4 {
			f.Evidence = append(f.Evidence, in.code.shownAt(at.file, at.line, "how many there are is used here"))
		}
	}
	if c.sorted.line > 0 {
		f.Evidence = append(f.Evidence, in.code.shownAt(c.sorted.file, c.sorted.line, "it is put in order here"))
	}
	for i := range f.Evidence {
		f.Evidence[i].Path, f.Evidence[i].Phase = cpu.Entry.Path, cpu.Entry.Phase
	}
	f.Evidence[0].Function = c.at.Func
	f.Advice = c.advice()
	f.Verify = "Record again under the same load: the samples below this line should become fewer (-phases cpu)."
	if c.refuses.line > 0 {
		f.Doubts = append(f.Doubts, fmt.Sprintf("%s gives an error in place of all if one fails, at %s: of a part alone, those outside of it are not looked at", c.by, c.refuses.text()))
	}
	if c.judged.line > 0 {
		f.Doubts = append(f.Doubts, fmt.Sprintf("%s says at %s whether any of it is to be used, which it may only know when it has seen all: made in part, or counted alone, that check is dropped", c.by, c.judged.text()))
		f.Evidence = append(f.Evidence, in.code.shownAt(c.judged.file, c.judged.line, "whether any is to be used is told here"))
		f.Severity, f.saves = Info, false
	}
	if c.effects != "" {
		f.Severity = Info
		f.Doubts = append(f.Doubts, fmt.Sprintf("%s %s as well: what that is needed for has to be done all the same", c.by, c.effects))
	}
	if sameForRequests(in, c.at) {
		f.Severity, f.saves = Info, false
		f.Advice = "Keep the list first, as it is the same for each request (CP28): then it is made once, and hardly anything is left to save here. Where it has to be made anew: " + strings.ToLower(f.Advice[:1]) + f.Advice[1:]
	}
	f.costs = slices.SortedFunc(maps.Keys(c.costs), func(a, b cost) int { return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.callee, b.callee)) })
	tellMissed(in, c.heavy, &f)
	return f, true
}

// happens says what its line does.
func (c *partCost) happens() string {
	switch {
	case c.records:
		return "each is made"
	case c.walk != nil:
		return "the walk begins"
	}
	return "all of it is made"
}

// topOf tells that the part is the first of what was put in an order.
func (c *partCost) topOf() bool {
	return c.sorted.line > 0 && slices.ContainsFunc(c.taken, func(t partTaken) bool { return t.kind == partCut && t.first })
}

// where is the line that takes the part.
func (c *partCost) where() codeLine {
	if len(c.taken) > 0 {
		return c.taken[0].at
	}
	return c.lengths[0].at
}

// numbers are where it is used how many there are, other than for where a part begins and ends.
func (c *partCost) numbers() (all []codeLine) {
	for _, l := range c.lengths {
		if !l.bound || len(c.taken) == 0 {
			all = append(all, l.at)
		}
	}
	return all
}

// maker names what makes the list.
func (c *partCost) maker() string {
	if c.own {
		return fmt.Sprintf("The loop at line %d", c.of.line)
	}
	return c.by
}

// what says what is made, and what is used of it; the numbers of elements are averages, if they were counted.
func (c *partCost) what(used, all float64, counted bool) string {
	size, part := "a list", "uses only a part, according to the source"
	if c.isMap {
		size = "a map"
	}
	if counted {
		size += fmt.Sprintf(" of %s elements on average", elementCount(all))
		part = "uses " + elementCount(used)
	}
	in := stack.Short(c.at.Func)
	if c.records {
		return fmt.Sprintf("%s records, of which %s lets %s through at %s, by %s alone", elementCount(all), in, elementCount(used), c.taken[0].at.text(), strings.Join(c.asks, ", "))
	}
	if len(c.taken) == 0 {
		return fmt.Sprintf("%s, of which %s only uses how many there are, at %s", size, in, c.lengths[0].at.text())
	}
	var uses []string
	for _, t := range c.taken {
		if s := t.short(); !slices.Contains(uses, s) {
			uses = append(uses, s)
		}
	}
	also := ""
	if len(c.numbers()) > 0 {
		also = ", and how many there are"
	}
	return fmt.Sprintf("%s, of which %s %s: %s%s", size, in, part, strings.Join(uses, ", "), also)
}

// short says which part it is.
func (t partTaken) short() string {
	switch t.kind {
	case partCut, partOne:
		return fmt.Sprintf("%s at %s", t.text, t.at.text())
	}
	return "those that the loop at " + t.at.text() + " does more with than test them"
}

// says is it as a remark on its line.
func (t partTaken) says() string {
	size := ""
	if t.all > 0 && t.used >= 0 {
		size = fmt.Sprintf(": %s of %s on average", elementCount(t.used), elementCount(t.all))
	}
	switch t.kind {
	case partPass:
		return fmt.Sprintf("%s of %s turns do more than look", elementCount(t.used), elementCount(t.all))
	case partCut:
		return "this part is used" + size
	case partOne:
		return "one element is used"
	}
	return "turns that do more than look" + size
}

// elementCount says how many there are on average.
func elementCount(n float64) string {
	if n < 10 {
		return strings.TrimSuffix(fmt.Sprintf("%.1f", n), ".0")
	}
	return unit.Count(int64(math.Round(n)))
}

// advice says how to make what is used alone.
func (c *partCost) advice() string {
	made := c.by
	if c.own {
		made = "the loop"
	}
	kinds := map[partKind]bool{}
	for _, t := range c.taken {
		kinds[t.kind] = true
	}
	var s string
	switch {
	case c.walk != nil:
		return c.walk.advice()
	case c.records:
		return fmt.Sprintf("Read those alone that %s asks for: keep them under a key, in a list or an index by %s, so that the others are not even gone through. If all have to be looked at, make %s of each first (a struct with that alone), and the whole of those that pass.",
			c.taken[0].text, strings.Join(c.asks, ", "), strings.Join(c.asks, ", "))
	case len(c.taken) == 0 && c.judged.line > 0:
		return fmt.Sprintf("If the check at %s does not need the elements, count without making the list. Otherwise keep what it has found for as long as what %s reads stays the same, and count that.", c.judged.text(), made)
	case len(c.taken) == 0:
		return fmt.Sprintf("Count without making the list: a count in what %s reads (SELECT COUNT, a counter that is kept), or one more for each element in its loop. An order, a copy or a decoded element is needed for nothing then.", made)
	case kinds[partCut]:
		s = fmt.Sprintf("Have %s make this part alone: hand it where the part begins and how long it is (a limit and an offset or a cursor for what it asks, or skip elements before they are decoded and stop when the part is full).", made)
		if c.sorted.line > 0 {
			s += " If the order is only known here, keep what is ordered where it comes from (ORDER BY with an index, a list that stays sorted), or order the keys alone and make the rest of an element for those of the part."
		}
	case kinds[partFew]:
		s = fmt.Sprintf("Hand the condition to %s: ask for those that it lets through (a WHERE, a key, an index that is kept), or look at what it needs before the rest of an element is made; where one is enough, stop at the first.", made)
	default:
		s = fmt.Sprintf("Have %s give this one alone: ask for it by its key, or keep what it is found in for as long as it stays the same.", made)
	}
	if c.judged.line > 0 {
		s = fmt.Sprintf("If the check at %s can be made without the other elements, or was made before: ", c.judged.text()) + strings.ToLower(s[:1]) + s[1:]
	}
	if len(c.numbers()) > 0 {
		s += " The number of all is a question of its own (SELECT COUNT, a counter that is kept)."
	}
	return s
}

// tellPartMade says of a wait for something outside that it is for a list or a map of which a part is used.
func tellPartMade(in *Input, t *traced, w *waiting, f *Finding) {
	if !w.outside() {
		return
	}
	finder, frames := newPartFinder(in.code), t.Frames(w.site.Stack)
	for i := 1; i < len(frames); i++ {
		if !t.Scope.IsUser(frames[i]) || !t.Scope.IsUser(frames[i-1]) {
			continue
		}
		for _, u := range finder.on(lineOnly(frames[i]), ownName(frames[i-1].Func)) {
			part, all, counted := u.used()
			c := &partCost{partUse: u, at: lineOnly(frames[i])}
			if u.records || u.own || u.walk != nil || u.repeats || !counted || part > mostOfPart || all < fewInPart || u.effects != "" || c.topOf() {
				continue
			}
			f.Summary += fmt.Sprintf("; %s makes %s", c.by, c.what(part*all, all, true))
			f.Advice = c.advice() + " " + f.Advice
			f.Doubts = append(f.Doubts, "how much less the wait is for the part alone depends on what answers: it may take as long to begin with, or to look at all of them")
			return
		}
	}
}
