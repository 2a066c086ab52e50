package insight

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"loupe/recording/recordingtest"
)

// scheduled is a program of 10 s that uses this much CPU time and has these
// samples of the scheduler.
func scheduled(cpu, samples string) *recordingtest.Recording {
	return recordingtest.New("title x\nhost cpus=4\nphase bare 0s..10s user=" + cpu + "\n-- stderr.log stderr --\n" + samples)
}

func TestSC01(t *testing.T) {
	one := slices.Repeat([]int{1}, 9)
	f := expect(t, "one of four", scheduled("10s", recordingtest.Scheds(4, one...)), "SC01", Found, "in 100% of 9 busy samples exactly one of 4 Ps ran", "1.00 CPUs")
	severity(t, "one of four", f, Warning)
	near(t, "one of four", f, 1)
	if e := f.Evidence[0]; e.Text != "schedtrace: 9 of 9 samples" || e.Phase != "bare" || *e.Span != [2]int64{0, 10e9} {
		t.Errorf("evidence = %+v", e)
	}
	expect(t, "four of five", scheduled("10s", recordingtest.Scheds(4, 1, 1, 1, 1, 2)), "SC01", Found, "80.0%")
	expect(t, "idle samples do not count", scheduled("9s", recordingtest.Scheds(4, 0, 1, 1, 0, 1, 1, 1, 0)), "SC01", Found, "100% of 5")
	expect(t, "three of five", scheduled("10s", recordingtest.Scheds(4, 1, 1, 1, 2, 2)), "SC01", Fine, "60.0%")
	expect(t, "all at work", scheduled("38s", recordingtest.Scheds(4, 4, 4, 4, 4, 4, 4)), "SC01", Fine, "3.80 CPUs")
	expect(t, "the CPU time says otherwise", scheduled("20s", recordingtest.Scheds(4, one...)), "SC01", Fine, "2.00 CPUs")
	// GOMAXPROCS may change: what was with one P says nothing of several.
	changed := func(before, after, running int) string {
		var b strings.Builder
		for i := range 20 {
			p := before
			if i >= 6 {
				p = after
			}
			fmt.Fprintln(&b, recordingtest.Sched{At: time.Duration(i+1) * 400 * time.Millisecond, Procs: p, Idle: p - min(running, p)})
		}
		return b.String()
	}
	expect(t, "one P in the end", scheduled("10s", changed(8, 1, 1)), "SC01", NotApplicable, "1 at the end, down from 8")
	expect(t, "one P at first", scheduled("10s", changed(1, 4, 1)), "SC01", Found, "100% of 14 busy samples", "one of 2 to 4 Ps")
	expect(t, "fewer Ps", scheduled("10s", changed(8, 4, 1)), "SC01", Found, "100% of 20 busy samples", "one of 4 to 8 Ps")
	expect(t, "it waits", scheduled("4s", recordingtest.Scheds(4, one...)), "SC01", Fine, "waits for something other than a P")
	expect(t, "few samples", scheduled("10s", recordingtest.Scheds(4, one[:4]...)), "SC01", TooLittle, "busy in 4", "5 are needed")
	expect(t, "an idle program", scheduled("0s", recordingtest.Scheds(4, 0, 0, 0, 0, 0, 0)), "SC01", TooLittle, "busy in 0")
	expect(t, "GOMAXPROCS=1", scheduled("10s", recordingtest.Scheds(1, one...)), "SC01", NotApplicable, "GOMAXPROCS is 1")
	expect(t, "no schedtrace", collecting(40, 100e6, nil), "SC01", TooLittle, "busy in 0")
	doubted(t, expect(t, "a noisy host", recordingtest.New("title x\nphase bare 0s..10s user=10s\n-- stderr.log stderr --\n"+
		recordingtest.Scheds(4, one...)+busyHost), "SC01", Found), "the machine was noisy")
}

// TestSC01Rounds adds the samples of all rounds up; the evidence reaches from
// the first to the last.
func TestSC01Rounds(t *testing.T) {
	lines := recordingtest.Scheds(2, 1, 1, 1)
	r := recordingtest.New("title x\nphase bare 0s..4s run=0 user=4s\nphase bare-2 10s..14s run=1 user=4s\nclock stderr-2.log 10s\n" +
		"-- stderr.log stderr run=0 --\n" + lines + "-- stderr-2.log stderr run=1 --\n" + lines)
	f := expect(t, "two rounds", r, "SC01", Found, "100% of 6 busy samples", "1.00 CPUs")
	if e := f.Evidence[0]; e.Phase != "" || *e.Span != [2]int64{0, 14e9} {
		t.Errorf("evidence = %+v", e)
	}
}

// host is a machine of 4 CPUs with one sample a second; in each second
// they were busy, idle and stolen for this long, of that the program and
// loupe had their own, and the cgroup was throttled.
func host(busy, idle, steal, program, loupe, throttled int) string {
	var b strings.Builder
	b.WriteString("title x\nhost cpus=4 load=0.25\nphase bare 0s..5s\nphase cpu 5s..9s profiler=cpu\n-- os.ndjson os --\n" +
		"t_ns pid busy_ns idle_ns steal_ns user_ns self_ns throttled_ns\n")
	for i := range 6 {
		fmt.Fprintf(&b, "%ds 7 %dms %dms %dms %dms %dms %dms\n", i, i*busy, i*idle, i*steal, i*program, i*loupe, i*throttled)
	}
	// Everything after the bare phase is somebody else's.
	fmt.Fprintf(&b, "7s 7 90s %dms %dms %dms %dms %dms\n", 5*idle, 5*steal, 5*program, 5*loupe, 5*throttled)
	return b.String()
}

func TestBE06(t *testing.T) {
	f := expect(t, "a quarter", recordingtest.New(host(3000, 1000, 0, 1500, 500, 0)), "BE06", Found, "other programs used 25.0% of the CPUs")
	severity(t, "a quarter", f, Info)
	near(t, "a quarter", f, 0.25)
	if e := f.Evidence[0]; e.Text != "load average 0.25 at the start, 4 CPUs; 6 samples" || e.Path != "os.ndjson" || *e.Span != [2]int64{0, 5e9} {
		t.Errorf("evidence = %+v", e)
	}
	severity(t, "half", expect(t, "half", recordingtest.New(host(3000, 1000, 0, 500, 500, 0)), "BE06", Found, "50.0%"), Info) // a doubt about the figures is no fault of the program
	f = expect(t, "steal", recordingtest.New(host(1500, 2400, 100, 1500, 0, 0)), "BE06", Found, "the hypervisor took 2.50%")
	severity(t, "steal", f, Info)
	near(t, "steal", f, 0.025)
	severity(t, "much steal", expect(t, "much steal", recordingtest.New(host(1500, 2250, 250, 1500, 0, 0)), "BE06", Found, "took 6.25%"), Info)
	f = expect(t, "throttled", recordingtest.New(host(1500, 2500, 0, 1500, 0, 100)), "BE06", Found, "throttled for 10.0% of the time")
	near(t, "throttled", f, 0.1)
	if f.Score == 0 {
		t.Error("throttling has no score")
	}
	expect(t, "quiet", recordingtest.New(host(1600, 2400, 0, 1500, 0, 0)), "BE06", Fine, "other programs used 2.50%")
	expect(t, "the program and loupe alone", recordingtest.New(host(4000, 0, 0, 3000, 1000, 0)), "BE06", Fine, "0%")
	expect(t, "a tick too many of our own", recordingtest.New(host(1000, 3000, 0, 1001, 0, 0)), "BE06", Fine, "0%")
	// What has come from the program is not another program.
	related := func(column string, each int) *recordingtest.Recording {
		lines := strings.Split(strings.TrimSuffix(host(4000, 0, 0, 500, 500, 0), "\n"), "\n")
		for i := range lines {
			switch n := i - 6; {
			case n == -1:
				lines[i] += " " + column
			case n >= 0:
				lines[i] += fmt.Sprintf(" %dms", n*each)
			}
		}
		return recordingtest.New(strings.Join(lines, "\n"))
	}
	expect(t, "other processes of the run", related("family_ns", 3000), "BE06", Fine, "0%")
	expect(t, "some of the others", related("family_ns", 2000), "BE06", Found, "other programs used 25.0%")
	expect(t, "children that were waited for", related("children_ns", 3000), "BE06", Fine, "0%")
	expect(t, "few samples", recordingtest.New("title x\nphase bare 0s..5s\n-- os.ndjson os --\nt_ns busy_ns idle_ns\n1s 1s 0s\n2s 2s 0s\n3s 3s 0s\n"), "BE06", TooLittle, "3 samples")
	expect(t, "samples outside of the phases", recordingtest.New("title x\nphase bare 0s..5s\n-- os.ndjson os --\nt_ns busy_ns idle_ns\n6s 1s 0s\n7s 2s 0s\n8s 3s 0s\n9s 4s 0s\n"), "BE06", TooLittle, "0 samples")
	expect(t, "no samples", recordingtest.New("title x\nphase bare 0s..5s"), "BE06", NotApplicable)
}
