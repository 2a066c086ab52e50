package report

import "io"

// WriteDemo prints what loupe demo shows: the comparison, the findings of the
// first recording, and which of them the others are rid of.
func WriteDemo(out io.Writer, c *Comparison, s Style) error {
	w := &lines{w: out}
	w.printf("\n%s\n\n", s.paint(bold, "What the fix did"))
	writeTable(w, c.Table, s)
	w.printf("\n%s\n\n", s.paint(bold, "What was wrong in "+clean(c.Table.Titles[0])))
	first := &Recording{Findings: c.Findings[0], Cards: c.Cards[0]}
	for _, card := range first.Cards[:min(len(first.Cards), briefCards)] {
		first.writeCard(w, card, s)
	}
	if len(first.Cards) == 0 {
		w.printf("  %s\n\n", wrap(headlineOf(c.Findings[0]), s.width()-2, "  "))
	}
	writeCameAndWent(w, c, s)
	return w.err
}
