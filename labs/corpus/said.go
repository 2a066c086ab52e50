package main

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Said is a report of loupe as far as it is scored.
type Said struct {
	Findings []Finding
	Cards    []Card
	Manifest struct {
		Host struct {
			Load float64 // of the machine, when the recording began
		}
	}
	Figures struct {
		Rows []struct {
			ID    string
			Cells []struct{ Median float64 }
		}
	}
}

// Finding is an answer of a rule.
type Finding struct {
	Rule, State, Severity, Summary, Advice string
	Evidence                               []struct {
		File string
		Line int
	}
}

// Card is one cause: the position of its finding, and of those that are folded under it.
type Card struct {
	Finding  int
	Symptoms []int
}

// Figures are the rows that an effect may be measured in.
var Figures = []string{"requests_per_sec", "latency_p50", "latency_p99", "cpu_per_request", "bytes_per_request", "cpu", "wall_time", "peak_heap", "max_rss"}

// figure returns the value of a row, 0 where there is none.
func (s *Said) figure(id string) float64 {
	for _, row := range s.Figures.Rows {
		if row.ID == id && len(row.Cells) > 0 {
			return row.Cells[0].Median
		}
	}
	return 0
}

// effect is how many times worse a figure is in the slow form.
func effect(figure string, slow, fixed *Said) float64 {
	a, b := slow.figure(figure), fixed.figure(figure)
	if figure == "requests_per_sec" { // the one of which more is better
		a, b = b, a
	}
	if b == 0 {
		return 0
	}
	return a / b
}

// warns tells whether it is more than a note.
func (f *Finding) warns() bool {
	return f.State == "finding" && f.Severity != "info"
}

// left are the warnings of a report, and the number of cards that warn: one cause is one card, however many findings
// show it. Rules that judge the recording are not counted.
func (s *Said) left(measurement map[string]bool) (warnings []string, cards int) {
	counts := func(f *Finding) bool { return f.warns() && !measurement[f.Rule] }
	for i := range s.Findings {
		if f := &s.Findings[i]; counts(f) {
			warnings = append(warnings, f.Rule+": "+f.Summary)
		}
	}
	for _, c := range s.Cards {
		if counts(&s.Findings[c.Finding]) {
			cards++
		}
	}
	return warnings, cards
}

// at tells whether the finding names one of the lines, as evidence or in its sentence.
func (f *Finding) at(places []Place) bool {
	named := func(file string, line int) bool {
		return slices.ContainsFunc(places, func(p Place) bool {
			return p.File == path.Base(file) && p.First <= line && line <= p.Last
		})
	}
	for _, e := range f.Evidence {
		if named(e.File, e.Line) {
			return true
		}
	}
	for _, m := range placeName.FindAllStringSubmatch(f.Summary, -1) {
		line := 0
		if _, err := fmt.Sscan(m[2], &line); err == nil && named(m[1], line) {
			return true
		}
	}
	return false
}

var placeName = regexp.MustCompile(`([\w./-]+\.go):(\d+)`)

// advises tells whether one of the words is in the advice.
func (f *Finding) advises(words []string) bool {
	advice := strings.ToLower(f.Advice)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(advice, strings.ToLower(w)) })
}
