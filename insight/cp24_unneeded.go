package insight

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/format/profile"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

var cp24 = &Rule{
	ID: "CP24", Title: "Work comes before the check that makes it unnecessary",
	About: "A function computes something, asks a condition afterwards, and uses what it has computed only where that holds. " +
		"Where hardly any sample is behind the condition, the work is thrown away nearly each time.",
	Asks: []facts.Question{facts.CPU},
	Params: []Param{
		{"share", 0.10, "share of CPU time", "chosen; the lower bound of the interval counts"},
		{"warn", 0.20, "share of CPU time", "chosen: as for the arguments of log calls, CP13"},
		{"used", 0.03, "share of the work's own samples", "chosen: what writes or encodes a text costs no less than a tenth of making it"},
		g0,
	},
	Check: checkUnneeded,
}

// unneededCost is what a profile shows of such work.
type unneededCost struct {
	unneeded
	weight  int64 // samples of the work
	texts   int64 // of them those that format or encode something: what that gives is written in no less than a tenth of the time
	used    int64 // samples behind the condition
	costs   []cost
	heavy   []stack.Frame // the heaviest stack, from the work's line out
	most    int64
	callees map[string]int64
}

// unneededKey is a place of a profile.
type unneededKey struct{ file, function string }

func checkUnneeded(r *Rule, in *Input) []Finding {
	cpu, err := in.Facts.Weights(facts.CPU, "samples")
	if err != nil {
		return []Finding{r.answer(TooLittle, "%v", err)}
	}
	all, total := unneededIn(in, cpu.Profile, cpu.Index)
	if total < int64(r.param("samples")) {
		return []Finding{r.short("%s has %d samples; %g are needed: record longer (-phases cpu:30s) or under load", cpu.Entry.Path, total, r.param("samples"))}
	}
	var found []Finding
	for _, u := range all {
		share := stats.Wilson(float64(u.weight), float64(total), compare.Confidence)
		if share.Low >= r.param("share") && u.seldom(r.param("used")) {
			found = append(found, u.finding(r, in, cpu, share, total))
		}
	}
	if len(found) == 0 {
		return []Finding{r.answer(Fine, "no work was found whose result is only used behind a later condition, and which takes %s of the CPU time", unit.Percent(r.param("share")))}
	}
	return found[:min(len(found), 3)]
}

// unneededIn adds up a profile by the work of this kind, the heaviest first.
func unneededIn(in *Input, p *profile.Profile, index int) (all []*unneededCost, total int64) {
	v, scan := in.view(p), newUnneededScan(in.code)
	places := map[stack.FrameID]*unneededCost{}
	byCheck, byFunction := map[codeLine]*unneededCost{}, map[unneededKey][]*unneededCost{}
	for id, w := range p.Samples(index) {
		if total += w; w <= 0 {
			continue
		}
		frames := p.Stacks.Frames(id)
		for n := len(frames) - 1; n >= 0; n-- {
			if v.origins[frames[n]] != stack.User {
				continue
			}
			u, asked := places[frames[n]]
			if !asked {
				at := p.Stacks.Frame(frames[n])
				if work, ok := scan.on(at); ok {
					if u = byCheck[work.check]; u == nil {
						u = &unneededCost{unneeded: *work, callees: map[string]int64{}}
						byCheck[work.check], all = u, append(all, u)
						key := unneededKey{at.File, at.Func}
						byFunction[key] = append(byFunction[key], u)
					}
					u.joins(work)
					u.costs = append(u.costs, cost{file: at.File, line: at.Line})
				}
				places[frames[n]] = u
			}
			if u != nil {
				u.add(p, id, n, w)
				break
			}
		}
	}
	for id, w := range p.Samples(index) {
		if w <= 0 || len(byFunction) == 0 {
			continue
		}
		frames, counted := p.Stacks.Frames(id), map[*unneededCost]bool{}
		for _, frame := range frames {
			at := p.Stacks.Frame(frame)
			for _, u := range byFunction[unneededKey{at.File, at.Func}] {
				if u.from <= at.Line && at.Line <= u.to && !counted[u] {
					u.used, counted[u] = u.used+w, true
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *unneededCost) int { return cmp.Compare(b.weight, a.weight) })
	return all, total
}

// seldom tells that what the work gives is hardly ever used: by the counts, else by the samples behind the condition.
func (u *unneededCost) seldom(part float64) bool {
	if u.counted {
		return float64(u.uses) < part*float64(u.done)
	}
	return float64(u.used) < part*float64(u.weight)
}

// joins takes a further statement of the same work.
func (u *unneededCost) joins(work *unneeded) {
	u.first, u.last, u.fails = min(u.first, work.first), max(u.last, work.last), u.fails || work.fails
	u.results = slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(u.results), work.results...))))
}

// add counts a stack whose frame n does the work.
func (u *unneededCost) add(p *profile.Profile, id stack.ID, n int, weight int64) {
	frames := p.Stacks.Frames(id)
	u.weight += weight
	if slices.ContainsFunc(frames[:n], func(id stack.FrameID) bool { return makesText(p.Stacks.Frame(id).Func) }) {
		u.texts += weight
	}
	if n > 0 {
		u.callees[stack.FoldGenerics(p.Stacks.Frame(frames[n-1]).Func)] += weight
	}
	if weight > u.most {
		u.most, u.heavy = weight, facts.Frames(p.Stacks, id)[n:]
	}
}

// makesText tells of a function of the library that it formats or encodes.
func makesText(name string) bool {
	switch pkg := stack.Package(name); pkg {
	case "fmt", "strconv", "html", "text/template", "html/template":
		return true
	case "strings":
		return name == "strings.Join" || strings.HasPrefix(name, "strings.(*Builder).")
	case "runtime":
		return strings.HasPrefix(name, "runtime.Caller") || strings.HasPrefix(name, "runtime.FuncForPC") || strings.HasPrefix(name, "runtime.concatstring")
	default:
		return strings.HasPrefix(pkg, "encoding/")
	}
}

// finding says what is done for nothing, and where it should be done.
func (u *unneededCost) finding(r *Rule, in *Input, cpu *facts.Weights, share stats.Interval, total int64) Finding {
	results, at, calling := andList(u.results), u.heavy[0], ""
	if called := byWeight(u.callees); len(called) > 0 {
		calling = ", calling " + stack.Short(called[0].name)
	}
	where := fmt.Sprintf("in the branch at line %d (if %s)", u.check.line, u.cond)
	if u.leaves {
		where = fmt.Sprintf("behind the check at line %d (if %s), which leaves before", u.check.line, u.cond)
	}
	if u.handed != "" {
		where = fmt.Sprintf("by %s, ", u.handed) + where
	}
	seen := "no sample is there"
	switch {
	case u.counted && u.uses == 0:
		seen = fmt.Sprintf("in the run that counts, none of %s came there", unit.Count(u.done))
	case u.counted:
		seen = fmt.Sprintf("in the run that counts, %s of %s came there", unit.Count(u.uses), unit.Count(u.done))
	case u.used > 0:
		seen = fmt.Sprintf("only %s of %d there", unit.Plural(u.used, "sample"), u.weight)
	}
	f := r.answer(Found, "%s of the CPU time goes into %s (%s:%d in %s%s), which %s used only %s; %s", unit.Percent(share.Estimate), results, baseName(u.file), at.Line,
		stack.Short(stack.FoldGenerics(at.Func)), calling, isAre(len(u.results)), where, seen)
	f.Severity, f.Score = Info, score(share.Estimate, 0.10, 0.40)
	f.Impact = &Impact{share.Estimate, "share of CPU samples", share.Low, share.High}
	f.Evidence = []Evidence{in.fileAt(cpu.Entry, at, u.heavy, "%d of %d samples", u.weight, total),
		in.code.shownAt(u.check.file, u.check.line, "asked here, when the work is done already")}
	f.costs, f.saves, f.arguments = u.costs, true, true
	f.Advice = "Ask first: do the work in the branch, where its result is used."
	switch {
	case u.handed != "":
		f.Advice = fmt.Sprintf("Ask first what %s asks (%s), and do the work only where its result is used; or have %s do it.", u.handed, u.check.text(), u.handed)
	case u.leaves:
		f.Advice = fmt.Sprintf("Ask first: move the work behind the check at line %d.", u.check.line)
	}
	f.Doubts = []string{"where the condition lets it through more often than in this recording, less is gained"}
	if u.fails {
		f.Doubts = append(f.Doubts, "an error of the work is then seen only where its result is used")
	}
	if u.counted || u.shows && float64(u.texts) >= halfOfAll*float64(u.weight) {
		if share.Low >= r.param("warn") {
			f.Severity = Warning
		}
	} else {
		f.saves, f.arguments = false, false
		f.Title = "Work whose result only a later check lets be used"
		f.Advice = fmt.Sprintf("Count how often the check at line %d lets it through. If that is seldom, do the work behind it.", u.check.line)
		f.Doubts[0] = "what is done behind the condition may be too little beside the work to be seen in samples: it may hold each time"
	}
	f.Verify = "Record again under the same load: the share should fall below " + unit.Percent(r.param("share")) + "."
	return f
}

// isAre is the verb for a number of things.
func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}
