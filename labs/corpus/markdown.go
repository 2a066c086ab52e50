package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// printMarkdown prints the tables of docs/diagnosis.md.
func printMarkdown(w io.Writer, c *Scores) {
	fmt.Fprintf(w, "| | bugs | cause | line | advice | all three | first card | warnings left a bug | cards |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, u := range c.Sums {
		if u.Bugs > 0 {
			fmt.Fprintf(w, "| %s | %d | %d | %d | %d | %d | %d | %.1f | %.1f |\n", u.Name, u.Bugs, u.Cause, u.Line, u.Advice, u.Right, u.Card, float64(u.Left)/float64(u.Bugs), float64(u.LeftCards)/float64(u.Bugs))
		}
	}
	fmt.Fprintf(w, "\n| bug | class | effect | cause | line | advice | first card | left on the fixed form |\n|---|---|--:|---|---|---|---|---|\n")
	for _, s := range c.Bugs {
		fmt.Fprintf(w, "| %s | %s |%s\n", s.folder(), s.Class, s.cells())
	}
	printRates(w, c)
}

// rate is on how many forms a rule warned: on slow ones of which it names the cause, on
// others, and on fixed ones.
type rate struct{ caught, others, fixed int }

// printRates prints the rates of all rules that warned or were to.
func printRates(w io.Writer, c *Scores) {
	rates := map[string]*rate{}
	get := func(rule string) *rate {
		if rates[rule] == nil {
			rates[rule] = new(rate)
		}
		return rates[rule]
	}
	forms := 0
	for _, s := range c.Bugs {
		if !s.Valid {
			continue
		}
		forms++
		for _, rule := range rulesOf(s.Warned) {
			if rule == s.Rule && s.Cause {
				get(rule).caught++
			} else {
				get(rule).others++
			}
		}
		for _, rule := range rulesOf(s.Left) {
			get(rule).fixed++
		}
	}
	fmt.Fprintf(w, "\n| rule | warned of the cause | and of something else in a slow form | warned of a fixed form, of %d |\n|---|--:|--:|--:|\n", forms)
	for _, rule := range slices.Sorted(maps.Keys(rates)) {
		r := rates[rule]
		fmt.Fprintf(w, "| %s | %d | %d | %d |\n", rule, r.caught, r.others, r.fixed)
	}
}

// rulesOf are the rules of some warnings, each once.
func rulesOf(said []string) (rules []string) {
	for _, text := range said {
		if rule, _, _ := strings.Cut(text, ":"); !slices.Contains(rules, rule) {
			rules = append(rules, rule)
		}
	}
	return rules
}

// cells are those of the row of a bug from the effect on.
func (s *Score) cells() string {
	if !s.Valid {
		return fmt.Sprintf(" %.2f× | not reached | | | | |", s.Effect)
	}
	said := func(is bool, what string) string {
		if is {
			return what
		}
		return "–"
	}
	return fmt.Sprintf(" %.1f× | %s | %s | %s | %s | %s |", s.Effect, said(s.Cause, s.Rule), said(s.Line, "yes"), said(s.Advice, "yes"), said(s.Card, "yes"), strings.Join(s.left(), " "))
}

// left lists the rules that warn on the fixed form.
func (s *Score) left() (rules []string) {
	for _, said := range s.Left {
		rule, _, _ := strings.Cut(said, ":")
		rules = append(rules, rule)
	}
	return rules
}

// leftRules lists the rules that warn on fixed forms, those first that do so most.
func (c *Scores) leftRules() []string {
	return slices.SortedFunc(maps.Keys(c.Left), func(a, b string) int { return cmp.Or(c.Left[b]-c.Left[a], cmp.Compare(a, b)) })
}
