package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"loupe/analysis/compare"
	"loupe/analysis/gc"
	"loupe/value/unit"
)

// MeasuredSchema is the version of the JSON form of what loupe bench measures.
const MeasuredSchema = "loupe.bench/1"

// FigureSheet is the table of the figures of benchmarks on two sides, with verdicts.
// Sides are what before and after are called.
func FigureSheet(figures []compare.Figure, sides [2]string) *Sheet {
	s := &Sheet{Key: "figures", Columns: []Column{
		{"benchmark", "benchmark"}, {"unit", "unit"}, {"before", sides[0]}, {"after", sides[1]}, {"ratio", "change"},
		{"interval", "interval"}, {"rounds", "rounds"}, {"verdict", "verdict"},
	}}
	floored := slices.ContainsFunc(figures, func(f compare.Figure) bool { return f.Floor != nil })
	if floored {
		s.Columns = slices.Insert(s.Columns, 6, Column{"floor", "noise floor"})
		s.Notes = append(s.Notes, "The noise floor is how much two builds of the same base differ. A change has to lie beyond its far end.")
	}
	last := ""
	for _, f := range figures {
		name := strings.TrimPrefix(f.Name, "Benchmark")
		if full := f.Package + " " + name; full == last {
			name = ""
		} else {
			last = full
		}
		verdict := string(f.Verdict)
		switch {
		case f.Exact:
			verdict += ", exactly"
		case f.WithinFloor:
			verdict += ", within the noise floor"
		case f.Verdict == compare.Undecided && (f.Low > 1 || f.High < 1):
			verdict += " among this many rows"
		case f.Verdict == compare.Undecided && f.Needs > 0 && f.Needs <= manyRounds:
			verdict += fmt.Sprintf(", needs about %d more", f.Needs)
		}
		ratio := float64(f.Ratio)
		row := []any{
			name, f.Unit, measuredIn{f.Before, f.Unit}, measuredIn{f.After, f.Unit}, sample{ratio, unit.Change(ratio)},
			figureInterval(&f), f.N, verdict,
		}
		if floored {
			row = slices.Insert(row, 6, any(floorWords(f.Floor)))
		}
		s.Rows = append(s.Rows, row)
	}
	if slices.ContainsFunc(figures, againstMedians) {
		s.Notes = append(s.Notes, "A change is estimated from paired rounds, not from the medians before and after, which may point the other way.")
	}
	return s
}

// againstMedians tells of a figure that its change points another way than its medians, by
// more than a little.
func againstMedians(f compare.Figure) bool {
	medians, ratio := f.After/f.Before-1, float64(f.Ratio)-1
	return !f.Exact && (medians < -0.02 && ratio > 0 || medians > 0.02 && ratio < 0)
}

// manyRounds is the number of rounds from which on it is of no use to tell how many more
// would decide: the change is none, or the machine is too loud.
const manyRounds = 1000

// figureInterval is that of a change as text: "-4.1% … -2.0%".
func figureInterval(f *compare.Figure) string {
	if f.Exact || f.Verdict == compare.NoVerdict || !f.Low.Known() || !f.High.Known() {
		return ""
	}
	return unit.Change(float64(f.Low)) + " … " + unit.Change(float64(f.High))
}

// floorWords is the interval of a noise floor.
func floorWords(f *compare.Floor) string {
	if f == nil || !f.Low.Known() {
		return ""
	}
	return unit.Change(float64(f.Low)) + " … " + unit.Change(float64(f.High))
}

// measuredIn is a figure of a unit of Go's benchmark format.
type measuredIn struct {
	value float64
	unit  string
}

func (q measuredIn) plain() any { return sample{value: q.value}.plain() }

// text prints times and bytes with their prefix, everything else as a number.
func (q measuredIn) text() string {
	switch {
	case math.IsNaN(q.value):
		return "–"
	case strings.HasSuffix(q.unit, "ns/op"):
		return unit.Nanoseconds(q.value)
	case q.unit == "B/op" && q.value == math.Trunc(q.value) && q.value < 1e5: // bytes are compared one by one
		return unit.Count(int64(q.value)) + " B"
	case strings.HasSuffix(q.unit, "-B"), q.unit == "B/op":
		return unit.BytesOf(q.value)
	case q.value == math.Trunc(q.value) && math.Abs(q.value) < 1e15:
		return unit.Count(int64(q.value))
	case q.value != 0 && math.Abs(q.value) < 0.001:
		return fmt.Sprintf("%.2g", q.value)
	}
	return unit.Number(q.value)
}

// CommandLine is what was measured of one command.
type CommandLine struct {
	// Name is the command, Params its parameters: "size=4".
	Name, Params string
	// Wall are the times of its rounds; the others are medians.
	Median, Low, High time.Duration
	User, System      time.Duration
	// Peak is the largest resident set in bytes, 0 where it is not known.
	Peak   int64
	Rounds int
	// Ratio is how much longer it takes than the fastest of its parameters.
	Ratio float64
}

// CommandSheet is the table of commands.
func CommandSheet(lines []CommandLine) *Sheet {
	s := &Sheet{Key: "commands", Columns: []Column{{"command", "command"}}}
	params := slices.ContainsFunc(lines, func(l CommandLine) bool { return l.Params != "" })
	if params {
		s.Columns = append(s.Columns, Column{"parameters", "parameters"})
	}
	s.Columns = append(s.Columns, Column{"median_ns", "median"}, Column{"min_ns", "min"}, Column{"max_ns", "max"},
		Column{"user_ns", "user"}, Column{"system_ns", "system"}, Column{"peak_rss", "peak RSS"}, Column{"rounds", "rounds"}, Column{"ratio", "to fastest"})
	for _, l := range lines {
		var peak any
		if l.Peak > 0 {
			peak = Bytes(l.Peak)
		}
		row := []any{l.Name}
		if params {
			row = append(row, l.Params)
		}
		s.Rows = append(s.Rows, append(row, l.Median, l.Low, l.High, l.User, l.System, peak, l.Rounds, sample{l.Ratio, "×" + unit.Number(l.Ratio)}))
	}
	return s
}

// Measured is the JSON form of what loupe bench has measured.
type Measured struct {
	Schema string `json:"schema"`
	// Sides are what is compared; one where nothing is.
	Sides []string `json:"sides"`
	// Figures are the verdicts, Cases all rounds.
	Figures []MeasuredFigure `json:"figures,omitempty"`
	Cases   []MeasuredCase   `json:"cases"`
	// Causes are what profiles say about the figures that have changed, Recordings where
	// the profiles are.
	Causes     []*MeasuredCause `json:"causes,omitempty"`
	Recordings []string         `json:"recordings,omitempty"`
	// Bisected is what a walk through revisions has found; nil without one. The figures are
	// those of its last step then.
	Bisected *Bisected `json:"bisected,omitempty"`
	// Failed and Notes are what is to be said beside it.
	Failed []string `json:"failed,omitempty"`
	Notes  []string `json:"notes,omitempty"`
}

// MeasuredFigure is a verdict in JSON. What there is none of is null.
type MeasuredFigure struct {
	Package string    `json:"package,omitempty"`
	Name    string    `json:"name"`
	Unit    string    `json:"unit"`
	Against string    `json:"against"` // the side that is held against the first
	Before  float64   `json:"before"`
	After   float64   `json:"after"`
	Ratio   gc.Figure `json:"ratio"`
	Low     gc.Figure `json:"low"`
	High    gc.Figure `json:"high"`
	P       float64   `json:"p"`
	// Confidence is that of the interval, at the looks that there were.
	Confidence float64 `json:"confidence"`
	Method     string  `json:"method"`
	Rounds     int     `json:"rounds"`
	Verdict    string  `json:"verdict"`
	Exact      bool    `json:"exact"`
	// Needs is about how many more rounds would decide, 0 where nobody knows.
	Needs int `json:"needs,omitempty"`
	// Floor is what two builds of the first side differ by; WithinFloor tells that the change
	// has no verdict because of it.
	Floor       *compare.Floor `json:"floor,omitempty"`
	WithinFloor bool           `json:"within_floor,omitempty"`
}

// MeasuredCase is a benchmark or a command with all of its rounds.
type MeasuredCase struct {
	Package string `json:"package,omitempty"`
	Name    string `json:"name"`
	// Sides has the results of each side, as package bench has them.
	Sides []any `json:"sides"`
	// Stopped tells that it was decided before the last round, Failed why it was not
	// measured any further.
	Stopped bool   `json:"stopped,omitempty"`
	Failed  string `json:"failed,omitempty"`
}

// MeasuredFigures are the verdicts against a side in JSON.
func MeasuredFigures(figures []compare.Figure, against string) (out []MeasuredFigure) {
	for _, f := range figures {
		one := MeasuredFigure{
			Package: f.Package, Name: f.Name, Unit: f.Unit, Against: against, Before: f.Before, After: f.After,
			Ratio: f.Ratio, Low: f.Low, High: f.High, P: f.P, Confidence: f.Confidence,
			Method: string(f.Method), Rounds: f.N, Verdict: string(f.Verdict), Exact: f.Exact, Needs: f.Needs,
			Floor: f.Floor, WithinFloor: f.WithinFloor,
		}
		out = append(out, one)
	}
	return out
}
