package report

import (
	"io"

	"loupe/insight"
)

// WriteRule prints all that is to be said of a rule: what it looks for, what it
// needs, and its thresholds with where they come from.
func WriteRule(out io.Writer, r *insight.Rule, s Style) error {
	w := &lines{w: out}
	w.printf("%s\n\n%s\n\n", s.paint(bold, r.ID+"  "+r.Title), s.Wrap(r.About, 0))
	word := "Needs"
	for _, kind := range r.Needs {
		w.printf("%s  %s\n", word, s.Wrap(insight.Describe(kind), 7))
		word = "  and"
	}
	for _, kind := range r.Instead {
		w.printf("   or  %s\n", s.Wrap(insight.Describe(kind), 7))
	}
	w.printf("\nThresholds\n")
	for _, p := range r.Params {
		w.printf("  %-16s %g %s\n", p.Name, p.Value, p.Unit)
		w.printf("      %s\n", s.paint(dim, s.Wrap(p.Source, 6)))
	}
	return w.err
}
