package report

import (
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"

	"loupe/analysis/compare"
	"loupe/analysis/gc"
	"loupe/value/stack"
	"loupe/value/unit"
)

// MeasuredCause is what the profiles say about the change of a figure of a benchmark, in
// JSON.
type MeasuredCause struct {
	Package string `json:"package,omitempty"`
	Name    string `json:"name"`
	// Of is the unit of the figure that has changed, Change what became of it: "slower, +61%".
	Of     string `json:"of"`
	Change string `json:"change"`
	// Profile is where the cost was found, in Unit: "cpu" and "ns/op".
	Profile string `json:"profile"`
	Unit    string `json:"unit"`
	// Runs are the runs of the profiler on each side.
	Runs  int         `json:"runs"`
	Total MovedCost   `json:"total"`
	Moved []MovedFunc `json:"functions"`
	// Judged is among how many functions those are that moved.
	Judged int `json:"judged"`
	// Notes say what else is to be known, such as why nothing is.
	Notes []string `json:"notes,omitempty"`
}

// MovedCost is the cost of an operation on both sides, and its difference with its interval.
type MovedCost struct {
	Before     float64   `json:"before"`
	After      float64   `json:"after"`
	Difference float64   `json:"difference"`
	Low        gc.Figure `json:"low"`
	High       gc.Figure `json:"high"`
}

// CostOf is the cost of both sides of a comparison of profiles.
func CostOf(d *compare.ProfileDelta) MovedCost {
	return MovedCost{d.A, d.B, d.Difference.Estimate, gc.Figure(d.Difference.Low), gc.Figure(d.Difference.High)}
}

// MovedFunc is a function whose cost moved.
type MovedFunc struct {
	Name string `json:"name"`
	// Was is its name in the earlier build, where that was another one.
	Was string `json:"was,omitempty"`
	MovedCost
	Lines   []MovedLine   `json:"lines,omitempty"`
	Reasons []MovedReason `json:"compiler,omitempty"`
}

// MovedLine is a line whose cost moved. Line is its number in File, the one of the later
// build where it is there.
type MovedLine struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Text string `json:"text"`
	// In is the function outside of the user's code in which most of the difference came about.
	In string `json:"in,omitempty"`
	MovedCost
	Reasons []MovedReason `json:"compiler,omitempty"`
}

// MovedReason is what the compiler says in one of the builds: When is "now", "no longer" or
// "as before".
type MovedReason struct {
	When string `json:"when"`
	Text string `json:"text"`
}

// CauseSheet is the table of the functions and lines behind a change, the words of the
// compiler below it.
func CauseSheet(c *MeasuredCause) *Sheet {
	s := &Sheet{Key: "cause", Title: fmt.Sprintf("Cause: %s, %s %s", strings.TrimPrefix(c.Name, "Benchmark"), c.Of, c.Change), Columns: []Column{
		{"where", "where"}, {"before", "before"}, {"after", "after"}, {"difference", "difference"}, {"interval", "interval"},
	}}
	row := func(where string, m *MovedCost) {
		s.Rows = append(s.Rows, []any{
			where, costs{m.Before, c.Unit}, costs{m.After, c.Unit}, differs{costs{m.Difference, c.Unit}}, m.interval(c.Unit),
		})
	}
	for i := range c.Moved {
		f := &c.Moved[i]
		row(f.Name, &f.MovedCost)
		if f.Was != "" {
			s.Notes = append(s.Notes, fmt.Sprintf("%s was %s before (judging by most of its text)", f.Name, stack.Short(f.Was)))
		}
		for _, r := range f.Reasons {
			s.Notes = append(s.Notes, fmt.Sprintf("%s, %s: %s", f.Name, r.When, r.Text))
		}
		for j := range f.Lines {
			l := &f.Lines[j]
			at := fmt.Sprintf("%s:%d", path.Base(l.File), l.Line)
			row("  "+at+" "+shortened(l.Text), &l.MovedCost)
			if l.In != "" {
				s.Notes = append(s.Notes, fmt.Sprintf("%s: most of it in %s", at, l.In))
			}
			for _, r := range l.Reasons {
				s.Notes = append(s.Notes, fmt.Sprintf("%s, %s: %s", at, r.When, r.Text))
			}
		}
	}
	s.Notes = append(s.Notes, c.Notes...)
	return s
}

// shortened is the text of a line of code that leaves room for figures.
func shortened(text string) string {
	const most = 36 // with the figures behind it, no wider than 100
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}

// interval is that of the difference as text; nothing where there is none, or no width.
func (m *MovedCost) interval(unit string) string {
	low, high := Difference(float64(m.Low), unit), Difference(float64(m.High), unit)
	if !m.Low.Known() || !m.High.Known() || low == high {
		return ""
	}
	return low + " … " + high
}

// Difference is a difference of two costs of an operation as text, with its sign: "+1.20 µs".
func Difference(value float64, unit string) string { return differs{costs{value, unit}}.text() }

// costs is what an operation costs by a profile, which is a mean and never quite whole.
type costs measuredIn

func (c costs) plain() any { return measuredIn(c).plain() }

// text rounds to four digits before it prints three: a mean of 32.0003 bytes is 32.
func (c costs) text() string {
	short, err := strconv.ParseFloat(strconv.FormatFloat(c.value, 'g', 4, 64), 64)
	if err != nil {
		short = c.value
	}
	switch c.unit {
	case "ns/op":
		return unit.Nanoseconds(c.value)
	case "B/op":
		return unit.BytesOf(short)
	}
	return unit.Number(short)
}

// differs is a difference of two costs, with its sign.
type differs struct{ costs }

func (d differs) text() string {
	switch text := (costs{math.Abs(d.value), d.unit}).text(); {
	case d.value > 0:
		return "+" + text
	case d.value < 0:
		return "-" + text
	default:
		return text
	}
}
