// Package leaks shows the verdict of loupe leak; it computes nothing.
package leaks

import (
	"fmt"
	"io"
	"slices"
	"time"

	"loupe/insight"
	"loupe/insight/leak"
	"loupe/report"
	"loupe/value/terminal"
	"loupe/value/unit"
)

// Write prints a verdict as text.
func Write(out io.Writer, v *leak.Verdict, s report.Style) error {
	v = shown(v)
	w := &lines{w: out}
	w.printf("%s\n\n", s.Bold(s.Wrap(headline(v), 0)))
	for _, c := range v.Causes {
		writeCause(w, c, s)
	}
	for _, f := range v.Hints {
		w.printf("  a hint    %s\n", s.Wrap(fmt.Sprintf("%s: %s", f.Rule, f.Summary), 12))
		f.Doubts = nil
		w.note(report.WriteFindingBody(w, f, s))
	}
	for _, l := range v.Limits {
		w.printf("  %s\n", s.Wrap(limitText(l), 4))
	}
	if len(v.Limits) > 0 {
		w.printf("\n")
	}
	if len(v.Looked) > 0 {
		w.note(report.WriteSheet(w, sheet(v), s))
		w.printf("\n")
	}
	for _, n := range v.Needs {
		w.printf("  to decide %s\n", s.Wrap(n, 12))
	}
	for _, d := range v.Doubts {
		w.printf("  %s\n", s.Wrap("? "+d, 4))
	}
	return w.err
}

// shown is a verdict without what a terminal obeys: names in profiles are others' text, and what
// colours of its own the style prints a terminal lets pass.
func shown(v *leak.Verdict) *leak.Verdict {
	c := *v
	c.Name, c.Why, c.Needs, c.Doubts = terminal.Text(v.Name), terminal.Text(v.Why), cleanAll(v.Needs), cleanAll(v.Doubts)
	c.Causes, c.Hints, c.Looked = slices.Clone(v.Causes), slices.Clone(v.Hints), slices.Clone(v.Looked)
	for i, cause := range v.Causes {
		one := *cause
		one.Process, one.Summary, one.Holder, one.Advice = terminal.Text(one.Process), terminal.Text(one.Summary), terminal.Text(one.Holder), terminal.Text(one.Advice)
		one.Evidence, one.Doubts = cleanEvidence(one.Evidence), cleanAll(one.Doubts)
		c.Causes[i] = &one
	}
	for i := range c.Hints {
		h := &c.Hints[i]
		h.Summary, h.Advice, h.Verify, h.Evidence, h.Doubts = terminal.Text(h.Summary), terminal.Text(h.Advice), terminal.Text(h.Verify), cleanEvidence(h.Evidence), cleanAll(h.Doubts)
	}
	for i, l := range v.Looked {
		one := *l
		one.Process, one.By = terminal.Text(one.Process), terminal.Text(one.By)
		c.Looked[i] = &one
	}
	return &c
}

func cleanEvidence(all []insight.Evidence) []insight.Evidence {
	all = slices.Clone(all)
	for i := range all {
		e := &all[i]
		e.Text, e.Path, e.File, e.Short, e.Function, e.Source = terminal.Text(e.Text), terminal.Text(e.Path), terminal.Text(e.File), terminal.Text(e.Short), terminal.Text(e.Function), terminal.Text(e.Source)
		e.Stack = slices.Clone(e.Stack)
		for k := range e.Stack {
			f := &e.Stack[k]
			f.Function, f.File = terminal.Text(f.Function), terminal.Text(f.File)
		}
	}
	return all
}

func cleanAll(all []string) []string {
	all = slices.Clone(all)
	for i := range all {
		all[i] = terminal.Text(all[i])
	}
	return all
}

// headline is the verdict in a sentence.
func headline(v *leak.Verdict) string {
	switch {
	case v.Proved:
		return "A leak, proved by Go: " + v.Why + "."
	case v.Answer == leak.Yes:
		return "A leak: " + v.Why + "."
	case v.Answer == leak.No:
		return "No leak: " + v.Why + "."
	}
	return "Undecided: " + v.Why + "."
}

func writeCause(w *lines, c *leak.Cause, s report.Style) {
	text := c.Summary
	if c.Process != "" {
		text = c.Process + ": " + text
	}
	if c.Rate[0] != c.Rate[2] {
		text += fmt.Sprintf(" [%s, %s]", amount(c.What, c.Rate[0]), amount(c.What, c.Rate[2]))
	}
	if c.PerRequest > 0 {
		text += fmt.Sprintf("; %s for each request", amount(c.What, c.PerRequest))
	}
	if c.KeptShare > 0 {
		text += fmt.Sprintf("; %s of all that is allocated", unit.Percent(c.KeptShare))
	}
	if c.Holder != "" {
		text += "; held by " + c.Holder
	}
	if c.Bounded && c.What != leak.Goroutines {
		text += "; the source removes something at a bound"
	}
	by := "          "
	if c.Rule != "" {
		by = fmt.Sprintf("  %-8s", c.Rule)
	}
	w.printf("%s  %s\n", by, s.Wrap(text, 12))
	w.note(report.WriteFindingBody(w, insight.Finding{Evidence: c.Evidence, Advice: c.Advice, Doubts: c.Doubts}, s))
}

// amount prints what grows in its unit.
func amount(what leak.Matter, v float64) string {
	if what == leak.Heap || what == leak.Outside || what == leak.Resident {
		return unit.BytesOf(v)
	}
	return unit.Number(v)
}

// limitText says when a limit is hit.
func limitText(l leak.Limit) string {
	when := "in about " + lasts(l.Seconds[1])
	if l.Seconds[1] < 0 {
		return fmt.Sprintf("%s (%s): when it is reached cannot be told", l.Of, unit.BytesOf(float64(l.Bytes)))
	}
	if l.Seconds[0] >= 0 && l.Seconds[2] >= 0 {
		when += fmt.Sprintf(" [%s, %s]", lasts(l.Seconds[0]), lasts(l.Seconds[2]))
	}
	return fmt.Sprintf("%s (%s) is reached %s at this rate; then %s", l.Of, unit.BytesOf(float64(l.Bytes)), when, l.Then)
}

func lasts(s float64) string {
	switch {
	case s < 0:
		return "never"
	case s >= 2*24*3600:
		return unit.Plural(int64(s/(24*3600)+0.5), "day")
	case s >= 2*3600:
		return unit.Plural(int64(s/3600+0.5), "hour")
	}
	return unit.Duration(time.Duration(s * 1e9))
}

// sheet is what was measured again and again.
func sheet(v *leak.Verdict) *report.Sheet {
	s := &report.Sheet{Key: "looked", Title: "What was measured", Columns: []report.Column{
		{Key: "what", Head: "what"}, {Key: "shape", Head: "what became of it"}, {Key: "from", Head: "first"}, {Key: "to", Head: "last"},
		{Key: "rise", Head: "rise"}, {Key: "time", Head: "over"}, {Key: "by", Head: "by"},
	}}
	for _, l := range v.Looked {
		over := "–"
		if l.Seconds > 0 {
			over = unit.Duration(time.Duration(l.Seconds * 1e9))
		}
		rise := "–"
		if l.Points > 2 {
			rise = amount(l.What, l.Rise[1]) + "/" + l.Per
		}
		s.Rows = append(s.Rows, []any{l.Subject(), string(l.Shape), amount(l.What, l.From), amount(l.What, l.To), rise, over, l.By})
	}
	return s
}

// lines remembers the first failure.
type lines struct {
	w   io.Writer
	err error
}

// Write passes p on until something fails.
func (l *lines) Write(p []byte) (int, error) {
	if l.err != nil {
		return len(p), nil
	}
	n, err := l.w.Write(p)
	l.note(err)
	return n, err
}

func (l *lines) note(err error) {
	if l.err == nil {
		l.err = err
	}
}

func (l *lines) printf(format string, args ...any) { fmt.Fprintf(l, format, args...) }
