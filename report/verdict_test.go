package report

import (
	"slices"
	"strings"
	"testing"

	"loupe/analysis/facts"
	"loupe/insight"
	"loupe/recording"
	"loupe/session"
)

// TestVerdict: a report begins with a cause. What depends on when threads ran, as all of it does
// on a busy machine, is named first only where it is serious.
func TestVerdict(t *testing.T) {
	pause := insight.Finding{Rule: "GC01", State: insight.Found, Title: "Long stop-the-world pause", Severity: insight.Info,
		Evidence: []insight.Evidence{{File: "/go/src/runtime/mgc.go", Line: 1912, Function: "runtime.gcBgMarkWorker"}}}
	hot := insight.Finding{Rule: "CP01", State: insight.Found, Title: "Hot function", Severity: insight.Info,
		Evidence: []insight.Evidence{{File: "main.go", Line: 7, Function: "main.run"}}}
	most := hot
	most.Impact = &insight.Impact{Value: 0.86, Unit: "share of CPU samples"}
	waits := hot
	waits.Impact = &insight.Impact{Value: 0.94, Unit: "share of the time of requests"}
	part := hot
	part.Impact = &insight.Impact{Value: 0.43, Unit: "share of CPU samples"}
	lines := hot
	lines.Impact = &insight.Impact{Value: 0.511, Unit: "share of CPU samples"}
	some := hot
	some.Impact = &insight.Impact{Value: 0.42, Unit: "share of CPU samples"}
	feed := &insight.Evidence{File: "/src/shell/shell.go", Short: "shell/shell.go", Line: 58, Function: "example.org/x/shell.(*Shell).feed"}
	mosts := map[*insight.Impact]*insight.Most{
		most.Impact:  {Share: 0.86, Of: "CPU time"},
		waits.Impact: {Share: 0.94, Of: "time of requests"},
		part.Impact:  {Share: 0.913, Of: "CPU time", Through: feed},
		lines.Impact: {Share: 0.511, Of: "CPU time", Line: 0.464},
		some.Impact:  {Share: 0.927, Of: "CPU time", Functions: 3},
	}
	grave := pause
	grave.Severity = insight.Warning
	for want, all := range map[string][]insight.Finding{
		"Nothing serious was found. Hot function, at main.go:7 in main.run. 1 further remark.":                                                                              {hot, pause},
		"No rule names a fault, but what follows is about 51.1% of the CPU time; 46.4% is at the line it names. Hot function, at main.go:7 in main.run.":                    {lines},
		"Nothing serious was found. Hot function, at main.go:7 in main.run.":                                                                                                {hot},
		"No rule names a fault, but one place takes 86.0% of the CPU time. Hot function, at main.go:7 in main.run.":                                                         {most},
		"No rule names a fault, but one place takes 94.0% of the time of requests. Hot function, at main.go:7 in main.run.":                                                 {waits},
		"No rule names a fault, but 91.3% of the CPU time goes through shell.(*Shell).feed at shell/shell.go:58. Hot function, at main.go:7 in main.run. 1 further remark.": {part, part},
		"No rule names a fault, but 3 functions take 92.7% of the CPU time. Hot function, at main.go:7 in main.run. 2 further remarks.":                                     {some, some, some},
		"Nothing serious was found: what stands out depends on when threads ran.":                                                                                           {pause},
		"Long stop-the-world pause, at /go/src/runtime/mgc.go:1912 in runtime.gcBgMarkWorker. One remark follows.":                                                          {grave, hot},
	} {
		r := &Recording{Manifest: &recording.Manifest{Entries: []recording.Entry{{Path: "cpu.pb.gz", Kind: recording.CPU}}}, Findings: append(all[:len(all):len(all)], insight.Finding{Rule: "CP02", State: insight.Fine})}
		for i := range all {
			c := insight.Card{Finding: i}
			if i == 0 {
				c.Most = mosts[all[i].Impact]
			}
			r.Cards = append(r.Cards, c)
		}
		if got := r.verdict(len(r.Cards)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestNothingSerious: that nothing serious was found is said only of a recording that shows what the program
// spends its time on.
func TestNothingSerious(t *testing.T) {
	pause := insight.Finding{Rule: "GC01", State: insight.Found, Title: "Long stop-the-world pause", Severity: insight.Info}
	holds := insight.Finding{Rule: "GC16", State: insight.Found, Title: "One line holds most of the live heap", Severity: insight.Info}
	states := func(question string, state insight.State) (all []insight.Finding) {
		for _, r := range insight.Rules() {
			for _, q := range r.Asks {
				if string(q) == question {
					all = append(all, insight.Finding{Rule: r.ID, State: state})
				}
			}
		}
		return all
	}
	const (
		serious = "Nothing serious was found"
		nobody  = "Nothing can be said of what the program spends its time on: there is no CPU profile and no execution trace"
		file    = "Nothing in this file is serious, but what the program spends its time on is not in it."
		little  = "Too little is in the recorded profiles to say what the program spends its time on"
	)
	missed := []recording.Missed{{Profiler: "cpu", Reason: "the program has no agent"}, {Profiler: "trace", Reason: "the program has no agent"}}
	ended := []recording.Missed{{Profiler: "cpu", Reason: "the process ended"}, {Profiler: "trace", Reason: "the process ended"}}
	heap, log := recording.Entry{Kind: recording.Heap}, recording.Entry{Kind: recording.Stderr}
	cpu, trace := recording.Entry{Kind: recording.CPU}, recording.Entry{Kind: recording.ExecTrace}
	for _, row := range []struct {
		what    string
		m       recording.Manifest
		files   int
		others  []insight.Finding
		finding insight.Finding
		want    []string
	}{
		{"the reason is noted", recording.Manifest{Target: recording.Target{Kind: "package"}, Entries: []recording.Entry{log}, Missed: ended}, 0, nil, pause,
			[]string{nobody, "(asked for, but not recorded: the process ended)."}},
		{"one of them was asked for", recording.Manifest{Target: recording.Target{Kind: "url"}, Entries: []recording.Entry{log}, Missed: ended[:1]}, 0, nil, pause,
			[]string{nobody, "(the CPU profile was asked for, but not recorded: the process ended; record with -phases trace)."}},
		{"two reasons", recording.Manifest{Target: recording.Target{Kind: "pid"}, Entries: []recording.Entry{log}, Missed: []recording.Missed{ended[0], missed[1]}}, 0, nil, pause,
			[]string{nobody, "the CPU profile was asked for, but not recorded: the process ended; the execution trace was asked for, but not recorded: the program has no agent"}},
		{"a ready binary", recording.Manifest{Target: recording.Target{Kind: "binary"}, Entries: []recording.Entry{log}, Missed: missed}, 0, nil, pause,
			[]string{nobody, "give loupe run the package rather than the binary, or let the program serve /debug/pprof", "depends on when threads ran"}},
		{"one that was not asked for profiles", recording.Manifest{Target: recording.Target{Kind: "binary"}, Entries: []recording.Entry{log}}, 0, nil, pause, []string{nobody, "record with -phases cpu,trace"}},
		{"a package, bare", recording.Manifest{Target: recording.Target{Kind: "package"}, Entries: []recording.Entry{log, heap}}, 0, nil, holds, []string{nobody, "record with -phases cpu,trace", "One line holds most"}},
		{"a heap profile alone", recording.Manifest{Entries: []recording.Entry{heap}}, 1, nil, holds, []string{file, "One line holds most"}},
		{"a log alone", recording.Manifest{Entries: []recording.Entry{log}}, 1, nil, pause, []string{file, "depends on when threads ran"}},
		{"two files", recording.Manifest{Entries: []recording.Entry{log, heap}}, 2, nil, holds, []string{"Nothing in these files is serious"}},
		{"a CPU profile alone", recording.Manifest{Entries: []recording.Entry{cpu}}, 1, states("cpu", insight.Fine), holds, []string{serious}},
		{"few samples", recording.Manifest{Entries: []recording.Entry{cpu}}, 0, states("cpu", insight.TooLittle), holds, []string{little}},
		{"few samples in a file", recording.Manifest{Entries: []recording.Entry{cpu}}, 1, states("cpu", insight.TooLittle), holds, []string{little}},
		{"few samples, of a program that waits", recording.Manifest{Entries: []recording.Entry{cpu, trace}}, 0, append(states("cpu", insight.TooLittle), states("scheduling", insight.Fine)...), pause, []string{serious}},
		{"an empty trace", recording.Manifest{Entries: []recording.Entry{trace}}, 0, states("scheduling", insight.TooLittle), pause, []string{little}},
	} {
		r := &Recording{Manifest: &row.m, Findings: append([]insight.Finding{row.finding}, row.others...), Cards: []insight.Card{{Finding: 0}}, Files: make([]session.File, row.files)}
		if row.files == 0 {
			r.Files = nil
		}
		got := r.verdict(len(r.Cards))
		for _, want := range row.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q, want %q in it", row.what, got, want)
			}
		}
		if row.want[0] != serious && strings.Contains(got, serious) {
			t.Errorf("%s: %q", row.what, got)
		}
		// What is serious comes first whatever there is.
		r.Findings[0].Severity = insight.Warning
		if got := r.verdict(len(r.Cards)); !strings.HasPrefix(got, row.finding.Title) {
			t.Errorf("%s: %q", row.what, got)
		}
	}
}

// TestLittleCPU: that nothing serious is in a CPU profile says little of a program that waits most of the time, and nothing of
// one whose profile cannot be read.
func TestLittleCPU(t *testing.T) {
	finding := insight.Finding{Rule: "GC16", State: insight.Found, Title: "One line holds most of the live heap", Severity: insight.Info}
	states := func(state insight.State, of ...facts.Question) (all []insight.Finding) {
		all = append(all, finding)
		for _, r := range insight.Rules() {
			if slices.ContainsFunc(r.Asks, func(q facts.Question) bool { return slices.Contains(of, q) }) {
				all = append(all, insight.Finding{Rule: r.ID, State: state})
			}
		}
		return all
	}
	entries := func(kinds ...recording.Kind) (m recording.Manifest) {
		m.Target.Kind = "package"
		for _, kind := range kinds {
			m.Entries = append(m.Entries, recording.Entry{Kind: kind})
		}
		return m
	}
	const serious, waits = "Nothing serious was found. One line", "Nothing serious is in the CPU profile, but the program used only 11.9% of a CPU: what it waits for in the rest of the time is not shown"
	fine, little := states(insight.Fine, facts.CPU), states(insight.TooLittle, facts.CPU, facts.Scheduling)
	for _, row := range []struct {
		what  string
		m     recording.Manifest
		all   []insight.Finding
		time  insight.TimeGaps
		files int
		want  string
	}{
		{"it waits", entries(recording.CPU), fine, insight.TimeGaps{Used: 0.119}, 0, waits + " (record with -phases trace). One line"},
		{"in a file", entries(recording.CPU), fine, insight.TimeGaps{Used: 0.119}, 1, waits + ". One line"},
		{"it works", entries(recording.CPU), fine, insight.TimeGaps{Used: 0.6}, 0, serious},
		{"nobody knows", entries(recording.CPU), fine, insight.TimeGaps{}, 0, serious},
		{"the waits are seen", entries(recording.CPU, recording.ExecTrace), append(fine, states(insight.Fine, facts.Scheduling)...), insight.TimeGaps{Used: 0.119}, 0, serious},
		{"by a block profile", entries(recording.CPU, recording.Block), append(fine, states(insight.Fine, facts.WaitTimes)...), insight.TimeGaps{Used: 0.119}, 0, serious},
		{"damaged", entries(recording.CPU), little, insight.TimeGaps{Unread: []string{"cpu.pb.gz"}}, 0, "Nothing can be said of what the program spends its time on: cpu.pb.gz cannot be read. Record it again. One line"},
		{"both", entries(recording.CPU, recording.ExecTrace), little, insight.TimeGaps{Unread: []string{"cpu.pb.gz", "trace.out"}}, 0, "cpu.pb.gz and trace.out cannot be read."},
		{"damaged, but the other tells", entries(recording.CPU, recording.ExecTrace), states(insight.Fine, facts.Scheduling), insight.TimeGaps{Unread: []string{"cpu.pb.gz"}}, 0, serious},
	} {
		r := &Recording{Manifest: &row.m, Findings: row.all, Cards: []insight.Card{{Finding: 0}}, Time: row.time}
		if row.files > 0 {
			r.Files = make([]session.File, row.files)
		}
		if got := r.verdict(len(r.Cards)); !strings.Contains(got, row.want) {
			t.Errorf("%s: %q, want %q in it", row.what, got, row.want)
		}
	}
}
