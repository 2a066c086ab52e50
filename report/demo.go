package report

import "io"

// WriteDemo prints what loupe demo shows: the comparison, the findings of the
// first recording, and which of them the others are rid of.
func WriteDemo(out io.Writer, c *Comparison, s Style) error {
	w := &lines{w: out}
	w.printf("\n%s\n\n", s.paint(bold, "What the fix did"))
	writeTable(w, c.Table, s)
	w.printf("\n%s\n\n", s.paint(bold, "What was wrong in "+clean(c.Table.Titles[0])))
	writeFindings(w, c.Findings[0], headlineOf(c.Findings[0]), s)
	w.printf("\n")
	writeCameAndWent(w, c, s)
	return w.err
}
