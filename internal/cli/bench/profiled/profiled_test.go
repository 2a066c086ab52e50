package profiled

import (
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
	f(report.MeasuredCause{Profile: "cpu", Unit: "ns/op", Moved: moved(400)}, 100, 200,
		"Together these are +400 ns of an operation, where the measurement found +100 ns. Profiles are of other runs, which they slow down, and count what is done while the timer stands still.")
	f(report.MeasuredCause{Profile: "cpu", Unit: "ns/op", Moved: moved(-40)}, 100, 200,
		"Together these are -40.0 ns of an operation, where the measurement found +100 ns. Profiles are of other runs, which they slow down, and count what is done while the timer stands still.")
	f(report.MeasuredCause{Profile: "allocs", Unit: "allocs/op", Moved: moved(-1.33)}, 2, 0,
		"Together these are -1.33 of an operation, where the measurement found -2.00. Small objects without pointers share blocks of 16 bytes, which profiles count once.")
	f(report.MeasuredCause{Profile: "allocs", Unit: "B/op", Moved: moved(1000)}, 0, 1024, "")
}
