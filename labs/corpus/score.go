package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
	"time"
)

// Score is how right a report is about one bug.
type Score struct {
	Number int     `json:"number"`
	Name   string  `json:"name"`
	Class  string  `json:"class"`
	Figure string  `json:"figure"`
	Effect float64 `json:"effect"`
	// Valid tells that the effect was reached: otherwise the bug did not show on this
	// machine, and nothing is to be scored.
	Valid bool `json:"valid"`
	// Cause tells that a rule that names the cause warned, Line that it did so at the
	// line at fault, Advice that its advice has one of the words.
	Cause  bool   `json:"cause"`
	Line   bool   `json:"line"`
	Advice bool   `json:"advice"`
	Rule   string `json:"rule,omitempty"` // the one that came closest
	// Card tells that the first card is that cause, or has it folded.
	Card bool `json:"card"`
	// First and Warned say what else the report has: the rule and sentence of its first
	// card, and all warnings of the slow form.
	First  string   `json:"first"`
	Warned []string `json:"warned"`
	// Left are the warnings of the fixed form, LeftCards how many cards warn: one cause is one card.
	Left      []string `json:"left"`
	LeftCards int      `json:"left_cards"`
	// Load is the average load of the machine when each form was recorded.
	Load [2]float64 `json:"load"`
}

// folder is the name of the bug's folder.
func (s *Score) folder() string { return fmt.Sprintf("%03d-%s", s.Number, s.Name) }

// Right tells that cause, line and advice are.
func (s *Score) Right() bool { return s.Cause && s.Line && s.Advice }

// Judge scores what was said of the forms of a bug. Rules that judge the recording, and
// not the program, are not counted as warnings.
func Judge(t Truth, places []Place, slow, fixed Said, measurement map[string]bool) Score {
	s := Score{Number: t.Number, Name: t.Name, Class: t.Class, Figure: t.Figure, First: "none"}
	s.Effect = effect(t.Figure, &slow, &fixed)
	s.Valid = s.Effect >= t.Effect
	s.Load = [2]float64{slow.Manifest.Host.Load, fixed.Manifest.Host.Load}
	right := func(f *Finding) bool { return f.warns() && slices.Contains(t.Rules, f.Rule) }
	atLine := func(f *Finding) bool { return len(places) == 0 || f.at(places) }
	best := -1
	for i := range slow.Findings {
		f := &slow.Findings[i]
		if f.warns() && !measurement[f.Rule] {
			s.Warned = append(s.Warned, f.Rule+": "+f.Summary)
		}
		if !right(f) {
			continue
		}
		line, advice := atLine(f), f.advises(t.Advice)
		rank := 0
		if line {
			rank += 2
		}
		if advice {
			rank++
		}
		if rank > best {
			best = rank
			s.Cause, s.Line, s.Advice, s.Rule = true, line, advice, f.Rule
		}
	}
	if len(slow.Cards) > 0 {
		card := slow.Cards[0]
		for _, i := range append([]int{card.Finding}, card.Symptoms...) {
			f := &slow.Findings[i]
			s.Card = s.Card || right(f) && atLine(f)
		}
		first := slow.Findings[card.Finding]
		s.First = first.Rule + " (" + first.Severity + "): " + first.Summary
	}
	s.Left, s.LeftCards = fixed.left(measurement)
	return s
}

// Scores are those of a run of the command.
type Scores struct {
	Schema string   `json:"schema"` // loupe.corpus/1
	Time   string   `json:"time"`
	Go     string   `json:"go"`
	CPUs   int      `json:"cpus"`
	Bugs   []Score  `json:"bugs"`
	Failed []string `json:"failed,omitempty"` // could not be recorded
	Sums   []Sum    `json:"sums"`
	// Left counts the warnings on fixed forms by rule.
	Left map[string]int `json:"left"`
}

// Sum adds up the scores of a class or of all. Bugs that are not valid are counted as
// such, and nowhere else.
type Sum struct {
	Name    string `json:"name"`
	Bugs    int    `json:"bugs"`
	Invalid int    `json:"invalid"`
	Cause   int    `json:"cause"`
	Line    int    `json:"line"`
	Advice  int    `json:"advice"`
	Right   int    `json:"right"`
	Card    int    `json:"card"`
	Left    int    `json:"left"`
	// LeftCards counts the cards that warn.
	LeftCards int `json:"left_cards"`
}

func (u *Sum) add(s *Score) {
	if !s.Valid {
		u.Invalid++
		return
	}
	count := func(n *int, is bool) {
		if is {
			*n++
		}
	}
	count(&u.Bugs, true)
	count(&u.Cause, s.Cause)
	count(&u.Line, s.Line)
	count(&u.Advice, s.Advice)
	count(&u.Right, s.Right())
	count(&u.Card, s.Card)
	u.Left += len(s.Left)
	u.LeftCards += s.LeftCards
}

// describe fills in what can be computed, and where it was measured.
func (c *Scores) describe() {
	c.Schema, c.Go, c.CPUs = "loupe.corpus/1", runtime.Version(), runtime.NumCPU()
	if c.Time == "" {
		c.Time = time.Now().UTC().Format(time.RFC3339)
	}
	c.Sums, c.Left = nil, map[string]int{}
	sum := func(name string, is func(s *Score) bool) {
		u := Sum{Name: name}
		for i := range c.Bugs {
			if is(&c.Bugs[i]) {
				u.add(&c.Bugs[i])
			}
		}
		c.Sums = append(c.Sums, u)
	}
	for _, class := range Classes {
		sum(class, func(s *Score) bool { return s.Class == class })
	}
	sum("even", func(s *Score) bool { return s.Number%2 == 0 })
	sum("odd", func(s *Score) bool { return s.Number%2 == 1 })
	sum("all", func(*Score) bool { return true })
	for _, s := range c.Bugs {
		for _, left := range s.left() {
			if s.Valid {
				c.Left[left]++
			}
		}
	}
}

// write writes them as JSON.
func (c *Scores) write(file string) error {
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}
