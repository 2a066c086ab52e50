package gc

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"loupe/format/godebug"
)

// recordedRows reads a log of testdata.
func recordedRows(t *testing.T, file string) []Row {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	log, err := godebug.Collect(f)
	if err != nil {
		t.Fatal(err)
	}
	return Analyse(log.Cycles, Options{}).Cycles
}

// TestGoalsOfRuntimes holds the port of the pacer against what the runtimes of
// Go 1.18 to 1.26 printed: from the line of a collection follows the goal of
// the next.
func TestGoalsOfRuntimes(t *testing.T) {
	files, _ := filepath.Glob("testdata/go*-gogc*.log")
	if len(files) < 27 {
		t.Fatalf("found %d logs, want those of 9 versions with 3 settings", len(files))
	}
	all := 0
	for _, file := range files {
		_, setting, _ := strings.Cut(strings.TrimSuffix(file, ".log"), "-gogc")
		gogc, err := strconv.Atoi(setting)
		if err != nil {
			t.Fatal(err)
		}
		rows := recordedRows(t, file)
		for i := 1; i < len(rows); i++ {
			low, high := GoalBounds(&rows[i-1], &rows[i], gogc)
			if y := &rows[i]; y.GoalMB < low || y.GoalMB > high {
				t.Errorf("%s: gc %d printed a goal of %v MB, predicted %v to %v", file, y.GC, y.GoalMB, low, high)
			}
			all++
		}
		if rows[0].GoalMB != 4*float64(gogc)/100 {
			t.Errorf("%s: the first goal is %v MB", file, rows[0].GoalMB)
		}
		// Another GOGC does not explain them.
		if fit, of := goalsExplained(rows, 4*gogc); of >= 10 && fit*2 > of {
			t.Errorf("%s: %d of %d goals follow from GOGC=%d, too", file, fit, of, 4*gogc)
		}
	}
	if all < 800 {
		t.Errorf("compared %d goals", all)
	}
}

func TestSettingsAreFoundInGoals(t *testing.T) {
	for _, want := range []int{25, 100} {
		rows := recordedRows(t, "testdata/go1.26.0-gogc"+strconv.Itoa(want)+".log")
		if s := explain(rows); s == nil || *s != (Settings{GOGC: want}) {
			t.Errorf("explained as %v, want GOGC=%d", s, want)
		}
		if contradicted(rows, Settings{GOGC: want}) || !contradicted(rows, Settings{GOGC: 4 * want}) {
			t.Errorf("GOGC=%d: contradicted by its own goals, or not by others", want)
		}
	}
}

func TestHeapGoal(t *testing.T) {
	const mb = 1 << 20
	f := func(gogc int, live, stacks, globals, want float64) {
		t.Helper()
		if got := HeapGoal(gogc, live*mb, stacks*mb, globals*mb) / mb; got != want {
			t.Errorf("HeapGoal(%d, %v, %v, %v) = %v MB, want %v", gogc, live, stacks, globals, got, want)
		}
	}
	f(100, 0, 0, 0, 4)
	f(400, 1, 0, 0, 16)
	f(100, 10, 1, 2, 23)
	f(50, 10, 0, 0, 15)
	f(0, 10, 1, 1, 10)
	f(GOGCOff, 10, 0, 0, endless/mb)
}

func TestLimitGoal(t *testing.T) {
	const mb = 1 << 20
	f := func(limit int64, live, other, want float64) {
		t.Helper()
		if got := LimitGoal(limit*mb, live*mb, other*mb) / mb; math.Abs(got-want) > 1e-9 {
			t.Errorf("LimitGoal(%d, %v, %v) = %v MB, want %v", limit, live, other, got, want)
		}
	}
	f(0, 10, 1, endless/mb)
	f(110, 10, 10, 97) // 3 % of headroom
	f(30, 10, 10, 19)  // 1 MB of it at least
	f(20, 15, 10, 15)  // never below the live heap
	f(20, 15, 30, 15)  // all is gone to others
}

func TestTrigger(t *testing.T) {
	const mb = 1 << 20
	f := func(live, goal, runway, want float64) {
		t.Helper()
		if got := Trigger(live*mb, goal*mb, runway*mb) / mb; math.Abs(got-want) > 1e-9 {
			t.Errorf("Trigger(%v, %v, %v) = %v MB, want %v", live, goal, runway, got, want)
		}
	}
	f(64, 128, 10, 118)  // goal less the runway
	f(64, 128, 100, 109) // but not below 45/64 of the way
	f(64, 128, 0, 125)   // nor above 61/64 of it
	f(64, 1024, 0, 1020) // or 4 MB below the goal
	f(64, 64, 5, 64)
	f(64, 10, 5, 10)
}

func TestParseSettings(t *testing.T) {
	base := Settings{GOGC: 100}
	f := func(text string, want Settings) {
		t.Helper()
		got, err := ParseSettings(text, base)
		if err != nil || got != want {
			t.Errorf("ParseSettings(%q) = %v, %v; want %v", text, got, err, want)
		}
		if again, err := ParseSettings(got.String(), Settings{GOGC: 7}); err != nil || again != got {
			t.Errorf("%q reads back as %v, %v", got, again, err)
		}
	}
	f("", base)
	f("GOGC=200", Settings{GOGC: 200})
	f("GOGC=off GOMEMLIMIT=400MiB", Settings{GOGCOff, 400 << 20})
	f("GOGC=-5,GOMEMLIMIT=1GiB", Settings{GOGCOff, 1 << 30})
	f("GOMEMLIMIT=off", base)
	f("GOMEMLIMIT=1048577", Settings{100, 1<<20 + 1})
	f("GOMEMLIMIT=2048KiB", Settings{100, 2 << 20})
	for _, bad := range []string{"GOGC", "GOGC=", "GOGC=x", "GOGC=1e9", "GOGC=99999999999", "GOMEMLIMIT=400MB", "GOMEMLIMIT=-1", "GOMEMLIMIT=0", "GOMEMLIMIT=9999999TiB", "GOMAXPROCS=2"} {
		if s, err := ParseSettings(bad, base); err == nil {
			t.Errorf("ParseSettings(%q) = %v, want an error", bad, s)
		}
	}
}
