package insight

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"loupe/analysis/facts"
	"loupe/analysis/gc"
	"loupe/analysis/sched"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/timeline"
)

// inPart are the answers of the rules on a part of a recording's time.
func inPart(t *testing.T, r *recordingtest.Recording, from, to time.Duration) map[string][]Finding {
	t.Helper()
	all, err := RunPart(NewInput(session.New(r.Open())), timeline.Span{Start: timeline.Time(from), End: timeline.Time(to)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	by := map[string][]Finding{}
	for _, f := range all {
		by[f.Rule] = append(by[f.Rule], f)
	}
	return by
}

// TestPartOfLogs: what a log tells of is judged on the time that was chosen, and
// of all of it as without a choice.
func TestPartOfLogs(t *testing.T) {
	const µs = time.Microsecond
	// In the first half pauses are long and collections follow closely, in the
	// second neither.
	log := func() *recordingtest.Recording {
		return recordingtest.New("title x\nhost cpus=4\nphase bare 0s..10s user=20s\nclock stderr.log 5ms error=20ms\n-- stderr.log stderr --\n" +
			recordingtest.Cycles(2550, 10*time.Millisecond, 2*time.Millisecond, func(i int, c *recordingtest.Cycle) {
				if i < 2500 {
					c.STW1 = 900 * µs
				} else {
					c.At = 5*time.Second + time.Duration(i-2500)*99*time.Millisecond
				}
			}))
	}
	whole := inPart(t, log(), 0, 10*time.Second)
	for rule, state := range map[string]State{"GC01": Found, "GC03": Found, "GC04": Found} {
		f, want := whole[rule], answers(t, log(), rule)
		if len(f) != 1 || f[0].State != want[0].State || f[0].Summary != want[0].Summary || f[0].State != state {
			t.Errorf("all of the time: %s says %+v, without a choice %+v", rule, f, want)
		}
	}
	for _, c := range []struct {
		from, to time.Duration
		rule     string
		state    State
	}{
		{0, 4 * time.Second, "GC01", Found},
		{0, 4 * time.Second, "GC04", Found},
		{6 * time.Second, 10 * time.Second, "GC01", Fine},
		{6 * time.Second, 10 * time.Second, "GC04", Fine},
		{6 * time.Second, 6500 * time.Millisecond, "GC01", TooLittle},
	} {
		f := inPart(t, log(), c.from, c.to)[c.rule]
		if len(f) != 1 || f[0].State != c.state {
			t.Errorf("%v to %v: %s says %+v, want %s", c.from, c.to, c.rule, f, c.state)
		}
	}
	for rule := range inPart(t, log(), 0, time.Second) {
		if r := ruleOf(rule); !r.Part || !slices.ContainsFunc(r.Asks, func(q facts.Question) bool { return q.Answered(&log().Manifest) }) {
			t.Errorf("%s answers though it cannot judge a part, or this recording", rule)
		}
	}
}

// TestPartProfiled: where a profiler ran, it says so.
func TestPartProfiled(t *testing.T) {
	r := recordingtest.New("title x\nhost cpus=4\nphase bare 0s..5s user=10s\nphase cpu 5s..10s user=10s profiler=cpu\nclock stderr.log 5ms error=20ms\n-- stderr.log stderr --\n" +
		recordingtest.Cycles(1500, 10*time.Millisecond, 6*time.Millisecond, nil))
	const doubt = "most of this time lies in phases with a profiler"
	f := inPart(t, r, 6*time.Second, 9*time.Second)["GC04"]
	if len(f) != 1 || f[0].State != Found {
		t.Fatalf("GC04 says %+v", f)
	}
	doubted(t, f[0], doubt)
	for _, d := range inPart(t, r, time.Second, 4*time.Second)["GC04"][0].Doubts {
		if d == doubt {
			t.Error("it doubts a bare phase")
		}
	}
}

func ruleOf(id string) *Rule {
	for _, r := range Rules() {
		if r.ID == id {
			return r
		}
	}
	return nil
}

// TestPartCounts: of a part the rules tell as many collections as every view of the
// trace does, though no line of gctrace lies in it.
func TestPartCounts(t *testing.T) {
	r := ruleOf("GC03")
	of := func(part bool, cycles int, err error) *Input {
		seen := &facts.Trace{Analysis: &sched.Analysis{}, Err: err}
		seen.GC.Cycles = make([]sched.Cycle, cycles)
		return &Input{Facts: &facts.Facts{Part: part, Trace: func() *facts.Trace { return seen }, Manifest: &recording.Manifest{}, Rounds: []facts.Round{{GC: &gc.Summary{}, Duration: time.Hour}}}}
	}
	f := func(in *Input, want string, quiet bool) {
		t.Helper()
		if got := fewCollections(r, in, 0).Summary; !strings.Contains(got, want) {
			t.Errorf("it says %q, want %q", got, want)
		}
		if none := in.Facts.Collector().None; none != quiet {
			t.Errorf("no collection ran: %v, want %v", none, quiet)
		}
	}
	f(of(true, 2, nil), "2 collections in this time in the execution trace, 0 in gctrace lines", false)
	f(of(true, 0, nil), "0 collections were seen in this time", true)
	f(of(false, 2, nil), "0 collections were seen in the bare phases", true)
	f(of(true, 2, errors.New("no trace")), "0 collections were seen in this time", true)
}
