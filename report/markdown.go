package report

import (
	"fmt"
	"io"
	"strings"

	"loupe/analysis/compare"
	"loupe/insight"
	"loupe/value/unit"
)

// escape makes text from a recording plain inside Markdown.
func escape(text string) string {
	return strings.NewReplacer("\\", "\\\\", "&", "&amp;", "~", "\\~", "|", "\\|", "*", "\\*", "_", "\\_", "`", "'", "<", "&lt;", ">", "&gt;", "[", "\\[", "]", "\\]").Replace(clean(text))
}

// code makes text from a recording a code span.
func code(text string) string { return "`" + strings.ReplaceAll(clean(text), "`", "'") + "`" }

// WriteRecordingMarkdown prints a recording for an issue or a pull request.
func WriteRecordingMarkdown(out io.Writer, r *Recording) error {
	w := &lines{w: out}
	w.printf("# %s\n\n%s\n\n", escape(r.Manifest.Title), escape(strings.Join(headFacts(r.Manifest), ", ")))
	markdownIncomplete(w, r.Incomplete)
	w.printf("## Findings\n\n")
	markdownFindings(w, r.Findings, r.headline(), lacks(r.Manifest))
	w.printf("\n## What happened\n\n")
	markdownTable(w, r.Figures)
	if len(r.Slow) > 0 {
		w.printf("\n## What slow requests overlapped with\n")
		markdownSlow(w, r.Slow)
	}
	w.printf("\n## Phases\n\n| phase | length | requests/sec | cost |\n|---|--:|--:|---|\n")
	for _, p := range r.Phases {
		rps, cost := "", ""
		if p.RPS.Known() {
			rps = unit.Number(float64(p.RPS))
		}
		if p.Cost.Known() {
			cost = unit.Change(float64(p.Cost)) + " CPU vs. bare"
		}
		if p.Error != "" {
			cost = p.Error
		}
		w.printf("| %s | %s | %s | %s |\n", escape(p.Name), unit.Duration(p.Length), rps, escape(cost))
	}
	for _, n := range r.Manifest.Notes {
		w.printf("\n> %s\n", escape(n))
	}
	return w.err
}

// WriteComparisonMarkdown prints recordings side by side for an issue or a
// pull request.
func WriteComparisonMarkdown(out io.Writer, c *Comparison) error {
	w := &lines{w: out}
	var titles []string
	for _, t := range c.Table.Titles {
		titles = append(titles, escape(t))
	}
	w.printf("# %s\n\n", strings.Join(titles, " → "))
	markdownTable(w, c.Table)
	for i, all := range c.Findings {
		w.printf("\n## Findings in %s\n\n", titles[i])
		markdownFindings(w, all, headlineOf(all), tooShort)
	}
	return w.err
}

func markdownTable(w *lines, t *compare.Table) {
	head, rule := "|", "|---|"
	for i, title := range t.Titles {
		head += fmt.Sprintf(" | %s", escape(title))
		rule += "--:|"
		if i > 0 {
			head += " | change | "
			rule += "---|---|"
		}
	}
	w.printf("%s |\n%s\n", head, rule)
	for _, r := range t.Rows {
		w.printf("| %s", r.Name)
		for i, c := range r.Cells {
			w.printf(" | %s", median(r.Unit, &c))
			if i > 0 {
				w.printf(" | %s | %s", change(r.Changes[i-1]), r.Changes[i-1].Verdict)
			}
		}
		w.printf(" |\n")
	}
	if text := rounds(t); text != "" {
		w.printf("\nThe figures are %s.", text)
	}
	if text := confidence(t); text != "" {
		w.printf(" %s.", text)
	}
	w.printf("\n")
	for _, n := range t.Notes {
		w.printf("\n> %s\n", escape(n))
	}
}

// markdownIncomplete marks a report of which something is missing.
func markdownIncomplete(w *lines, all []string) {
	for _, why := range all {
		w.printf("> %s%s\n\n", incomplete, escape(why))
	}
}

// markdownEvidence prints where something was seen.
func markdownEvidence(w *lines, e insight.Evidence) {
	if e.File != "" {
		w.printf("  - %s %s\n", code(fmt.Sprintf("%s:%d", shortFile(e), e.Line)), escape(e.Text))
	} else {
		w.printf("  - %s\n", escape(e.Text))
	}
	if e.Source != "" {
		w.printf("    %s\n", code(e.Source))
	}
}

func markdownFindings(w *lines, all []insight.Finding, headline, lacking string) {
	found := false
	for _, f := range all {
		if f.State != insight.Found {
			continue
		}
		found = true
		w.printf("- **%s %s** (%s): %s\n", f.Rule, f.Title, f.Severity, escape(f.Summary))
		for _, e := range f.Evidence {
			markdownEvidence(w, e)
		}
		w.printf("  - → %s\n", escape(f.Advice))
	}
	if !found {
		w.printf("%s\n", escape(headline))
	}
	for _, state := range []insight.State{insight.TooLittle, insight.Fine, insight.NotApplicable} {
		for _, o := range othersOf(all, state, lacking) {
			w.printf("- %s %s: %s\n", strings.Join(o.rules, ", "), strings.ReplaceAll(string(state), "_", " "), escape(o.text))
		}
	}
}
