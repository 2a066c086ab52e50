package insight

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/unit"
)

// The parameters that rules about units of work have in common.
var (
	unitsParam = Param{"units", 10, "requests or tasks", "chosen: fewer are a momentary effect"}
	groupParam = Param{"group", 0.1, "share of the time of all", "chosen: a kind of request with a smaller share is left out"}
)

// unitLook looks for something in the units of one group; fine is what it says of the group
// where it finds nothing.
type unitLook func(r *Rule, in *Input, t *traced, g facts.UnitGroup) (found []Finding, fine string)

// onUnits makes a check of one that looks at groups of units of work.
func onUnits(look unitLook) func(r *Rule, in *Input) []Finding {
	return onTrace(func(r *Rule, in *Input, t *traced) []Finding {
		u := in.Facts.Units()
		if u.Err != nil {
			return []Finding{r.answer(TooLittle, "%v", u.Err)}
		}
		groups, otherwise := unitGroups(r, in, u)
		var found []Finding
		fine := ""
		for _, g := range groups {
			some, well := look(r, in, t, g)
			found = append(found, some...)
			if fine == "" {
				fine = well
			}
		}
		found = bySameHolder(in, found)
		switch {
		case len(found) > 0:
			return found[:min(3, len(found))]
		case otherwise != nil:
			return []Finding{*otherwise}
		}
		if cut := cutAway(u); cut != "" {
			return []Finding{r.answer(TooLittle, "%s; but %s", fine, cut)}
		}
		return []Finding{r.answer(Fine, "%s", fine)}
	})
}

// manyCut is the part of all requests from which on those that are not wholly in the trace may be what is slow. Chosen: of
// requests that take a tenth of the trace as many are cut off.
const manyCut = 0.1

// cutAway says that many requests are not judged, as they are not wholly in the trace: long ones are cut off more often than others;
// empty where they are few.
func cutAway(u *facts.Units) string {
	counted := int64(0)
	for _, g := range u.Groups {
		if g.Unit.String() == "request" {
			counted += g.Seen.Count
		}
	}
	if counted == 0 || float64(u.Cut) < manyCut*float64(counted+u.Cut) {
		return ""
	}
	return fmt.Sprintf("%s of %s began before the trace or ended after it: these may be the slow ones, which a longer trace has (-phases trace:20s)", unit.Count(u.Cut), unit.Plural(counted+u.Cut, "request"))
}

// overUnits says over how many units figures are averages: " on average over 7", or where
// not all of them were divided " on average over 7 of 70". Of main it is what the trace has; it is empty of
// another one.
func overUnits(g facts.UnitGroup) string {
	switch n := g.Wall.Count; {
	case g.Unit.String() == "main":
		return " in the trace"
	case n <= 1:
		return ""
	case n < g.Seen.Count:
		return fmt.Sprintf(" on average over %s of %s", unit.Count(n), unit.Count(g.Seen.Count))
	default:
		return " on average over " + unit.Count(n)
	}
}

// nameless is how many requests have left no stack in their handler: they were quick, and
// may be of any group of requests.
func nameless(u *facts.Units, g facts.UnitGroup) int64 {
	for _, o := range u.Groups {
		if o != g && o.Unit == g.Unit && o.Name == "" && g.Unit.String() == "request" {
			return o.Wall.Count
		}
	}
	return 0
}

// namelessDoubt is what speaks against figures of one request of a group, where there are
// many without a name.
func namelessDoubt(in *Input, g facts.UnitGroup, f *Finding) {
	if n := nameless(in.Facts.Units(), g); n > g.Wall.Count/2 {
		f.Doubts = append(f.Doubts, fmt.Sprintf("%s so quick that no event shows who handled them: if they belong to the same handler, these are only some of its requests", map[bool]string{true: "1 request was", false: unit.Count(n) + " requests were"}[n == 1]))
	}
}

// cutDoubt is what speaks against the mean length of requests, where many are not wholly in the
// trace: long ones are cut off more often.
func cutDoubt(in *Input, g facts.UnitGroup, f *Finding) {
	if u := in.Facts.Units(); g.Unit.String() == "request" && u.Cut > g.Wall.Count/3 {
		f.Doubts = append(f.Doubts, unit.Count(u.Cut)+" more began before the trace or ended after it: long ones do so more often, so the average is too low")
	}
}

// ofAll is a share of the time of a group's units as one of all that may be of the same
// handler: a request that no event tells the handler of was quick, and did not wait.
func ofAll(in *Input, g facts.UnitGroup, share float64) float64 {
	return share * float64(g.Seen.Sum) / float64(max(1, withNameless(in.Facts.Units(), g)))
}

// withNameless is the time of a group's units, with that of the requests that may be of the same handler, where these are many.
func withNameless(u *facts.Units, g facts.UnitGroup) time.Duration {
	sum := g.Seen.Sum
	if nameless(u, g) <= g.Wall.Count/2 {
		return sum
	}
	for _, o := range u.Groups {
		if o != g && o.Unit == g.Unit && o.Name == "" {
			sum += o.Seen.Sum
		}
	}
	return sum
}

// nearlyAllUnits is the part of the time of all units of a kind from which on those of one group stand for all of them: chosen.
const nearlyAllUnits = 0.95

// sayWhich says of a gain in the time of requests or tasks of which these are, where others do something else, and what it is of the time of all.
func sayWhich(in *Input, f *Finding, gain *Gain) {
	u := in.Facts.Units()
	if u.Err != nil || len(f.waits) == 0 {
		return
	}
	var of facts.UnitGroup
	for _, g := range u.Groups {
		if slices.ContainsFunc(f.waits, func(row *facts.UnitRow) bool { return isRowOf(g, row) }) {
			if of != nil {
				return
			}
			of = g
		}
	}
	if of == nil || of.Name == "" || gain.Of != timeOfUnits(of) || of.Unit.String() != "request" && of.Unit.String() != "task" {
		return
	}
	part := partOfAll(u, of)
	if part >= nearlyAllUnits {
		return
	}
	gain.Of = "time of the " + pluralOf(of) + " of " + stack.Short(of.Name)
	if gain.Beyond == "" {
		gain.Beyond = fmt.Sprintf("that is %s of the time of all %s", unit.Percent(gain.Share*part), pluralOf(of))
	}
}

// isRowOf tells whether a row is one of a group.
func isRowOf(g facts.UnitGroup, row *facts.UnitRow) bool {
	for i := range g.All.Rows {
		if &g.All.Rows[i] == row {
			return true
		}
	}
	return false
}

// unitGroups are the groups that a rule judges, the heaviest first; otherwise is what it
// says where it finds nothing in them, nil where that is fine.
func unitGroups(r *Rule, in *Input, u *facts.Units) (groups []facts.UnitGroup, otherwise *Finding) {
	say := func(f Finding) *Finding { return &f }
	if len(u.Judged) == 0 {
		return nil, say(r.answer(NotApplicable, "the trace has no complete request, user task, benchmark, test or job of a loop"))
	}
	all, few := time.Duration(0), int64(0)
	for _, g := range u.Judged {
		all += g.Seen.Sum
	}
	for _, g := range u.Judged {
		name := g.Unit.String()
		switch {
		case float64(g.Seen.Sum) < r.param("group")*float64(all):
		case name == "main" && !facts.EndsByItself(in.Session):
			return nil, say(r.answer(NotApplicable, "the trace has no complete request or user task, and what main waits for in a program that does not end says nothing"))
		case (name == "request" || name == "task" || name == "job" || name == "exchange") && float64(g.Wall.Count) < r.param("units"):
			few += g.Wall.Count
		default:
			groups = append(groups, g)
		}
	}
	if few > 0 && len(groups) == 0 {
		otherwise = say(r.short("the trace has %s from start to end; %g are needed", unit.Plural(few, u.Judged[0].Unit.String()), r.param("units")))
	}
	return groups, otherwise
}

// titled is a finding whose title names the units that there are, where these are no requests or tasks: a tool has main alone.
func titled(f Finding, g facts.UnitGroup) Finding {
	name := g.Unit.String()
	if name == "request" || name == "task" {
		return f
	}
	plural := strings.ToUpper(name[:1]) + name[1:]
	if name != "main" {
		plural += "s"
	}
	if rest, ok := strings.CutPrefix(f.Title, "Requests or tasks spend much of their "); ok {
		if f.Title = plural + " spend much of their " + rest; name == "main" {
			f.Title = "Main spends much of its " + rest
		}
	}
	if rest, ok := strings.CutPrefix(f.Title, "Requests queue for "); ok {
		if f.Title = plural + " queue for " + rest; name == "main" {
			f.Title = "Main waits in a queue for " + rest
		}
	}
	return f
}
