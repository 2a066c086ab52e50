package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"loupe/analysis/compare"
	"loupe/insight"
)

// ProofSchema is the version of the JSON form of what loupe prove came to.
const ProofSchema = "loupe.prove/1"

// Proved is what loupe prove came to.
type Proved struct {
	Schema string `json:"schema"`
	// Finding is the one of the recording.
	Finding insight.Finding `json:"finding"`
	// Sides say what was held against each other: what is before, and what is after.
	Sides [2]string `json:"sides"`
	insight.Proof
	// Says is the answer in one sentence, and what it rests on.
	Says string `json:"says"`
	// Table has all figures of both sides.
	Table *compare.Table `json:"table,omitempty"`
	Notes []string       `json:"notes,omitempty"`
	// Recordings are where the rounds are kept.
	Recordings []string `json:"recordings,omitempty"`
}

// Say fills in the sentence.
func (p *Proved) Say() {
	f := &p.Finding
	what := f.Rule
	if file, function := f.Place(); function != "" {
		what += " in " + shownFunction(function)
		for _, e := range f.Evidence {
			if e.Function == function && e.Line > 0 {
				what = fmt.Sprintf("%s at %s:%d in %s", f.Rule, file, e.Line, shownFunction(function))
				break
			}
		}
	}
	p.Says = p.reason(what) + p.price()
}

// reason says what the answer rests on.
func (p *Proved) reason(what string) string {
	after := p.Sides[1]
	switch p.Because {
	case insight.Fell:
		return fmt.Sprintf("%s is fixed: %s, and it is no longer found%s.", what, p.figure(), map[bool]string{true: " in two recordings"}[p.Confirmed])
	case insight.Unsteady:
		return fmt.Sprintf("%s is found in one of two recordings of %s: it is near the rule's threshold, or appears by chance (a longer recording, or more load, would show); %s.", what, after, p.figure())
	case insight.Little:
		return fmt.Sprintf("%s is no longer found, but far less was saved than it had cost (%s): %s. Its cost may now be where %s does not see it.", what, p.cost(), p.figure(), p.Finding.Rule)
	case insight.TooSmall:
		return fmt.Sprintf("%s is fixed: %s. That is less than the finding alone was; too little is left for %s to examine.", what, p.figure(), p.Finding.Rule)
	case insight.Still:
		return fmt.Sprintf("%s is still found%s; %s.", what, p.shares(), p.figure())
	case insight.Moved:
		return fmt.Sprintf("%s is gone there, but costs as much elsewhere: %s; %s.", what, clean(p.Elsewhere[0].Summary), p.figure())
	case insight.NotLess:
		return fmt.Sprintf("%s is no longer found, but the figure it is about has not fallen: %s.", what, p.figure())
	case insight.SameBuild:
		return fmt.Sprintf("nothing was changed: %s and %s are the same program, run the same way.", p.Sides[0], after)
	case insight.Unseen:
		return fmt.Sprintf("%s is not found in %s either: it did not appear this time (a longer recording, or more load, may show it); %s.", what, p.Sides[0], p.figure())
	case insight.Blind:
		return fmt.Sprintf("%s could not be checked in %s: too little is left for %s to judge (give it more work); %s.", what, after, p.Finding.Rule, p.figure())
	case insight.NoFigure:
		return fmt.Sprintf("%s is no longer found, but the rounds lack the figure it is about (%s): counting it needs the agent, which a prebuilt binary does not have, and a load or a program that ends on its own.", what, strings.Join(p.Finding.Figures(), ", "))
	case insight.Failing:
		return fmt.Sprintf("a program failed: the measurement says nothing about %s.", what)
	}
	text := fmt.Sprintf("%s is no longer found, but it is undecided whether the figure it is about has fallen: %s", what, p.figure())
	if p.Needs > 0 {
		text += "; needs " + compare.Needs(p.Needs, p.Each)
	}
	return text + "."
}

// figure says what has become of the row that the finding is about.
func (p *Proved) figure() string {
	if p.Figure == nil {
		return "the rounds lack the figure it is about"
	}
	r, pairs := p.Figure, "in one pair of rounds"
	if p.Rounds != 1 {
		pairs = fmt.Sprintf("in %d pairs of rounds", p.Rounds)
	}
	c := r.Changes[0]
	verdict := map[compare.Verdict]string{compare.Undecided: ", undecided", compare.NoVerdict: ", too few rounds to tell", compare.Same: ", the same"}[c.Verdict]
	return fmt.Sprintf("%s went from %s to %s, %s%s, %s", r.Name, median(r.Unit, &r.Cells[0]), median(r.Unit, &r.Cells[1]), change(c), verdict, pairs)
}

// shares say how large a finding is on both sides.
func (p *Proved) shares() string {
	before, after := p.FoundBefore, p.FoundAfter
	if before == nil || after == nil || before.Impact == nil || after.Impact == nil || before.Impact.Unit != after.Impact.Unit || !strings.HasPrefix(before.Impact.Unit, "share of") {
		return ""
	}
	return fmt.Sprintf(" (%s of %s, before %s)", quantity(compare.Share, after.Impact.Value), strings.TrimPrefix(after.Impact.Unit, "share of "), quantity(compare.Share, before.Impact.Value))
}

// cost says what part of the figure the finding was before.
func (p *Proved) cost() string {
	i := cmp.Or(p.FoundBefore, &p.Finding).Impact
	if i == nil {
		return "unknown"
	}
	return fmt.Sprintf("%s [%s, %s] of %s", quantity(compare.Share, i.Value), quantity(compare.Share, i.Low), quantity(compare.Share, i.High), strings.TrimPrefix(i.Unit, "share of "))
}

// price says what got worse that a user feels.
func (p *Proved) price() string {
	var parts []string
	for _, r := range p.Worse {
		parts = append(parts, fmt.Sprintf("%s %s", r.Name, change(r.Changes[0])))
	}
	if len(parts) == 0 || p.Answer == insight.Unproven && p.Because == insight.Failing {
		return ""
	}
	return " What users notice got worse: " + strings.Join(parts, ", ") + "."
}

// WriteProof prints the answer, what it rests on, and the figures that bear on it.
func WriteProof(out io.Writer, p *Proved, s Style) error {
	w := &lines{w: out}
	paint := map[insight.Answer]string{insight.Yes: green, insight.No: red, insight.Unproven: yellow}[p.Answer]
	head := string(p.Answer) + ": "
	w.printf("%s%s\n", s.paint(paint, head), wrap(clean(p.Says), s.width()-len(head), "    "))
	for _, f := range p.Elsewhere {
		if p.Because != insight.Moved {
			w.printf("    %s\n", wrap(fmt.Sprintf("%s is new elsewhere: %s", f.Rule, clean(f.Summary)), s.width()-4, "    "))
		}
	}
	if p.Table != nil {
		shown := *p.Table
		shown.Rows = slices.DeleteFunc(slices.Clone(p.Table.Rows), func(r compare.Row) bool {
			mine := p.Figure != nil && r.ID == p.Figure.ID
			return !mine && !insight.Felt(r.ID)
		})
		shown.Notes = nil
		w.printf("\n")
		writeTable(w, &shown, s)
	}
	for _, n := range p.Notes {
		w.printf("  %s\n", s.paint(yellow, wrap("Note: "+clean(n), s.width()-2, "  ")))
	}
	return w.err
}
