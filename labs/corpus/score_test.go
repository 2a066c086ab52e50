package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// truth is the one that the tests judge by.
var truth = Truth{Number: 7, Name: "slow", Class: "cpu", Rules: []string{"CP04", "WT01"}, Advice: []string{"bufio"}, Figure: "cpu", Effect: 1.5}

var lines = []Place{{"store.go", 10, 12}}

// said makes a report of one figure and of findings "RULE severity file:line advice".
func said(t *testing.T, cpu float64, cards string, findings ...string) (s Said) {
	t.Helper()
	type object = map[string]any
	var all []object
	for _, text := range findings {
		part := strings.SplitN(text, " ", 4)
		file, line, _ := strings.Cut(part[2], ":")
		all = append(all, object{
			"rule": part[0], "state": "finding", "severity": part[1], "summary": "slow", "advice": part[3],
			"evidence": []object{{"file": "/src/" + file, "line": json.Number(line)}},
		})
	}
	report, err := json.Marshal(object{
		"findings": all,
		"cards":    json.RawMessage(cards),
		"manifest": object{"host": object{"load": 2.5}},
		"figures":  object{"rows": []object{{"id": "cpu", "cells": []object{{"median": cpu}}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(report, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestJudge(t *testing.T) {
	fixed := said(t, 10, `[{"finding": 1, "symptoms": [0]}, {"finding": 2}]`, "BE06 warning x.go:1 none", "SC01 warning x.go:1 none", "GC05 info x.go:1 none")
	f := func(want string, slow Said) {
		t.Helper()
		s := Judge(truth, lines, slow, fixed, map[string]bool{"BE06": true})
		got := ""
		for _, one := range []struct {
			is   bool
			name string
		}{{s.Valid, "valid"}, {s.Cause, "cause"}, {s.Line, "line"}, {s.Advice, "advice"}, {s.Card, "card"}, {s.Right(), "right"}} {
			if one.is {
				got += " " + one.name
			}
		}
		if got = strings.TrimSpace(got); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if !slices.Equal(s.Left, []string{"SC01: slow"}) {
			t.Errorf("%q is left", s.Left)
		}
		if s.LeftCards != 1 {
			t.Errorf("%d cards are left", s.LeftCards)
		}
	}
	one := `[{"finding": 0}]`
	f("valid cause line advice card right", said(t, 20, one, "CP04 warning store.go:11 Use bufio."))
	f("cause line advice card right", said(t, 14, one, "CP04 warning store.go:11 Use bufio."))
	f("valid cause line card", said(t, 20, one, "CP04 warning store.go:12 Write less."))
	f("valid cause advice", said(t, 20, one, "CP04 warning store.go:13 Use bufio."))
	f("valid cause advice", said(t, 20, one, "CP04 warning other.go:11 Use bufio."))
	f("valid", said(t, 20, one, "CP04 info store.go:11 Use bufio."))
	f("valid", said(t, 20, one, "CP01 warning store.go:11 Use bufio."))
	f("valid", said(t, 20, "[]"))
	// The one that is most right counts, and the first card may have it folded.
	both := []string{"CP01 warning store.go:11 x", "WT01 warning other.go:11 Use bufio.", "CP04 critical store.go:10 Use bufio."}
	f("valid cause line advice right", said(t, 20, `[{"finding": 0, "symptoms": [1]}, {"finding": 2}]`, both...))
	f("valid cause line advice card right", said(t, 20, `[{"finding": 0, "symptoms": [1, 2]}]`, both...))
	// Advice of one and the line of another are not right.
	f("valid cause line card", said(t, 20, one, "CP04 warning store.go:11 Write less.", "WT01 warning other.go:11 Use bufio."))
}

// TestSummaryNames: a line counts where the sentence alone names it.
func TestSummaryNames(t *testing.T) {
	f := func(summary string, want bool) {
		t.Helper()
		if got := (&Finding{Summary: summary}).at(lines); got != want {
			t.Errorf("%q: %v", summary, got)
		}
	}
	f("30% in main.put at store.go:10", true)
	f("30% in main.put at labs/x/store.go:12, twice", true)
	f("30% in main.put at store.go:13", false)
	f("30% in main.put at restore.go:10", false)
}

// TestNoLine: where the fault is in no line, the cause is enough.
func TestNoLine(t *testing.T) {
	slow := said(t, 20, `[{"finding": 0}]`, "CP04 warning x.go:1 Use bufio.")
	if s := Judge(truth, nil, slow, said(t, 10, "[]"), nil); !s.Right() || !s.Card {
		t.Errorf("%+v", s)
	}
}

func TestEffect(t *testing.T) {
	set := func(id string, v float64) (s Said) {
		text, _ := json.Marshal(map[string]any{"figures": map[string]any{"rows": []any{map[string]any{"id": id, "cells": []any{map[string]any{"median": v}}}}}})
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	f := func(id string, slow, fixed, want float64) {
		t.Helper()
		a, b := set(id, slow), set(id, fixed)
		if got := effect(id, &a, &b); got != want {
			t.Errorf("%s of %v and %v: %v, want %v", id, slow, fixed, got, want)
		}
	}
	f("requests_per_sec", 100, 400, 4)
	f("latency_p50", 400, 100, 4)
	f("cpu", 400, 0, 0)
}

func TestSums(t *testing.T) {
	c := Scores{Bugs: []Score{
		{Number: 1, Class: "cpu", Valid: true, Cause: true, Line: true, Advice: true, Card: true, Left: []string{"SC01: a", "GC05: b"}, LeftCards: 1},
		{Number: 2, Class: "cpu", Valid: true, Cause: true},
		{Number: 3, Class: "kept", Cause: true, Left: []string{"SC01: a"}}, // the effect was not reached
	}}
	c.describe()
	sum := func(name string) Sum {
		return c.Sums[slices.IndexFunc(c.Sums, func(u Sum) bool { return u.Name == name })]
	}
	for _, want := range []Sum{
		{Name: "cpu", Bugs: 2, Cause: 2, Line: 1, Advice: 1, Right: 1, Card: 1, Left: 2, LeftCards: 1},
		{Name: "kept", Invalid: 1},
		{Name: "odd", Bugs: 1, Invalid: 1, Cause: 1, Line: 1, Advice: 1, Right: 1, Card: 1, Left: 2, LeftCards: 1},
		{Name: "even", Bugs: 1, Cause: 1},
		{Name: "all", Bugs: 2, Invalid: 1, Cause: 2, Line: 1, Advice: 1, Right: 1, Card: 1, Left: 2, LeftCards: 1},
	} {
		if got := sum(want.Name); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	if c.Left["SC01"] != 1 || c.Left["GC05"] != 1 {
		t.Errorf("left: %v", c.Left)
	}
	var out bytes.Buffer
	printHead(&out)
	printScore(&out, c.Bugs[1])
	printScore(&out, c.Bugs[2])
	printSums(&out, &c)
	printMarkdown(&out, &c)
	for _, want := range []string{"| odd | 1 | 1 | 1 | 1 | 1 | 1 | 2.0 |", "| 002- | cpu | 0.0× |  | – | – | – |  |", "| 003- | kept | 0.00× | not reached |", "| SC01 | 0 | 0 | 1 |", "002- ", "!0.00×", "warnings on fixed forms: GC05 1, SC01 1"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

// TestChoose: what the command line names.
func TestChoose(t *testing.T) {
	all := []Truth{{Number: 1}, {Number: 2}, {Number: 3}, {Number: 4}}
	f := func(o options, want ...int) {
		t.Helper()
		if o.tenth == 0 {
			o.tenth = -1
		}
		chosen, err := o.choose(all)
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, c := range chosen {
			got = append(got, c.Number)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%+v chooses %v, want %v", o, got, want)
		}
	}
	f(options{}, 1, 2, 3, 4)
	f(options{even: true}, 2, 4)
	f(options{odd: true}, 1, 3)
	f(options{only: "3,4"}, 3, 4)
	f(options{only: "3,4", odd: true}, 3)
	f(options{tenth: 2}, 2)
	for _, o := range []options{{even: true, odd: true}, {only: "5"}, {only: "x"}, {tenth: 10}} {
		if _, err := o.choose(all); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
	if len(all) != 4 || all[3].Number != 4 {
		t.Error("the list was changed")
	}
}

// TestReach: a bug that does not show on this machine counts for neither side.
func TestReach(t *testing.T) {
	c := &Scores{Bugs: []Score{{Valid: true, Cause: true}, {Valid: true}, {Cause: true}}}
	for least, want := range map[int]string{0: "", 50: "", 51: "of 2 bugs the cause was found of 1, want 51%"} {
		got := ""
		if err := c.reach(least); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%d%%: %q, want %q", least, got, want)
		}
	}
	if err := new(Scores).reach(50); err != nil {
		t.Error(err)
	}
}
