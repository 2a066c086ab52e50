package insight

import (
	"slices"
	"strings"
	"testing"

	"loupe/analysis/compare"
	"loupe/analysis/gc"
)

// proofRow is a row of a comparison with a verdict.
func proofRow(id string, before, after float64, verdict compare.Verdict) compare.Row {
	c := compare.Change{Ratio: gc.Figure(after / before), Low: gc.Figure(after / before * 0.98), High: gc.Figure(after / before * 1.02), Verdict: verdict, Needs: 23}
	return compare.Row{ID: id, Name: id, Better: compare.Lower, Cells: []compare.Cell{{Median: gc.Figure(before)}, {Median: gc.Figure(after)}}, Changes: []compare.Change{c}}
}

// foundIn is a finding of a rule in a function.
func foundIn(rule, function string, share float64, unit string) Finding {
	return Finding{
		Rule: rule, State: Found, Impact: &Impact{Value: share, Low: share - 0.02, High: share + 0.02, Unit: unit},
		Evidence: []Evidence{{File: "/src/a/main.go", Line: 7, Function: function}},
	}
}

// TestProve has one line for each reason of an answer.
func TestProve(t *testing.T) {
	const bytes = "share of allocated bytes"
	one := foundIn("AL08", "main.f", 0.6, bytes)
	fine, short := Finding{Rule: "AL08", State: Fine}, Finding{Rule: "AL08", State: TooLittle}
	f := func(name string, before, after []Finding, rows []compare.Row, answer Answer, because Because) {
		t.Helper()
		p := Prove(Trial{Finding: &one, Table: &compare.Table{Rows: rows, Rounds: []int{10, 10}}, Before: before, After: after})
		if p.Answer != answer || p.Because != because {
			t.Errorf("%s: %s, %s; want %s, %s", name, p.Answer, p.Because, answer, because)
		}
	}
	had, gone := []Finding{one}, []Finding{fine}
	less := []compare.Row{proofRow("allocated", 100, 30, compare.Improved)}
	f("less and gone", had, gone, less, Yes, Fell)
	f("less and still found", had, had, less, No, Still)
	f("less and still found, in another line", had, []Finding{{Rule: "AL08", State: Found, Evidence: []Evidence{{File: "/other/main.go", Line: 99, Function: "main.f"}}}}, less, No, Still)
	f("gone, the same", had, gone, []compare.Row{proofRow("allocated", 100, 100, compare.Same)}, No, NotLess)
	f("gone, more", had, gone, []compare.Row{proofRow("allocated", 100, 120, compare.Regressed)}, No, NotLess)
	f("gone, undecided", had, gone, []compare.Row{proofRow("allocated", 100, 95, compare.Undecided)}, Unproven, Open)
	f("gone, too few rounds", had, gone, []compare.Row{proofRow("allocated", 100, 30, compare.NoVerdict)}, Unproven, Open)
	f("not found before either", gone, gone, less, Unproven, Unseen)
	f("before cannot be looked at: the recording stands", []Finding{{Rule: "AL08", State: NotApplicable}}, gone, less, Yes, Fell)
	f("another figure fell", had, gone, []compare.Row{proofRow("cpu", 100, 30, compare.Improved)}, Unproven, NoFigure)
	f("of a request", had, gone, []compare.Row{proofRow("bytes_per_request", 100, 30, compare.Improved)}, Yes, Fell)

	// Too little is left to look at: only what is less than the finding alone was proves it.
	f("all that is left is less than it was", had, []Finding{short}, less, Yes, TooSmall)
	f("what is left may be it", had, []Finding{short}, []compare.Row{proofRow("allocated", 100, 70, compare.Improved)}, Unproven, Blind)

	// Something else has become less, by less than a quarter of the finding's cost.
	f("gone, and far less is gone than it was", had, gone, []compare.Row{proofRow("allocated", 100, 90, compare.Improved)}, Unproven, Little)
	f("gone, and more than a quarter of it is", had, gone, []compare.Row{proofRow("allocated", 100, 80, compare.Improved)}, Yes, Fell)
	f("gone, of a figure that the share is not of", []Finding{foundIn("AL08", "main.f", 0.6, "share of CPU samples")}, gone, []compare.Row{proofRow("allocated", 100, 90, compare.Improved)}, Yes, Fell)

	// The line was moved to another function: as much is allocated there.
	f("moved", had, []Finding{foundIn("AL08", "main.g", 0.7, bytes)}, []compare.Row{proofRow("allocated", 100, 80, compare.Improved)}, No, Moved)
	f("another one has a larger share of the rest", had, []Finding{foundIn("AL08", "main.g", 0.5, bytes)}, less, Yes, Fell)
}

// TestProveAgain: what is found in one of two recordings lies near its rule's threshold, and is not
// called fixed.
func TestProveAgain(t *testing.T) {
	one := foundIn("AL08", "main.f", 0.6, "share of allocated bytes")
	table := &compare.Table{Rows: []compare.Row{proofRow("allocated", 100, 30, compare.Improved)}, Rounds: []int{10, 10}}
	fine := []Finding{{Rule: "AL08", State: Fine}}
	f := func(again []Finding, answer Answer, because Because, confirmed bool) {
		t.Helper()
		p := Prove(Trial{Finding: &one, Table: table, Before: []Finding{one}, After: fine, Again: again})
		if p.Answer != answer || p.Because != because || p.Confirmed != confirmed {
			t.Errorf("%s, %s, confirmed %v; want %s, %s, %v", p.Answer, p.Because, p.Confirmed, answer, because, confirmed)
		}
	}
	f(nil, Yes, Fell, false)
	f(fine, Yes, Fell, true)
	f([]Finding{one}, Unproven, Unsteady, true)
	f([]Finding{foundIn("AL08", "main.g", 0.6, "share of allocated bytes")}, Yes, Fell, true)
}

// TestProveOutcome: what failed decides nothing, and the same program is no change.
func TestProveOutcome(t *testing.T) {
	one := foundIn("AL08", "main.f", 0.6, "share of allocated bytes")
	table := &compare.Table{Rows: []compare.Row{proofRow("allocated", 100, 30, compare.Improved), proofRow("latency_p99", 10, 20, compare.Regressed), proofRow("gc_total", 10, 20, compare.Regressed)}, Rounds: []int{3, 4}}
	trial := Trial{Finding: &one, Table: table, Before: []Finding{one}, After: []Finding{{Rule: "AL08", State: Fine}}}
	if p := Prove(trial); p.Answer != Yes || len(p.Worse) != 1 || p.Worse[0].ID != "latency_p99" || p.Rounds != 3 {
		t.Errorf("a price is not told: %+v", p)
	}
	trial.Failed = true
	if p := Prove(trial); p.Answer != Unproven || p.Because != Failing {
		t.Errorf("a program that failed proves something: %+v", p)
	}
	trial.SameBuild, trial.Failed = true, false
	if p := Prove(trial); p.Answer != No || p.Because != SameBuild {
		t.Errorf("the same build: %+v", p)
	}
}

// TestProofNeeds: what is open says what it needs.
func TestProofNeeds(t *testing.T) {
	one := foundIn("CP01", "main.f", 0.6, "share of CPU samples")
	f := func(rounds, want int, needs int) {
		t.Helper()
		row := proofRow("cpu", 100, 95, compare.Undecided)
		row.Changes[0].Needs = needs
		p := Prove(Trial{Finding: &one, Table: &compare.Table{Rows: []compare.Row{row}, Rounds: []int{rounds, rounds}}, Before: []Finding{one}, After: []Finding{{Rule: "CP01", State: Fine}}})
		if p.Because != Open || p.Needs != want {
			t.Errorf("%d rounds: %s needs %d, want %d", rounds, p.Because, p.Needs, want)
		}
	}
	f(10, 23, 23)
	f(10, 0, 0)
	f(2, 3, 0)
}

// TestEveryRuleProved: each rule has a figure, or verifies otherwise; and the figures are rows.
func TestEveryRuleProved(t *testing.T) {
	table := compare.RowIDs()
	for _, r := range Rules() {
		f := Finding{Rule: r.ID}
		ids, listed := f.Figures(), figures[r.ID] != nil || unprovable[r.ID]
		generic := strings.HasPrefix(r.ID, "AL") || strings.HasPrefix(r.ID, "CP")
		switch {
		case !listed && !generic:
			t.Errorf("%s is about no figure, and is not listed as one that is not: add it to figures or unprovable", r.ID)
		case r.Measurement && len(ids) > 0:
			t.Errorf("%s judges the measurement, and is about %v", r.ID, ids)
		}
		for _, id := range ids {
			if !slices.Contains(table, id) {
				t.Errorf("%s is about %s, which is no row of a comparison", r.ID, id)
			}
		}
	}
}

// TestNamed: a finding is named by its rule, and by its place where there are several.
func TestNamed(t *testing.T) {
	all := []Finding{foundIn("AL08", "example.com/m/search.find", 1, ""), foundIn("AL08", "main.(*T).g", 1, ""), foundIn("CP01", "main.h", 1, ""), {Rule: "AL03", State: Fine}}
	all[1].Evidence[0].Line = 9
	f := func(name string, want ...int) {
		t.Helper()
		var got []int
		for _, one := range Named(name, all) {
			for i := range all {
				if one == &all[i] {
					got = append(got, i)
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	f("CP01", 2)
	f("cp01", 2)
	f("AL08", 0, 1)
	f("AL03")
	f("AL08@main.go:9", 1)
	f("AL08@a/main.go:9", 1)
	f("AL08@ain.go:9")
	f("AL08@main.go", 0, 1)
	f("AL08@find", 0)
	f("AL08@search.find", 0)
	f("AL08@(*T).g", 1)
	f("AL08@", nil...)
	for i, want := range []string{"AL08@main.go:7", "AL08@main.go:9", "CP01"} {
		if got := all[i].Name(all); got != want || len(Named(got, all)) != 1 {
			t.Errorf("%d is called %s, want %s", i, got, want)
		}
	}
}
