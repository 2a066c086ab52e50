package insight

import "slices"

// Work that need not be done, among the cards.

// needlessWork are rules about work that need not be done, as counts show.
var needlessWork = []string{"CP24", "CP26", "CP28", "CP29"}

// needlessFirst puts much work that need not be done before a wait of which no fault is named.
func needlessFirst(c *causal, cards []Card) {
	for _, work := range cards {
		f := &c.all[work.Finding]
		if !f.saves || !f.Severity.AtLeast(Warning) || !slices.Contains(needlessWork, f.Rule) || f.Impact == nil || f.Impact.Value < muchOfAll {
			continue
		}
		for _, wait := range cards {
			if p := &c.all[wait.Finding]; p.Severity == f.Severity && namesNoFault(p) {
				c.rank[work.Finding] = max(c.rank[work.Finding], c.rank[wait.Finding]/justBelow)
			}
		}
	}
}

// withinNeedless tells of work of which a finding says only that its kind is costly that most of its samples are in calls which, as counts show, need not be
// made: without them it is not done, however it is done.
func withinNeedless(t two) bool {
	return slices.Contains(needlessWork, t.b.Rule) && t.b.saves && t.grave() && t.mostly() &&
		family(t.a.Rule) == "work" && !isNeedless(t.a) && t.mostlyBelow()
}
