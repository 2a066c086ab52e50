package labs

import (
	"slices"
	"strings"
)

// RuleLab is a small program that one rule must find something in, with a clean twin in
// which it must not: the form fixed of the same. The programs are those of loupe/labs/rules.
type RuleLab struct {
	Rule string
	// Record are the flags of loupe run: what the rule needs, and no more.
	Record []string
	// Slow are those of the slow form besides, where the fault is in how it is built or run.
	Slow []string
	// Load are those of its load and, last, the path to ask for; none for a program that
	// ends by itself.
	Load []string
	// Quiet tells that the twin is clean on a quiet machine alone, so that a recording of it
	// is kept: the rule judges the machine as well.
	Quiet bool
}

// Command returns the words that record a form.
func (l RuleLab) Command(form string) []string {
	words := slices.Concat([]string{"loupe", "run"}, l.Record)
	if form == "slow" {
		words = append(words, l.Slow...)
	}
	if l.Load != nil {
		flags, path := l.Load[:len(l.Load)-1], l.Load[len(l.Load)-1]
		words = append(slices.Concat(words, flags), "-load", "http://localhost:8080"+path)
	}
	words = append(words, "loupe/labs/rules", "-rule", l.Rule, "-form", form)
	if l.Load != nil {
		words = append(words, "-addr", "localhost:8080")
	}
	return words
}

// What the rules need, most of them one profile.
var (
	allocated = []string{"-phases", "allocs"}
	computed  = []string{"-phases", "cpu"}
	traced    = []string{"-phases", "bare:1m,trace"} // the programs end by themselves, sooner: a whole run each
	counters  = []string{"-phases", "bare:5s", "-interval", "200ms"}
	kept      = []string{"-phases", "bare:5s,heap"}

	again   = []string{"-phases", "bare:5s,repeats"}
	asked   = []string{"-phases", "bare:1s,cpu:2s,repeats"}
	blocked = []string{"-phases", "bare:1m,block"}
	oneProc = []string{"-phases", "bare:60s", "-interval", "200ms", "-env", "GOMAXPROCS=1"}
	bare    = []string{"-phases", "bare:4s"}
	staged  = []string{"-phases", "bare:6s"}
	served  = []string{"-phases", "bare:1s,trace:2s"}
	fifty   = []string{"-c", "20", "-rate", "50/s", "/"}
)

// RuleLabs are those of rules that no other lab and no bug of the corpus shows.
var RuleLabs = []RuleLab{
	{Rule: "AL01", Record: computed}, {Rule: "AL05", Record: allocated}, {Rule: "AL06", Record: allocated},
	{Rule: "AL07", Record: allocated}, {Rule: "AL10", Record: allocated}, {Rule: "AL11", Record: allocated},
	{Rule: "AL13", Record: allocated}, {Rule: "AL15", Record: allocated}, {Rule: "AL16", Record: computed},
	{Rule: "AL17", Record: allocated}, {Rule: "AL18", Record: computed}, {Rule: "AL19", Record: allocated},
	{Rule: "AL20", Record: kept}, {Rule: "AL21", Record: allocated}, {Rule: "AL22", Record: allocated}, {Rule: "AL23", Record: allocated},
	{Rule: "CP01", Record: computed}, {Rule: "CP02", Record: computed}, {Rule: "CP05", Record: computed},
	{Rule: "CP06", Record: computed}, {Rule: "CP07", Record: computed}, {Rule: "CP08", Record: computed},
	{Rule: "CP11", Record: computed}, {Rule: "CP12", Record: computed}, {Rule: "CP13", Record: computed}, {Rule: "CP14", Record: computed},
	{Rule: "CP15", Record: computed}, {Rule: "CP16", Record: computed}, {Rule: "CP17", Record: computed}, {Rule: "CP19", Record: computed}, {Rule: "CP21", Record: allocated}, {Rule: "CP22", Record: computed}, {Rule: "CP23", Record: computed}, {Rule: "CP24", Record: computed}, {Rule: "CP25", Record: computed}, {Rule: "CP26", Record: again}, {Rule: "CP27", Record: again},
	{Rule: "CP28", Record: asked, Load: fifty}, {Rule: "CP30", Record: []string{"-phases", "bare:2s,cpu:4s"}, Load: fifty}, {Rule: "CP29", Record: []string{"-phases", "cpu:3s,repeats"}},
	{Rule: "GC03", Record: counters}, {Rule: "GC04", Record: counters}, {Rule: "GC05", Record: traced},
	{Rule: "GC06", Record: oneProc}, {Rule: "GC10", Record: counters}, {Rule: "GC13", Record: counters},
	{Rule: "GC15", Record: counters}, {Rule: "GC16", Record: kept},
	{Rule: "SC04", Record: traced}, {Rule: "SC12", Record: counters},
	{Rule: "SC13", Record: computed}, {Rule: "SC15", Record: traced}, {Rule: "SC16", Record: computed},
	{Rule: "SC18", Record: traced},
	{Rule: "LK04", Record: traced}, {Rule: "LK07", Record: blocked}, {Rule: "LK08", Record: traced},
	{Rule: "SC06", Record: traced, Quiet: true}, {Rule: "GC01", Record: counters, Quiet: true}, {Rule: "GC02", Record: traced, Quiet: true},
	{Rule: "BE06", Record: counters, Quiet: true},
	{Rule: "SC07", Record: served, Load: fifty, Quiet: true}, {Rule: "SC14", Record: served, Load: fifty},
	{Rule: "BE03", Record: computed, Slow: []string{"-build", "-cover"}},
	{Rule: "BE04", Record: computed}, {Rule: "BE05", Record: allocated, Slow: []string{"-env", "GODEBUG=memprofilerate=1"}},
	{Rule: "BE08", Record: computed}, {Rule: "BE10", Record: counters, Slow: []string{"-env", "GODEBUG=clobberfree=1"}},
	{Rule: "BE11", Record: computed},
	{Rule: "LD01", Record: staged, Load: strings.Fields("-c 8 -stages 0s:60,2s:60,0s:400,2s:400,0s:800,2s:800 /")},
	{Rule: "LD03", Record: bare, Load: strings.Fields("-c 4 -z 3s /"), Quiet: true},
	{Rule: "LD04", Record: bare, Load: strings.Fields("-c 50 -z 2s /"), Quiet: true},
	{Rule: "LD05", Record: bare, Load: strings.Fields("-c 4 -n 1000 /")},
	{Rule: "WT05", Record: traced}, {Rule: "WT09", Record: traced}, {Rule: "WT11", Record: served, Load: fifty},
}
