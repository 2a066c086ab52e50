package compare

import (
	"slices"
	"strings"
	"testing"
	"time"

	"loupe/analysis/gc"
	"loupe/format/loadlog"
)

// failingSide is five runs of a thousand requests, of which so many end with status
// 500, and that take so long.
func failingSide(title string, bad int, took time.Duration, open bool) LoadSide {
	side := LoadSide{Title: title, Open: open}
	for run := range 5 {
		h := loadlog.Header{Open: open, Elapsed: time.Second * took / time.Millisecond}
		var rows []loadlog.Request
		for i := range 1000 {
			r := loadlog.Request{Service: took + time.Duration(i+run), Status: 200}
			if i < bad {
				r.Status = 500
			}
			rows = append(rows, r)
		}
		side.Runs = append(side.Runs, loadlog.New(h, rows).Summary())
	}
	return side
}

// TestErrorsDecide: no row calls a side better that fails more, whichever side it is
// and however fast it fails; and it is a regression.
func TestErrorsDecide(t *testing.T) {
	for _, open := range []bool{false, true} {
		whole, refusing := failingSide("whole", 0, 3*time.Millisecond, open), failingSide("refusing", 200, time.Millisecond, open)
		for i, sides := range [][]LoadSide{{whole, refusing}, {refusing, whole}} {
			table := Loads(sides, true)
			favour := []Verdict{Improved, Regressed}[i]
			for _, r := range table.Rows {
				if r.ID != failingRow && r.Changes[0].Verdict == favour {
					t.Errorf("%s of %s against %s is %s", r.Name, sides[1].Title, sides[0].Title, favour)
				}
			}
			first := table.Rows[0]
			if want := []Verdict{Regressed, Improved}[i]; first.ID != failingRow || first.Changes[0].Verdict != want || table.Regressed() != (i == 0) {
				t.Errorf("the first row is %+v, a regression: %v", first, table.Regressed())
			}
			if !slices.ContainsFunc(table.Notes, func(n string) bool {
				return strings.Contains(n, "20.0% of the requests of refusing ended in an error, against 0%")
			}) {
				t.Errorf("the notes are %q", table.Notes)
			}
		}
	}
}

// TestErrorsAlike: a load that both refuse alike is decided by its times.
func TestErrorsAlike(t *testing.T) {
	table := Loads([]LoadSide{failingSide("a", 1000, 3*time.Millisecond, true), failingSide("b", 1000, time.Millisecond, true)}, true)
	if row, _ := table.Row("latency_p50"); row.Changes[0].Verdict != Improved || table.Rows[0].Changes[0].Verdict != Same {
		t.Errorf("%+v", table.Rows)
	}
}

// TestFollow: one figure has one verdict in both tables of the same runs.
func TestFollow(t *testing.T) {
	row := func(id string, median float64, v Verdict) Row {
		return Row{ID: id, Cells: []Cell{{Median: 1}, {Median: gc.Figure(median)}}, Changes: []Change{{Verdict: v}}}
	}
	loads := &Table{Rows: []Row{row("requests_per_sec", 2, Undecided), row("latency_p50", 3, Improved), row("latency_p10", 3, Improved)}}
	loads.Follow(&Table{Rows: []Row{row("requests_per_sec", 2, Improved), row("latency_p50", 4, Undecided)}})
	for i, want := range []Verdict{Improved, Improved, Improved} { // the second is of other rounds
		if got := loads.Rows[i].Changes[0].Verdict; got != want {
			t.Errorf("%s is %s, want %s", loads.Rows[i].ID, got, want)
		}
	}
}
