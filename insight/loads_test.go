package insight

import (
	"slices"
	"strings"
	"testing"
	"time"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// kept lets all rules look at a real recording of testdata/loads, whose README
// tells how they were made.
func kept(t *testing.T, name, id string, state State, words ...string) (Finding, *Input) {
	t.Helper()
	rec, err := recording.OpenFile("testdata/loads/" + name + ".zip")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rec.Close() })
	in := NewInput(session.New(rec))
	all := Run(in)
	i := slices.IndexFunc(all, func(f Finding) bool { return f.Rule == id })
	if i < 0 {
		t.Fatalf("%s is silent", id)
	}
	f := all[i]
	if f.State != state {
		t.Errorf("%s: %s is %q (%s), want %q", name, id, f.State, f.Summary, state)
	}
	for _, w := range words {
		if !strings.Contains(f.Summary, w) {
			t.Errorf("%s: %s says %q, want %q in it", name, id, f.Summary, w)
		}
	}
	return f, in
}

func TestLD02Kept(t *testing.T) {
	f, in := kept(t, "ld02.slow", "LD02", Found, "of the slowest 10.0% of 1,198 requests", "overlapped a GC mark phase", "(p = 0.001)")
	if f.Impact.Value < 0.7 || f.Impact.Value > 0.8 {
		t.Errorf("impact = %+v", f.Impact)
	}
	slow := in.Slow()
	if len(slow) != 1 || slow[0].Clock != "the same clock" || slow[0].Error > 10*time.Microsecond || slow[0].Served != 1 {
		t.Fatalf("joined %+v", slow)
	}
	// A collection takes the only P: their goroutines wait for it.
	own := slow[0].Row("own_sched")
	if own == nil || own.Slow[1].Time < 3*own.Time || own.Slow[1].Time < 300*time.Microsecond {
		t.Errorf("the slowest waited for a P for %+v", own)
	}
	// The parts of a request's life are all of it.
	var sum, slowest time.Duration
	for _, r := range slow[0].Rows {
		if strings.HasPrefix(r.Key, "own_") && r.Key != "own_assist" || r.Key == "late" {
			sum, slowest = sum+r.Time, slowest+r.Slow[1].Time
		}
	}
	for _, d := range []struct{ got, want time.Duration }{{sum, slow[0].Mean}, {slowest, slow[0].Tails[1].Mean}} {
		if (d.got - d.want).Abs() > d.want/50 {
			t.Errorf("the parts of the requests are %v, they took %v", d.got, d.want)
		}
	}
	kept(t, "ld02.fixed", "LD02", Fine, "by chance it would be")
}

func TestLD06Kept(t *testing.T) {
	f, _ := kept(t, "ld06.slow", "LD06", Found, "the program opened 200 connections to other services")
	severity(t, "slow", f, Warning)
	if len(f.Evidence) != 1 || f.Evidence[0].Line != 25 || f.Evidence[0].Function != "main.main.func2" {
		t.Errorf("evidence = %+v", f.Evidence)
	}
	kept(t, "ld06.fixed", "LD06", Fine, "the program opened 0 connections")
}

// TestClosesBodies: nobody is told to close what the source closes.
func TestClosesBodies(t *testing.T) {
	r := recordingtest.New("title x\n-- source/ask.go source from=/src/ask.go --\n" + `package ask

func closes() {
	resp, _ := http.Get("http://x")
	defer resp.Body.Close()
}

func forgets() {
	resp, _ := http.Get("http://x")
	file.Close()
}
`)
	in := NewInput(session.New(r.Open()))
	for line, want := range map[int]bool{4: true, 9: false, 99: false} {
		if got := in.code.closesBodies(stack.Frame{File: "/src/ask.go", Line: line}); got != want {
			t.Errorf("line %d: %v", line, got)
		}
	}
}
