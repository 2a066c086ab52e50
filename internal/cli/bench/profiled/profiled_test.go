package profiled

import (
	"fmt"
	"strings"
	"testing"

	"loupe/report"
)

// What is not proven is not named, and a sum that is not what was measured is told.
func TestNotes(t *testing.T) {
	f := func(m report.MeasuredCause, before, after float64, want string) {
		t.Helper()
		got := strings.Join(notes(&m, Change{Before: before, After: after}), " ")
		if got != want {
			t.Errorf("notes are %q, want %q", got, want)
		}
	}
	moved := func(by float64) []report.MovedFunc {
		return []report.MovedFunc{{Name: "m.f", MovedCost: report.MovedCost{Difference: by}}}
	}
	f(report.MeasuredCause{Profile: "cpu", Unit: "ns/op", Runs: 6, Judged: 4}, 100, 200,
		"No function's cost moved by more than its noise (cpu profiles, 6 runs a side, 4 functions).")
	f(report.MeasuredCause{Profile: "cpu", Unit: "ns/op", Moved: moved(140)}, 100, 200, "")
	f(report.MeasuredCause{Profile: "cpu", Unit: "ns/op", Moved: moved(280)}, 100, 200,
		"Together these are +280 ns per operation; the measurement found +100 ns. Profiles come from separate runs, which they slow down, and include work done while the timer is stopped.")
	const noCause = "No cause is named: the changes in the profiles add up to %s per operation, but the measurement found %s. Profiles come from separate runs and include work done while the timer is stopped; a function whose name and text changed counts as one that disappeared and one that is new."
	for _, by := range []float64{400, 20, 0, -100} {
		m := report.MeasuredCause{Profile: "cpu", Unit: "ns/op", Moved: moved(by)}
		f(m, 100, 200, fmt.Sprintf(noCause, report.Difference(by, "ns/op"), "+100 ns"))
		if notes(&m, Change{Before: 100, After: 200}); len(m.Moved) > 0 {
			t.Errorf("%g ns of 100 are told to be the cause", by)
		}
	}
	f(report.MeasuredCause{Profile: "allocs", Unit: "B/op", Moved: moved(8192)}, 32, 96, fmt.Sprintf(noCause, "+8.00 KiB", "+64 B"))
	f(report.MeasuredCause{Profile: "allocs", Unit: "allocs/op", Moved: moved(-1.33)}, 2, 0,
		"Together these are -1.33 per operation; the measurement found -2.00. Small pointer-free objects share blocks of 16 bytes, which profiles count once.")
	f(report.MeasuredCause{Profile: "allocs", Unit: "B/op", Moved: moved(1000)}, 0, 1024, "")
}
