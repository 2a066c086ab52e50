package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"loupe/analysis/compare"
	"loupe/analysis/gc"
	"loupe/insight"
	"loupe/value/terminal"
	"loupe/value/unit"
)

// CheckSchema is the version of the JSON form of what loupe check came to.
const CheckSchema = "loupe.check/1"

// Outcome is what a check came to.
type Outcome string

// The outcomes.
const (
	Passed Outcome = "passed"
	// Interrupted: the user ended it, and nothing that was measured by then is beyond its limit.
	Interrupted Outcome = "interrupted"
	// Regressed: something is beyond its limit, or a finding is of the severity that fails.
	Regressed Outcome = "failed"
	// Broken: something could not be measured, so that nothing is known of it.
	Broken Outcome = "error"
)

// InterruptedNote says of a check that the user ended it.
const InterruptedNote = "The check was interrupted: these are the results up to then."

// Check is what loupe check came to.
type Check struct {
	Schema  string  `json:"schema"`
	Outcome Outcome `json:"outcome"`
	// Base says what the working tree was held against, Revision is its commit where it has
	// one, Machine the kind of the machine.
	Base     string `json:"base"`
	Revision string `json:"revision,omitempty"`
	Machine  string `json:"machine"`
	// UndecidedFails tells that what is undecided counts as failed.
	UndecidedFails bool `json:"undecided_fails,omitempty"`
	// Interrupted tells that the user ended it before all was measured.
	Interrupted bool           `json:"interrupted,omitempty"`
	Rows        []CheckRow     `json:"rows"`
	Findings    []CheckFinding `json:"findings"`
	Broken      []CheckBroken  `json:"errors,omitempty"`
	Notes       []string       `json:"notes,omitempty"`
	// Seconds is how long all of it took.
	Seconds float64 `json:"seconds"`
}

// CheckRow is one figure that was held to its limit.
type CheckRow struct {
	// Group is a package, or the name of a load; Name a benchmark, or a figure of the load.
	Group string `json:"group"`
	Name  string `json:"name"`
	Unit  string `json:"unit"`
	// File is where the benchmark is declared, seen from the top of the repository, with
	// slashes; empty where it was not found.
	File   string    `json:"file,omitempty"`
	Line   int       `json:"line,omitempty"`
	Before gc.Figure `json:"before"`
	After  gc.Figure `json:"after"`
	Ratio  gc.Figure `json:"ratio"`
	Low    gc.Figure `json:"low"`
	High   gc.Figure `json:"high"`
	P      float64   `json:"p"`
	Rounds int       `json:"rounds"`
	Exact  bool      `json:"exact,omitempty"`
	// Verdict says whether there is a change, Standing how it stands to what is allowed: the
	// share that it may grow by, or of what more is better of, the share below zero that it may
	// fall by; null where it is held to nothing.
	Verdict  string           `json:"verdict"`
	Standing compare.Standing `json:"standing"`
	Allowed  gc.Figure        `json:"allowed"`
	// More is about how many more rounds would tell, 0 where nobody knows.
	More int `json:"more_rounds,omitempty"`
	// Of is the unit of a figure of a load; empty for benchmarks.
	Of compare.Unit `json:"-"`
}

// CheckFinding is a finding on a load.
type CheckFinding struct {
	Load string `json:"load"`
	// Known tells that the base has it too, Fails that it makes the check fail.
	Known bool `json:"known"`
	Fails bool `json:"fails"`
	insight.Finding
}

// CheckBroken is what could not be measured.
type CheckBroken struct {
	Group string `json:"group"`
	Name  string `json:"name,omitempty"`
	Text  string `json:"text"`
}

// heading names what could not be measured.
func (b *CheckBroken) heading() string { return strings.TrimSpace(b.Group + " " + b.Name) }

// Fails tells whether a row makes the check fail.
func (c *Check) Fails(r *CheckRow) bool {
	return r.Standing == compare.Beyond || c.UndecidedFails && r.Standing == compare.Open
}

// Decide sets the outcome.
func (c *Check) Decide() {
	c.Outcome = Passed
	if c.Interrupted {
		c.Outcome = Interrupted
	}
	for i := range c.Rows {
		if c.Fails(&c.Rows[i]) {
			c.Outcome = Regressed
		}
	}
	for _, f := range c.Findings {
		if f.Fails {
			c.Outcome = Regressed
		}
	}
	if len(c.Broken) > 0 {
		c.Outcome = Broken
	}
}

// count is how many rows have a standing.
func (c *Check) count(s compare.Standing) (n int) {
	for _, r := range c.Rows {
		if r.Standing == s {
			n++
		}
	}
	return n
}

// advice says what becomes of what is undecided; empty where nothing is.
func (c *Check) advice() string {
	switch {
	case c.count(compare.Open) == 0:
		return ""
	case c.UndecidedFails:
		return "Undecided results fail here. About as many more rounds as stated after each would decide it: give it more time (-budget), or a larger limit."
	}
	return "Undecided results pass. About as many more rounds as stated after each would decide it: give it more time (-budget)."
}

// Headline is the whole in a sentence.
func (c *Check) Headline() string {
	var parts []string
	add := func(n int, one, many string) {
		if n == 1 {
			parts = append(parts, "1 "+one)
		} else if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, many))
		}
	}
	failing := 0
	for _, f := range c.Findings {
		if f.Fails {
			failing++
		}
	}
	add(len(c.Broken), "could not be measured", "could not be measured")
	add(c.count(compare.Beyond), "regression", "regressions")
	add(failing, "finding that fails", "findings that fail")
	add(c.count(compare.Open), "undecided", "undecided")
	add(c.count(compare.Within), "within its limit", "within their limits")
	if len(parts) == 0 {
		parts = []string{"no limit was checked"}
	}
	word := map[Outcome]string{Passed: "passed", Interrupted: "INTERRUPTED", Regressed: "FAILED", Broken: "ERROR"}[c.Outcome]
	if c.Interrupted && c.Outcome != Interrupted {
		word += ", INTERRUPTED"
	}
	return fmt.Sprintf("check %s: %s", word, strings.Join(parts, ", "))
}

// figure is a value of the row as text.
func (r *CheckRow) figure(v gc.Figure) string {
	if r.Of != "" {
		return quantity(r.Of, float64(v))
	}
	return measuredIn{float64(v), r.Unit}.text()
}

// change is the change with its interval as text.
func (r *CheckRow) change() string {
	switch {
	case r.Before == 0 && r.After > 0:
		return "from zero"
	case !r.Ratio.Known():
		return "–"
	}
	return unit.Change(float64(r.Ratio))
}

func (r *CheckRow) interval() string {
	if r.Exact || !r.Low.Known() || !r.High.Known() {
		return ""
	}
	return unit.Change(float64(r.Low)) + " … " + unit.Change(float64(r.High))
}

// allowed is the limit as text: "+5%".
func (r *CheckRow) allowed() string {
	if !r.Allowed.Known() {
		return "any"
	}
	if r.Allowed == 0 {
		return "0%"
	}
	sign := "+"
	if r.Allowed < 0 {
		sign = "-"
	}
	return sign + strconv.FormatFloat(100*math.Abs(float64(r.Allowed)), 'g', 4, 64) + "%"
}

// standing is how the row stands as text.
func (r *CheckRow) standing() string {
	switch {
	case r.Standing == compare.Beyond:
		return "REGRESSION"
	case r.Standing == compare.Open:
		if more := r.more(); more != "" {
			return "undecided, " + more
		}
	case r.Standing == compare.Within && r.Exact:
		return "within, exactly"
	}
	return string(r.Standing)
}

// more is how many more rounds would tell; empty where nobody knows.
func (r *CheckRow) more() string {
	switch {
	case r.More <= 0:
		return ""
	case r.More > manyRounds:
		return "over " + unit.Count(manyRounds) + " more"
	}
	return fmt.Sprintf("~%d more", r.More)
}

// sentence says of a row what it came to: "B/op +100%, from 1,024 B to 2,048 B; allowed is +1%".
func (r *CheckRow) sentence() string {
	text := fmt.Sprintf("%s %s, from %s to %s", r.Unit, r.change(), r.figure(r.Before), r.figure(r.After))
	if i := r.interval(); i != "" {
		text += " (interval " + i + ")"
	}
	if r.Exact {
		text += " in every round"
	}
	text += "; the limit is " + r.allowed()
	if r.Standing == compare.Open {
		text += fmt.Sprintf(": undecided after %d rounds", r.Rounds)
		if more := r.more(); more != "" {
			text += ", " + more + " would decide"
		}
	}
	return text
}

// title names the row: a benchmark, or a load with its figure.
func (r *CheckRow) title() string { return strings.TrimPrefix(r.Name, "Benchmark") }

// sheet is the table of rows that some are of.
func (c *Check) sheet(title string, of func(*CheckRow) bool) *Sheet {
	s := &Sheet{Key: "rows", Title: title, Columns: []Column{
		{"name", "name"}, {"unit", "unit"}, {"before", "before"}, {"after", "after"}, {"ratio", "change"},
		{"interval", "interval"}, {"allowed", "allowed"}, {"rounds", "rounds"}, {"standing", "standing"},
	}}
	last, packages := "", c.packages()
	for i := range c.Rows {
		r := &c.Rows[i]
		if !of(r) {
			continue
		}
		name := strings.TrimPrefix(packages[r.Group]+" "+r.title(), " ")
		if r.Of != "" {
			name = r.Group
		}
		if full := r.Group + " " + name; full == last {
			name = ""
		} else {
			last = full
		}
		s.Rows = append(s.Rows, []any{
			name, r.Unit, sample{float64(r.Before), r.figure(r.Before)}, sample{float64(r.After), r.figure(r.After)},
			sample{float64(r.Ratio), r.change()}, r.interval(), sample{float64(r.Allowed), r.allowed()}, r.Rounds, r.standing(),
		})
	}
	return s
}

// packages are short names of the packages of benchmarks: what their paths do not have in common.
// One alone has none.
func (c *Check) packages() map[string]string {
	names := map[string]string{}
	var common []string
	for _, r := range c.Rows {
		if _, ok := names[r.Group]; ok || r.Of != "" {
			continue
		}
		parts := strings.Split(r.Group, "/")
		if len(names) == 0 {
			common = parts
		}
		n := 0
		for n < min(len(common), len(parts)) && common[n] == parts[n] {
			n++
		}
		common, names[r.Group] = common[:n], ""
	}
	if len(names) < 2 {
		return nil
	}
	for group := range names {
		short := strings.TrimPrefix(strings.TrimPrefix(group, strings.Join(common, "/")), "/")
		names[group] = cmp.Or(short, ".")
	}
	return names
}

// held tells of a row that something is allowed and something not.
func held(r *CheckRow) bool { return r.Standing != compare.Unheld }

// WriteCheck prints a check as text.
func WriteCheck(out io.Writer, c *Check, s Style) error {
	w := &lines{w: out}
	colour := map[Outcome]string{Passed: green, Interrupted: yellow, Regressed: red, Broken: red}[c.Outcome]
	w.printf("%s\n%s\n", s.paint(colour, c.Headline()), s.paint(dim, wrap("against "+clean(c.Base), s.width(), "")))
	if sheet := c.sheet("", held); len(sheet.Rows) > 0 {
		w.printf("\n")
		if err := WriteSheet(w, sheet, s); err != nil {
			return err
		}
	}
	for _, f := range c.Findings {
		if !f.Known {
			w.printf("\n")
			writeFindingHead(w, f.Finding, s)
			w.printf("%s%s\n", findingIndent, s.paint(dim, clean(f.words())))
			for _, e := range f.Evidence {
				writeEvidence(w, e, s)
			}
			w.printf("%s→ %s\n", findingIndent, wrap(clean(f.Advice), s.width()-len(findingIndent)-2, findingIndent+"  "))
		}
	}
	notes := c.notes()
	if len(notes) > 0 {
		w.printf("\n")
	}
	for _, n := range notes {
		w.printf("  %s\n", s.paint(dim, wrap(clean(n), s.width()-2, "  ")))
	}
	return w.err
}

// notes are what is to be said beside the figures.
func (c *Check) notes() []string {
	if a := c.advice(); a != "" {
		return append([]string{a}, c.Notes...)
	}
	return c.Notes
}

// words say where a finding was made and whether it fails.
func (f *CheckFinding) words() string {
	text := "on load " + f.Load
	if f.Known {
		return text + ", and on the base"
	}
	if f.Fails {
		return text + ", not on the base: fails the check"
	}
	return text + ", not on the base"
}

// maxSummary is how long a summary may be: GitHub takes a MiB from each step, and refuses
// all of a longer one.
const maxSummary = 1000 << 10

// WriteCheckMarkdown prints a check for a pull request. What keeps its limits stands folded
// below, and is left out where all of it would be longer than GitHub takes.
func WriteCheckMarkdown(out io.Writer, c *Check) error {
	var top, rest strings.Builder
	if err := c.markdownTop(&top); err != nil {
		return err
	}
	sheet := c.sheet("", func(r *CheckRow) bool { return r.Standing == compare.Within })
	if len(sheet.Rows) > 0 {
		fmt.Fprintf(&rest, "\n<details><summary>%d within their limits</summary>\n\n", len(sheet.Rows))
		if err := WriteSheetMarkdown(&rest, sheet); err != nil {
			return err
		}
		rest.WriteString("\n</details>\n")
	}
	if top.Len()+rest.Len() > maxSummary {
		rest.Reset()
		fmt.Fprintf(&rest, "\n%d within their limits: too many to list here.\n", len(sheet.Rows))
	}
	text := top.String()
	if len(text)+rest.Len() > maxSummary {
		text = text[:strings.LastIndexByte(text[:maxSummary-rest.Len()-64], '\n')+1] + "\nMore does not fit here.\n"
	}
	_, err := io.WriteString(out, text+rest.String())
	return err
}

// markdownTop is what somebody who reviews has to see.
func (c *Check) markdownTop(out io.Writer) error {
	w := &lines{w: out}
	w.printf("## loupe %s\n\nAgainst %s\n", escape(c.Headline()), escape(c.Base))
	sheet := c.sheet("", func(r *CheckRow) bool { return r.Standing == compare.Beyond || r.Standing == compare.Open })
	if len(sheet.Rows) > 0 {
		w.printf("\n")
		if err := WriteSheetMarkdown(w, sheet); err != nil {
			return err
		}
	}
	for _, b := range c.Broken {
		w.printf("\n**%s** could not be measured:\n\n```\n%s\n```\n", escape(b.heading()), strings.ReplaceAll(terminal.Text(b.Text), "```", "'''"))
	}
	for _, f := range c.Findings {
		if !f.Known {
			w.printf("\n- **%s %s** (%s, %s): %s\n", escape(f.Rule), escape(f.Title), f.Severity, escape(f.words()), escape(f.Summary))
		}
	}
	for _, n := range c.notes() {
		w.printf("\n> %s\n", escape(n))
	}
	return w.err
}

// FigureOf makes a figure of a number, unknown where it is none.
func FigureOf(v float64) gc.Figure {
	if math.IsInf(v, 0) {
		return gc.Unknown()
	}
	return gc.Figure(v)
}
