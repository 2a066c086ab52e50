package insight

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
	"loupe/format/exectrace/fixture"
	"loupe/format/profile/profiletest"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stats"
)

// TestLeisure: what takes CPU time is a remark in a program that runs by itself and uses little of one CPU, with the share of
// the run; where somebody waits for each answer, where it uses much, and where no CPU was free for it, it is a warning.
func TestLeisure(t *testing.T) {
	// formats is a recording with 40 samples in 10 s, which are so much CPU time each.
	formats := func(head string, each time.Duration) *recordingtest.Recording {
		r := recordingtest.New("title x\ntarget package ./shop module=shop\n" + head + "phase bare 0s..10s\nphase cpu 10s..20s profiler=cpu\n")
		picture := picture(column{"main.main shop.row:/src/row.go:9 fmt.Sprintf fmt.(*pp).doPrintf", []int64{60, 60 * int64(each)}},
			column{"main.main shop.sum:/src/row.go:20", []int64{40, 40 * int64(each)}})
		return r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "cpu"},
			profiletest.Encode(picture, profiletest.Options{Types: []string{"samples/count", "cpu/nanoseconds"}, Duration: 10 * time.Second}))
	}
	const ended = "run 0s..10s exit=\"exit status 0\"\nrun 10s..20s exit=\"exit status 0\"\n"
	for _, c := range []struct {
		name, head string
		each       time.Duration
		want       Severity
	}{
		{"it waits", ended, 10 * time.Millisecond, Info},
		{"it uses half of a CPU", ended, 50 * time.Millisecond, Warning},
		{"it was stopped", "run 0s..10s exit=\"signal: interrupt\" stopped\n", 10 * time.Millisecond, Warning},
		{"nothing tells how it ended", "", 10 * time.Millisecond, Warning},
	} {
		in := NewInput(session.New(formats(c.head, c.each).Open()))
		all := Run(in)
		at := -1
		for i, f := range all {
			if f.Rule == "AL11" && f.State == Found {
				at = i
			}
		}
		if at < 0 {
			t.Fatalf("%s: no AL11", c.name)
		}
		severity(t, c.name, all[at], c.want)
		waits := strings.Contains(strings.Join(all[at].Doubts, " "), "the program used 10.0% of one CPU, and waited")
		if waits != (c.want == Info) || strings.Count(strings.Join(all[at].Doubts, " "), "the program used ") > 1 {
			t.Errorf("%s: %q", c.name, all[at].Doubts)
		}
		for _, card := range Cards(in, all) {
			if all[card.Finding].Rule == "AL11" && c.want == Info != (card.Gain != nil && card.Gain.Beyond == "as the program mostly waits, that is 6.00% of the run") {
				t.Errorf("%s: %+v", c.name, card.Gain)
			}
		}
	}
}

// TestPartOfRun: what takes a share of the CPU time is less of the run where the program waits besides, be it that it runs for longer than in
// [TestLeisure].
func TestPartOfRun(t *testing.T) {
	for _, c := range []struct {
		name    string
		head    string
		runs    time.Duration // of a trace of one second
		formats int64         // of 100 samples
		want    Severity
		says    string
	}{
		{"a little of the run", "run 0s..10s exit=\"exit status 0\"\n", 120 * time.Millisecond, 30, Info, "waited for the rest: all of it is 3."},
		{"much of it", "run 0s..10s exit=\"exit status 0\"\n", 300 * time.Millisecond, 30, Warning, ""},
		{"it runs all the time", "run 0s..10s exit=\"exit status 0\"\n", 950 * time.Millisecond, 30, Warning, ""},
		{"it was stopped", "run 0s..10s exit=\"signal: interrupt\" stopped\n", 120 * time.Millisecond, 30, Warning, ""},
	} {
		r := recordingtest.New("title x\ntarget package ./shop module=shop\n" + c.head + "phase bare 0s..10s\nphase cpu 10s..20s profiler=cpu\nphase trace 20s..21s profiler=trace\n")
		each := int64(50 * time.Millisecond)
		r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "cpu"}, profiletest.Encode(
			picture(column{"main.main shop.row:/src/row.go:9 fmt.Sprintf fmt.(*pp).doPrintf", []int64{2 * c.formats, 2 * c.formats * each}}, column{"main.main shop.sum:/src/row.go:20", []int64{2 * (100 - c.formats), 2 * (100 - c.formats) * each}}),
			profiletest.Options{Types: []string{"samples/count", "cpu/nanoseconds"}, Duration: 20 * time.Second}))
		p := accounttest.New()
		p.Event("ProcsChange", "procs_value=2 stack=0")
		p.Create(7, "shop.sum", "main.main@main.go:1")
		p.Block("sync", "sync.(*WaitGroup).Wait@waitgroup.go:1;main.main@main.go:2")
		p.Start(7)
		p.Pass(c.runs)
		p.Block("sleep", "time.Sleep@sleep.go:1;shop.sum@/src/row.go:21")
		p.Pass(time.Second - c.runs)
		p.Wake(7, "")
		p.Start(7)
		p.End()
		r.Put(recording.Entry{Path: "trace.out", Kind: recording.ExecTrace, Phase: "trace"}, fixture.Trace(t, p.Text()))
		in := NewInput(session.New(r.Open()))
		if ran, ok := runningPart(in); !ok || math.Abs(ran-c.runs.Seconds()) > 0.01 {
			t.Errorf("%s: it runs for %v of the trace, %v", c.name, ran, ok)
		}
		for _, f := range Run(in) {
			if f.Rule == "AL11" && f.State == Found {
				severity(t, c.name, f, c.want)
				if says := strings.Join(f.Doubts, " "); strings.Contains(says, "was running for") != (c.want == Info) || !strings.Contains(says, c.says) {
					t.Errorf("%s: %q", c.name, f.Doubts)
				}
			}
		}
	}
}

// TestOfCPUAlone: what also waits, for the kernel or for processes, is worth more than its CPU time.
func TestOfCPUAlone(t *testing.T) {
	for rule, want := range map[string]bool{"AL11": true, "CP03": true, "CP04": false, "CP18": false, "LD06": false, "SC13": false, "GC03": false} {
		if got := ofCPUAlone(&Finding{Rule: rule}); got != want {
			t.Errorf("%s: %v", rule, got)
		}
	}
	if ofCPUAlone(&Finding{Rule: "AL11", more: true}) || ofCPUAlone(&Finding{Rule: "AL11", felt: 0.3}) {
		t.Error("more than its CPU time")
	}
}

// TestScattered: a share of few samples may be little, whatever its estimate is.
func TestScattered(t *testing.T) {
	for _, c := range []struct {
		of, all float64
		want    bool
	}{{5, 35, true}, {3, 30, true}, {12, 40, false}, {20, 100, false}, {50, 1000, false}} {
		if got := scattered(stats.Wilson(c.of, c.all, 0.95)); got != c.want {
			t.Error(fmt.Sprintf("%v of %v: %v", c.of, c.all, got))
		}
	}
}
