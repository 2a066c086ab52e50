package insight

import "slices"

// What grows without end, and memory that is needless, among the cards.

// needlessMemory are the titles of memory that a change at the line lets go of, and that grows with what the program is given.
var needlessMemory = []string{uncancelledTitle, tailTitle, headTitle, encodedTitle, gatheredTitle}

// leaksFirst puts what grows without end before a pause, which takes time and breaks nothing, or a wait of which no fault is named, where both are as
// grave, and before CPU time that the program has to spare, or of which only the line is known. Needless memory that is most of a large heap goes before a wait for a peer, which the
// program cannot make faster.
func (c *causal) leaksFirst(cards []Card) {
	for _, leak := range cards {
		f := &c.all[leak.Finding]
		if f.Title == bufferTitle && f.Severity.AtLeast(Warning) && f.felt >= halfOfAll {
			beforePeers(c, leak, cards)
		}
		if !f.Severity.AtLeast(Warning) || f.Rule != gc08.ID && f.Rule != sc10.ID && !slices.Contains(needlessMemory, f.Title) {
			continue
		}
		spare := c.spent != nil && c.spent.cpus > 0 && c.spent.keepsUp() < busyCPU
		for _, pause := range cards {
			p := &c.all[pause.Finding]
			if p.Severity == f.Severity && (p.Rule == wt01.ID && (p.waitsFor == "sleep" || p.waitsFor == "timer") || namesNoFault(p) || family(p.Rule) == "work" && (spare || classOf(p) == general)) {
				c.rank[leak.Finding] = max(c.rank[leak.Finding], c.rank[pause.Finding]/justBelow)
			}
		}
	}
}

// beforePeers raises a card above those about waits for a peer that nothing else on them explains.
func beforePeers(c *causal, card Card, cards []Card) {
	for _, wait := range cards {
		p := &c.all[wait.Finding]
		if p.Rule == wt01.ID && (p.waitsFor == "network" || p.waitsFor == "network_write") && p.Severity == c.all[card.Finding].Severity {
			c.rank[card.Finding] = max(c.rank[card.Finding], c.rank[wait.Finding]/justBelow)
		}
	}
}
