package insight

import (
	"slices"
	"strings"
)

// pays tells whether the advice of the other finding saves at least half of the CPU time that the finding is about, where samples tell both: what costs more
// than that is a cause of its own, whatever else the two have in common. Of a remark that says only where time goes, a quarter that a warning explains is enough.
func (t two) pays() bool {
	ma, mb := t.c.marks[t.i], t.c.marks[t.j]
	if ma == nil || mb == nil {
		return true
	}
	enough := halfOfAll
	if t.a.Severity == Info && classOf(t.a) == general && t.warned() && classOf(t.b) == specific {
		enough = muchOfAll
	}
	return t.b.partOf(t.c.spent.share(mb)) >= enough*t.a.partOf(t.c.spent.share(ma))
}

// partOf is what of the share of its costs a finding is about.
func (f *Finding) partOf(share float64) float64 {
	if f.part > 0 {
		return f.part * share
	}
	return share
}

// mostly tells of the other finding that its advice saves most of what it is about.
func (t two) mostly() bool { return t.b.partOf(1) >= halfOfAll }

// ofWork tells of two findings that both are about work on the CPU, and that the one is none about what the collector and the allocator take together,
// which goes by what is allocated.
func (t two) ofWork() bool {
	return family(t.a.Rule) == "work" && family(t.b.Rule) == "work" && !ofGarbage(t.a)
}

// ofSearch tells of library calls that most of their time is in a search which goes through many elements, as the other finding says: without it they are not made.
func ofSearch(t two) bool {
	return t.rules(cp23.ID, cp20.ID) && t.notLess() && looksAtMany(t.b) && t.mostlyBelow()
}

// looksAtMany tells of a finding about a search that its advice is to look at fewer elements.
func looksAtMany(f *Finding) bool {
	return f.Rule == cp20.ID && (f.saves || strings.HasPrefix(f.Advice, lookAtFewer) || strings.HasPrefix(f.Advice, lookUpBy(matchRules)))
}

// raiseCauses makes a search no less severe than the library calls that it makes for its elements, and what says which lines format text no less than what
// one of these allocates for it: what is known to be much is their doing.
func raiseCauses(in *Input, all []Finding) {
	if !slices.ContainsFunc(all, func(f Finding) bool {
		return (f.Rule == cp23.ID || f.Rule == al03.ID) && f.State == Found && f.Severity.AtLeast(Warning)
	}) {
		return
	}
	c := newCausal(in, all)
	for _, i := range c.found {
		for _, j := range c.found {
			t := two{c: c, i: i, j: j, a: &all[i], b: &all[j]}
			search := t.rules(cp23.ID, cp20.ID) && looksAtMany(t.b) && t.mostlyBelow()
			text := t.rules(al03.ID, al11.ID) && isFormatting(t) && strings.HasPrefix(t.b.Advice, appendPlainly)
			if t.onlyNoted() && (search || text) {
				t.b.Severity = t.a.Severity
			}
		}
	}
}

// ofFormatting tells of values that are boxed for package fmt that one change does without them and without what the other finding is about.
func ofFormatting(t two) bool {
	return t.rules(al03.ID, al11.ID) && !t.onlyNoted() && isFormatting(t)
}

// isFormatting tells of values that are boxed for package fmt, and of a finding about lines that format text, that the line of those is among these; and if
// it is another one than that which comes first, that the advice is for all of them.
func isFormatting(t two) bool {
	return strings.HasPrefix(t.a.Advice, formatPlainly) && (t.atLine() || strings.HasPrefix(t.b.Advice, appendPlainly) && t.b.costsAt(firstLine(t.a)))
}

// costsAt tells whether a line is among those whose CPU time a finding is about.
func (f *Finding) costsAt(line string) bool {
	for _, x := range f.costs {
		if x.line > 0 && evidenceLine(Evidence{File: x.file, Line: x.line}) == line {
			return true
		}
	}
	return false
}
