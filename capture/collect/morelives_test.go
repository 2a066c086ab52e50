package collect

import (
	"path/filepath"
	"testing"
	"time"

	"loupe/format/profile"
	"loupe/recording"
	"loupe/value/stack"
)

// shortLife is a profile with so many samples of one line, of a life of half a second.
func shortLife(n int64) *profile.Profile {
	t := &stack.Table{}
	id := t.Intern([]stack.FrameID{t.InternFrame(stack.Frame{Func: "main.work", File: "main.go", Line: 3})})
	return &profile.Profile{
		SampleTypes: []profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		PeriodType:  profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 1e7, Duration: 500 * time.Millisecond,
		Stacks: t, StackIDs: []stack.ID{id}, Values: [][]int64{{n}, {n * 1e7}},
	}
}

// TestWantsMore: a program runs again while its profile has too little, another life has room in the phase, and all lives together may come to
// something.
func TestWantsMore(t *testing.T) {
	for _, x := range []struct {
		name         string
		samples      int64
		lives        int
		took, length time.Duration
		want         bool
	}{
		{"short and busy", 40, 1, 500 * time.Millisecond, 5 * time.Second, true},
		{"enough by now", 300, 8, 4 * time.Second, 5 * time.Second, false},
		{"no room for a second", 90, 1, 3 * time.Second, 5 * time.Second, false},
		{"no room for one more", 120, 3, 4 * time.Second, 5 * time.Second, false},
		{"it sleeps", 3, 1, 500 * time.Millisecond, 5 * time.Second, false},
		{"nothing sampled", 0, 1, 20 * time.Millisecond, 5 * time.Second, false},
		{"very short", 5, 1, 50 * time.Millisecond, 5 * time.Second, true},
		{"very short, as often as may be", 100, 20, time.Second, 5 * time.Second, false},
		{"once, by the user's length", 40, 1, 500 * time.Millisecond, time.Millisecond, false},
	} {
		if got := wantsMore(shortLife(x.samples), x.lives, x.took, x.length); got != x.want {
			t.Errorf("%s: %v", x.name, got)
		}
	}
}

// TestAlike: a life that ends otherwise, or after far less work, is not added to the first.
func TestAlike(t *testing.T) {
	first := recording.Run{Exit: "exit status 0", User: 400 * time.Millisecond}
	for _, x := range []struct {
		name  string
		later recording.Run
		want  bool
	}{
		{"the same", recording.Run{Exit: "exit status 0", User: 500 * time.Millisecond}, true},
		{"it failed", recording.Run{Exit: "exit status 1", User: 400 * time.Millisecond}, false},
		{"it was stopped", recording.Run{Exit: "exit status 0", User: 400 * time.Millisecond, Stopped: true}, false},
		{"it found a cache", recording.Run{Exit: "exit status 0", User: 40 * time.Millisecond}, false},
	} {
		if got := alike(first, x.later); got != x.want {
			t.Errorf("%s: %v", x.name, got)
		}
	}
}

// TestEndedWell: what crashes, or is stopped, is not run again.
func TestEndedWell(t *testing.T) {
	for exit, want := range map[string]bool{"exit status 0": true, "exit status 1": true, "exit status 2": false, "signal: killed": false} {
		if got := endedWell(recording.Run{Exit: exit}); got != want {
			t.Errorf("%s: %v", exit, got)
		}
	}
	if endedWell(recording.Run{Exit: "exit status 0", Stopped: true}) {
		t.Error("what was stopped")
	}
}

// TestSumOfLives: what is written in the place of a file is the sum, with the length of all lives.
func TestSumOfLives(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cpu.pb.gz")
	sum, err := profile.Merge(shortLife(40), shortLife(25))
	if err != nil {
		t.Fatal(err)
	}
	if err := writeProfile(sum, file); err != nil {
		t.Fatal(err)
	}
	p, err := readProfile(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := p.Total(0); n != 65 || p.Duration != time.Second || p.Stacks.Frame(p.Stacks.Frames(p.StackIDs[0])[0]).Line != 3 {
		t.Errorf("%d samples of %v", n, p.Duration)
	}
}
