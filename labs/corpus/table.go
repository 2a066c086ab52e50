package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
)

// printList prints what there is.
func printList(w io.Writer, bugs []Truth) error {
	for _, t := range bugs {
		if _, err := fmt.Fprintf(w, "%s  %s\n     %s\n     %s\n", t.Folder(), t.Class, t.Wrong, t.Source); err != nil {
			return err
		}
	}
	return nil
}

func printHead(w io.Writer) {
	fmt.Fprintf(w, "%-32s %-11s %8s  %-5s %-4s %-6s %-5s %4s  %-9s %s\n",
		"bug", "class", "effect", "cause", "line", "advice", "first", "left", "load", "rules")
}

// printScore prints the line of a bug and, where it is not right, what was said instead.
func printScore(w io.Writer, s Score) {
	times := fmt.Sprintf("%.2f×", s.Effect)
	if !s.Valid {
		times = "!" + times
	}
	fmt.Fprintf(w, "%-32s %-11s %8s  %-5s %-4s %-6s %-5s %4d  %-9s %s\n", s.folder(), s.Class, times,
		mark(s.Cause), mark(s.Line), mark(s.Advice), mark(s.Card), len(s.Left), fmt.Sprintf("%.1f %.1f", s.Load[0], s.Load[1]),
		cmp.Or(s.Rule, "-")+" | "+strings.Join(s.left(), " "))
	if !s.Right() || !s.Card {
		fmt.Fprintf(w, "      first card: %s\n", s.First)
	}
	if !s.Right() {
		for _, said := range s.Warned {
			fmt.Fprintf(w, "      warned: %s\n", said)
		}
	}
}

func mark(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

// printSums prints what the scores add up to.
func printSums(w io.Writer, c *Scores) {
	fmt.Fprintf(w, "\n%-12s %5s %8s %6s %5s %7s %6s %6s %14s %6s\n", "", "bugs", "invalid", "cause", "line", "advice", "right", "first", "left per bug", "cards")
	for _, u := range c.Sums {
		if u.Bugs+u.Invalid == 0 {
			continue
		}
		fmt.Fprintf(w, "%-12s %5d %8d %6d %5d %7d %6d %6d %14.1f %6.1f\n", u.Name, u.Bugs, u.Invalid, u.Cause, u.Line, u.Advice, u.Right, u.Card,
			float64(u.Left)/float64(max(1, u.Bugs)), float64(u.LeftCards)/float64(max(1, u.Bugs)))
	}
	rules := c.leftRules()
	for i, rule := range rules {
		rules[i] = fmt.Sprintf("%s %d", rule, c.Left[rule])
	}
	if len(rules) > 0 {
		fmt.Fprintf(w, "\nwarnings on fixed forms: %s\n", strings.Join(rules, ", "))
	}
}
