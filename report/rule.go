package report

import (
	"io"

	"loupe/analysis/facts"
	"loupe/insight"
)

// WriteRule prints all that is to be said of a rule: what it looks for, what it
// asks, and its thresholds with where they come from.
func WriteRule(out io.Writer, r *insight.Rule, s Style) error {
	w := &lines{w: out}
	w.printf("%s\n\n%s\n\n", s.paint(bold, r.ID+"  "+r.Title), s.Wrap(r.About, 0))
	for _, q := range r.Asks {
		w.printf("Asks   %s\n", s.Wrap(q.Asks(), 7))
		word := "  from"
		for _, kind := range q.From() {
			w.printf("%s  %s\n", word, s.Wrap(facts.Describe(kind), 8))
			word = "    or"
		}
	}
	w.printf("\nThresholds\n")
	for _, p := range r.Params {
		w.printf("  %-16s %g %s\n", p.Name, p.Value, p.Unit)
		w.printf("      %s\n", s.paint(dim, s.Wrap(p.Source, 6)))
	}
	return w.err
}
