package report

import (
	"math"
	"strings"
	"testing"

	"loupe/analysis/gc"
)

func TestCauseSheet(t *testing.T) {
	c := &MeasuredCause{
		Name: "BenchmarkParse-2", Of: "cpu-ns/op", Change: "slower, ×3.4", Profile: "cpu", Unit: "ns/op", Runs: 6,
		Moved: []MovedFunc{{
			Name: "m.count", Was: "example.com/m.tally", MovedCost: MovedCost{3840, 20100, 16260, 14600, 17900},
			Reasons: []MovedReason{{"now", "the function cannot be inlined"}},
			Lines: []MovedLine{{
				File: "/src/m/p.go", Line: 28, Text: "buf[int(b)%64]++ // " + strings.Repeat("long", 20),
				MovedCost: MovedCost{0, 1250, 1250, gc.Figure(math.NaN()), gc.Figure(math.NaN())},
				Reasons:   []MovedReason{{"no longer", "the call of f is inlined"}},
			}},
		}},
		Notes: []string{"A note."},
	}
	var text strings.Builder
	if err := WriteSheet(&text, CauseSheet(c), Style{}); err != nil {
		t.Fatal(err)
	}
	want := `Cause: Parse-2, cpu-ns/op slower, ×3.4
  where                                           before    after  difference  interval
  m.count                                        3.84 µs  20.1 µs    +16.3 µs  +14.6 µs … +17.9 µs
    p.go:28 buf[int(b)%64]++ // longlonglonglon…       0  1.25 µs    +1.25 µs
  m.count was m.tally before (judging by most of its text)
  m.count, now: the function cannot be inlined
  p.go:28, no longer: the call of f is inlined
  A note.
`
	squeeze := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	if squeeze(text.String()) != squeeze(want) {
		t.Errorf("text:\n%s\nwant\n%s", text.String(), want)
	}
}

func TestDifference(t *testing.T) {
	f := func(value float64, unit, want string) {
		t.Helper()
		if got := Difference(value, unit); got != want {
			t.Errorf("Difference(%v, %q) is %q, want %q", value, unit, got, want)
		}
	}
	f(1024, "B/op", "+1.00 KiB")
	f(1024.02, "B/op", "+1.00 KiB")
	f(-16, "B/op", "-16 B")
	f(32.0003, "B/op", "+32 B")
	f(1.0004, "allocs/op", "+1.00")
	f(-0.333, "allocs/op", "-0.333")
	f(1500, "ns/op", "+1.50 µs")
	f(0, "ns/op", "0")
}

func TestBisectSheet(t *testing.T) {
	b := &Bisected{Unit: "B/op", Change: "more, +100%", Found: true,
		Left:  []TriedRevision{{Hash: "0123456789abcdef", Subject: "five"}},
		Tried: []TriedRevision{{Hash: "fedcba9876543210", Subject: "three", Standing: "skipped", Why: "cannot build"}},
	}
	s := BisectSheet(b)
	if s.Title != "0123456789ab five: B/op more, +100%" || len(s.Rows) != 1 || s.Rows[0][2] != "skipped: cannot build" || len(s.Notes) != 0 {
		t.Errorf("found: %+v", s)
	}
	b.Found, b.Left = false, append(b.Left, TriedRevision{Hash: "aaaabbbbccccdddd", Subject: "six"})
	s = BisectSheet(b)
	if s.Title != "Undecided: one or more of 2 revisions changed B/op" || len(s.Notes) != 2 || s.Notes[1] != "Possible causes: aaaabbbbcccc six" {
		t.Errorf("undecided: %+v", s)
	}
}
