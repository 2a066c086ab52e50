package insight

import (
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/unit"
)

// TestLead: where nothing is a warning, the card that is about most of something comes first and says what the line takes
// that it names; what depends on when threads ran comes last where the busy machine is the reason.
func TestLead(t *testing.T) {
	const main = "runtime.main main.main:/src/main.go:5 "
	hot := func(severity Severity, value float64, line int, function string) Finding {
		return Finding{Rule: "CP01", State: Found, Severity: severity, Score: 50, Impact: &Impact{Value: value, Unit: cpuSamples},
			costs: []cost{{function: function}}, Evidence: []Evidence{{File: "/src/main.go", Line: line, Function: function}}}
	}
	library := func(severity Severity, value float64, line int) Finding {
		return Finding{Rule: "CP23", State: Found, Severity: severity, Score: 50, Impact: &Impact{Value: value, Unit: cpuSamples}, saves: true,
			costs: []cost{{callee: "regexp.(*Regexp).MatchString"}}, Evidence: []Evidence{{File: "/src/main.go", Line: line}}}
	}
	pause := func(severity Severity, crowded bool) Finding {
		return Finding{Rule: "GC01", State: Found, Severity: severity, Score: 100, crowded: crowded, Impact: &Impact{Value: 0.9, Unit: "share of pauses over 100 µs"}}
	}
	lines := 90
	waits := func(severity Severity, share float64) Finding {
		lines++
		return Finding{Rule: "WT01", State: Found, Severity: severity, Score: 50, Impact: &Impact{Value: share, Unit: "share of the time of requests"}, Evidence: []Evidence{{File: "/src/main.go", Line: lines}}}
	}
	of := func(rule, unit string) Finding {
		return Finding{Rule: rule, State: Found, Severity: Info, Score: 100, Impact: &Impact{Value: 0.9, Unit: unit}}
	}
	most := []column{
		{main + "main.match:/src/main.go:20 regexp/syntax.(*Regexp).String", []int64{48}},
		{main + "main.match:/src/main.go:21 main.key:/src/main.go:22", []int64{2}},
		{main + "main.match:/src/main.go:23", []int64{10}},
		{main + "main.each:/src/main.go:30 regexp.(*Regexp).MatchString", []int64{30}},
		{main + "main.rest:/src/main.go:40", []int64{10}},
	}
	even := []column{
		{main + "main.match:/src/main.go:20 regexp/syntax.(*Regexp).String", []int64{40}},
		{main + "main.each:/src/main.go:30 regexp.(*Regexp).MatchString", []int64{30}},
		{main + "main.rest:/src/main.go:40", []int64{30}},
	}
	for _, row := range []struct {
		name  string
		all   []Finding
		first string
		most  string // what the first card says that it takes
		last  string
	}{
		{"a remark whose gain is known, and a function with twice as much", []Finding{library(Info, 0.30, 30), hot(Info, 0.60, 20, "main.match")}, "CP01", "60.0% of CPU time, 48.0% at its line", "CP23"},
		{"the function has less than half", []Finding{library(Info, 0.30, 30), hot(Info, 0.40, 20, "main.match")}, "CP23", "", "CP01"},
		{"a warning goes before", []Finding{library(Warning, 0.30, 30), hot(Info, 0.60, 20, "main.match")}, "CP23", "", "CP01"},
		{"pauses of a busy machine, and a wait", []Finding{pause(Info, true), waits(Info, 0.787)}, "WT01", "78.7% of time of requests", "GC01"},
		{"pauses of a busy machine, and a short wait", []Finding{pause(Info, true), waits(Info, 0.2)}, "WT01", "", "GC01"},
		{"pauses of the program, and a short wait", []Finding{pause(Info, false), waits(Info, 0.2)}, "WT01", "", "GC01"},
		{"a few functions have nearly all", []Finding{pause(Info, false), hot(Info, 0.42, 20, "main.match"), hot(Info, 0.30, 30, "main.each"), hot(Info, 0.20, 40, "main.rest")}, "CP01", "92.0% of CPU time, 3 functions", "GC01"},
		{"they have less", []Finding{library(Info, 0.30, 30), hot(Info, 0.42, 20, "main.match"), hot(Info, 0.30, 31, "main.each")}, "CP23", "", "CP01"},
		{"there are more of them", []Finding{hot(Info, 0.25, 20, "main.match"), hot(Info, 0.25, 21, "main.other"), hot(Info, 0.25, 30, "main.each"), hot(Info, 0.20, 40, "main.rest")}, "CP01", "", "CP01"},
		{"a wait, and one P at work", []Finding{waits(Info, 0.6), of("SC01", "share of the busy time with one P at work")}, "WT01", "60.0% of time of requests", "SC01"},
		{"a function's time, of which a call has most", []Finding{hot(Info, 0.40, 20, "main.rest"), of("CP26", "share of the time of main.rest")}, "CP01", "58.0% of CPU time, 48.0% at its line", "CP26"},
		{"pauses that are grave", []Finding{pause(Warning, false), waits(Info, 0.787)}, "GC01", "", "WT01"},
		{"pauses of a busy machine below a warning", []Finding{waits(Warning, 0.787), pause(Info, true), waits(Info, 0.01)}, "WT01", "", "GC01"},
		{"pauses of the program below a warning", []Finding{waits(Warning, 0.787), pause(Info, false), waits(Info, 0.01)}, "WT01", "", "WT01"},
		{"nothing but pauses", []Finding{pause(Info, true)}, "GC01", "", "GC01"},
	} {
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
		columns := most
		switch row.name {
		case "the function has less than half", "a few functions have nearly all", "they have less", "there are more of them":
			columns = even
		}
		withProfile(r, recording.CPU, "cpu", columns...)
		cards := Cards(NewInput(session.New(r.Open())), row.all)
		rule := func(i int) string { return row.all[cards[i].Finding].Rule }
		got := ""
		if m := cards[0].Most; m != nil {
			got = unit.Percent(m.Share) + " of " + m.Of
			if m.Line > 0 {
				got += ", " + unit.Percent(m.Line) + " at its line"
			}
			if m.Functions > 0 {
				got += ", " + unit.Plural(int64(m.Functions), "function")
			}
		}
		if rule(0) != row.first || rule(len(cards)-1) != row.last || got != row.most {
			t.Errorf("%s: first %s (%q), last %s, want %s (%q) and %s", row.name, rule(0), got, rule(len(cards)-1), row.first, row.most, row.last)
		}
		for _, c := range cards[1:] {
			if c.Most != nil {
				t.Errorf("%s: %s says as well that it takes most", row.name, row.all[c.Finding].Rule)
			}
		}
	}
}
