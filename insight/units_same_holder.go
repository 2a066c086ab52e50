package insight

import (
	"fmt"
	"slices"
	"time"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/unit"
)

// sameWaiting is what units of one group mostly wait for, in a finding about their waits: for a goroutine that does something at a line meanwhile.
type sameWaiting struct {
	kind, cause facts.UnitKind
	at, holder  stack.Frame
}

// mostWaited is what most of the time of a finding's waits is for. It is false where no other goroutine is known to be what they wait for, since what is
// outside of the program may be something else for each kind of units.
func mostWaited(f *Finding) (most sameWaiting, ok bool) {
	sums := map[sameWaiting]time.Duration{}
	for _, row := range f.waits {
		x := sameWaiting{kind: row.Kind, cause: row.Cause.Kind, at: lineOnly(row.Site.Frame), holder: lineOnly(row.Cause.Site.Frame)}
		if sums[x] += row.Time; sums[x] > sums[most] {
			most = x
		}
	}
	return most, most.holder.Func != "" && most.cause.Key() != "none" && most.cause.Key() != "unknown"
}

// bySameHolder makes one finding of those about kinds of units that wait at one line for the same holder: that is one cause. They are of one rule.
func bySameHolder(in *Input, found []Finding) (out []Finding) {
	u := in.Facts.Units()
	for _, f := range found {
		i := slices.IndexFunc(out, func(o Finding) bool { return u.Err == nil && waitForSame(&o, &f) })
		groups := groupsWaiting(u, &f)
		if i < 0 || len(groups) != 1 || len(groupsWaiting(u, &out[i])) == 0 {
			out = append(out, f)
			continue
		}
		tellOtherUnits(u, &out[i], groupsWaiting(u, &out[i]), &f, groups[0])
	}
	return out
}

// waitForSame tells whether two findings say the same of two kinds of units.
func waitForSame(a, b *Finding) bool {
	if a.State != Found || b.State != Found || a.Rule != b.Rule || a.Title != b.Title || a.Severity != b.Severity || a.Advice != b.Advice || a.Impact == nil || b.Impact == nil ||
		a.Impact.Unit != b.Impact.Unit || firstLine(a) != firstLine(b) || sharedWaits(b, a) > 0 {
		return false
	}
	x, ok := mostWaited(a)
	y, too := mostWaited(b)
	return ok && too && x == y
}

// groupsWaiting are the groups of units whose waits a finding is about.
func groupsWaiting(u *facts.Units, f *Finding) (all []facts.UnitGroup) {
	for _, g := range u.Groups {
		if slices.ContainsFunc(f.waits, func(row *facts.UnitRow) bool { return isRowOf(g, row) }) {
			all = append(all, g)
		}
	}
	return all
}

// tellOtherUnits adds what a finding says of one more group to that which says it of some; its share is then of the time of all of its kind.
func tellOtherUnits(u *facts.Units, f *Finding, of []facts.UnitGroup, other *Finding, g facts.UnitGroup) {
	sum := time.Duration(0)
	for _, row := range other.waits {
		sum += row.Time
	}
	if len(of) == 1 {
		f.Impact = exactly(f.Impact.Value*partOfAll(u, of[0]), f.Impact.Unit)
	}
	f.Impact = exactly(min(1, f.Impact.Value+other.Impact.Value*partOfAll(u, g)), f.Impact.Unit)
	f.Summary += fmt.Sprintf("; %s waits %s of its time for the same: %s of %s%s", unitOf(g), unit.Percent(g.All.Share(sum)), unit.Duration(sum/unitCount(g)), unit.Duration(g.All.Wall/unitCount(g)), overUnits(g))
	f.Score, f.waits = max(f.Score, other.Score), append(slices.Clip(f.waits), other.waits...)
	for _, d := range other.Doubts {
		if !slices.Contains(f.Doubts, d) {
			f.Doubts = append(f.Doubts, d)
		}
	}
	for _, e := range other.Evidence {
		if e.File != "" && !shows(f, evidenceLine(e)) {
			f.Evidence = append(f.Evidence, e)
		}
	}
}

// partOfAll is the part that the units of a group have in the time of all of their kind that are judged; 1 where there are no others.
func partOfAll(u *facts.Units, of facts.UnitGroup) float64 {
	all := time.Duration(0)
	for _, g := range u.Groups {
		if g.Unit == of.Unit && (g.Name == "" || slices.Contains(u.Judged, g)) {
			all += g.Seen.Sum
		}
	}
	if all == 0 {
		return 1
	}
	return min(1, float64(withNameless(u, of))/float64(all))
}
