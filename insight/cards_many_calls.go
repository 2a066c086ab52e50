package insight

import (
	"slices"
	"strings"
)

// Library calls that are many because of the lines around them: a search that makes one for each element, and lines that format text.

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
