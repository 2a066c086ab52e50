package sched_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	google "github.com/google/pprof/profile"

	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
	"loupe/format/profile"
	"loupe/value/stack"
	"loupe/value/timeline"
)

// profileStates feeds a profiler, and a summarizer beside it, with a trace.
func profileStates(t testing.TB, data []byte, opts sched.StateProfileOptions, sink sched.Sink) *sched.StateProfiler {
	t.Helper()
	tr, err := exectrace.Open(data, exectrace.Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	pass := sweep.New(tr)
	p := sched.NewStateProfiler(pass.Goroutines(), opts)
	s := sched.NewSummarizer(pass.Goroutines(), sink, sched.SummaryOptions{})
	pass.Join(p)
	pass.Join(s)
	if err := pass.Run(nil); err != nil {
		t.Fatal(err)
	}
	p.Finish()
	s.Finish()
	return p
}

// byText maps each stack in words to its count and time, so that stacks which
// differ in addresses only are one.
type byText map[string]sched.Spent

func (b byText) add(stack string, count, nanos int64) {
	s := b[stack]
	s.Count += count
	s.Time += time.Duration(nanos)
	b[stack] = s
}

// stackText leaves out frames without any symbol: go tool trace tells stacks
// apart by their addresses, and takes one that is a single frame at address 0
// for the empty stack.
func stackText(t *stack.Table, id stack.ID) string {
	var b strings.Builder
	for _, f := range t.Frames(id) {
		frame := t.Frame(f)
		if frame.Func == "" && frame.Line == 0 {
			continue
		}
		fmt.Fprintf(&b, "%s %s:%d\n", frame.Func, frame.File, frame.Line)
	}
	return b.String()
}

func textOf(p *sched.StateProfile) byText {
	out := byText{}
	for i, id := range p.IDs {
		nanos := int64(0)
		if p.Nanos != nil {
			nanos = p.Nanos[i]
		}
		out.add(stackText(p.Stacks, id), p.Counts[i], nanos)
	}
	return out
}

// sameProfile fails the test at the first stacks that differ.
func sameProfile(t *testing.T, name string, got, want byText) {
	t.Helper()
	bad := 0
	for _, stack := range slices.Sorted(maps.Keys(want)) {
		if got[stack] != want[stack] {
			if bad++; bad < 4 {
				t.Errorf("%s: %v, want %v at\n%s", name, got[stack], want[stack], stack)
			}
		}
	}
	for _, stack := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[stack]; !ok {
			if bad++; bad < 4 {
				t.Errorf("%s: %v, want nothing at\n%s", name, got[stack], stack)
			}
		}
	}
}

// eachTrace runs f on all traces.
func eachTrace(t *testing.T, f func(t *testing.T, name string, data []byte)) {
	for _, name := range traces(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			f(t, name, data)
		})
	}
}

// TestStateProfiles compares with go tool trace -pprof, stack by stack.
func TestStateProfiles(t *testing.T) {
	eachTrace(t, func(t *testing.T, name string, data []byte) {
		p := profileStates(t, data, sched.StateProfileOptions{Compat: true}, sched.Sink{})
		for kind := sched.ProfileNet; kind <= sched.ProfileSched; kind++ {
			var words strings.Builder
			cmd := exec.Command("go", "tool", "trace", "-pprof="+kind.String(), name)
			cmd.Stderr = &words
			out, err := cmd.Output()
			if strings.Contains(words.String(), "failed to find matching goroutines") {
				t.Skip("there are no goroutines")
			}
			if err != nil {
				t.Fatalf("%v: %s", err, &words)
			}
			official, err := profile.Decode(out, profile.Options{})
			if err != nil {
				t.Fatal(err)
			}
			want := byText{}
			for i, id := range official.StackIDs {
				want.add(stackText(official.Stacks, id), official.Values[0][i], official.Values[1][i])
			}
			got := p.Profile(kind)
			t.Logf("%v: %d stacks, %v", kind, len(got.IDs), got.Total())
			sameProfile(t, kind.String(), textOf(got), want)

			// And once more, out of the file that is written for pprof.
			var file bytes.Buffer
			ours := pprofOf(got)
			if err := ours.Encode(&file); err != nil {
				t.Fatal(err)
			}
			written, err := google.Parse(&file)
			if err != nil {
				t.Fatal(err)
			}
			again := byText{}
			for _, s := range written.Sample {
				again.add(googleText(s), s.Value[0], s.Value[1])
			}
			sameProfile(t, kind.String()+" written", again, want)
			if !slices.Equal(ours.SampleTypes, official.SampleTypes) || ours.PeriodType != official.PeriodType || ours.Period != official.Period {
				t.Errorf("types %v, want %v", ours.SampleTypes, official.SampleTypes)
			}
		}
	})
}

// googleText is stackText of a sample as google/pprof has it.
func googleText(s *google.Sample) string {
	var b strings.Builder
	for _, l := range s.Location {
		for _, line := range l.Line {
			fmt.Fprintf(&b, "%s %s:%d\n", line.Function.Name, line.Function.Filename, line.Line)
		}
	}
	return b.String()
}

// TestStateProfileSums holds the profiles against the sums of all goroutines:
// by default nothing is left out.
func TestStateProfileSums(t *testing.T) {
	eachTrace(t, func(t *testing.T, _ string, data []byte) {
		var wait, syscall, blocked time.Duration
		p := profileStates(t, data, sched.StateProfileOptions{}, sched.Sink{Goroutine: func(g *sched.Goroutine) {
			wait += g.SchedWait
			syscall += g.Syscall + g.SyscallBlock
			blocked += g.Blocked.Sum()
		}})
		f := func(kind sched.ProfileKind, want time.Duration) {
			t.Helper()
			got := p.Profile(kind)
			t.Logf("%v: %d stacks, %v, of which %v unfinished", kind, len(got.IDs), got.Total(), got.Unfinished)
			if got.Total().Time != want {
				t.Errorf("%v: %v, want %v", kind, got.Total().Time, want)
			}
		}
		f(sched.ProfileSched, wait)
		f(sched.ProfileSyscall, syscall)
		f(sched.ProfileOffCPU, wait+syscall+blocked)
		if got, want := p.Profile(sched.ProfileCPU).Total(), (sched.Spent{Count: samples(t, data)}); got != want {
			t.Errorf("cpu: %v, want %v", got, want)
		}
	})
}

// samples counts the samples of the CPU profiler.
func samples(t *testing.T, data []byte) (n int64) {
	tr, err := exectrace.Open(data, exectrace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for r := tr.Reader(); r.Next(); {
		if r.Event().Kind == exectrace.KindStackSample {
			n++
		}
	}
	return n
}

// plain is a state profile by definition: all stays in a list, and each is
// looked at with all that restricts it.
func plain(t *testing.T, data []byte, kind sched.ProfileKind, chosen func(exectrace.GoID) bool, spans func(exectrace.GoID) []timeline.Span) byText {
	tr, err := exectrace.Open(data, exectrace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := tr.Reader()
	type where struct {
		since timeline.Time
		stack stack.ID
	}
	in := map[exectrace.GoID]where{}
	out := byText{}
	leave := func(g exectrace.GoID, at timeline.Time) {
		w, ok := in[g]
		delete(in, g)
		if !ok || !chosen(g) {
			return
		}
		var d time.Duration
		for _, s := range spans(g) {
			d += s.Overlap(timeline.Span{Start: w.since, End: at})
		}
		if d > 0 {
			out.add(stackText(r.Stacks(), w.stack), 1, int64(d))
		}
	}
	var last, sync timeline.Time
	for r.Next() {
		e := r.Event()
		last = e.Time
		if e.Kind == exectrace.KindSync {
			sync = e.Time
		}
		if e.Kind != exectrace.KindGoTransition || e.From == e.To {
			continue
		}
		leave(e.Goroutine(), e.Time)
		reason := r.WaitReason(e.Name, e.Stack)
		switch {
		case kind == sched.ProfileSched && e.To == exectrace.Runnable,
			kind == sched.ProfileSync && e.To == exectrace.Waiting && (strings.Contains(reason, "chan") || strings.Contains(reason, "sync") || reason == "select"):
			w := where{e.Time, e.Stack}
			if e.From == exectrace.Undetermined {
				w.since = sync
			}
			in[e.Goroutine()] = w
		}
	}
	for g := range in {
		leave(g, last)
	}
	return out
}

// TestStateProfileRestricted chooses goroutines, a time and regions.
func TestStateProfileRestricted(t *testing.T) {
	eachTrace(t, func(t *testing.T, _ string, data []byte) {
		var first, last timeline.Time
		regions := sched.NewRegionSpans(func(r *sched.Region) bool { return r.Name != 0 })
		profileStates(t, data, sched.StateProfileOptions{}, sched.Sink{Region: regions.Region, Goroutine: func(g *sched.Goroutine) {
			if first == 0 {
				first = g.Created
			}
			last = max(last, g.Since, g.Ended)
		}})
		middle := timeline.Span{Start: first + (last-first)/3, End: first + (last-first)/2}
		all := func(exectrace.GoID) []timeline.Span { return []timeline.Span{{Start: -1 << 62, End: 1 << 62}} }
		everyone := func(exectrace.GoID) bool { return true }
		odd := func(g exectrace.GoID) bool { return g%2 == 1 }
		f := func(name string, opts sched.StateProfileOptions, chosen func(exectrace.GoID) bool, spans func(exectrace.GoID) []timeline.Span) {
			t.Helper()
			p := profileStates(t, data, opts, sched.Sink{})
			for _, kind := range []sched.ProfileKind{sched.ProfileSync, sched.ProfileSched} {
				t.Logf("%s: %v", name, p.Profile(kind).Total())
				sameProfile(t, name, textOf(p.Profile(kind)), plain(t, data, kind, chosen, spans))
			}
		}
		f("all", sched.StateProfileOptions{}, everyone, all)
		f("goroutines", sched.StateProfileOptions{Goroutine: odd}, odd, all)
		f("span", sched.StateProfileOptions{Span: middle}, everyone, func(exectrace.GoID) []timeline.Span { return []timeline.Span{middle} })
		f("regions", sched.StateProfileOptions{Regions: regions}, everyone, regions.Spans)
	})
}

func TestRegionSpans(t *testing.T) {
	s := sched.NewRegionSpans(func(r *sched.Region) bool { return r.Task != 9 })
	for _, r := range []sched.Region{
		{G: 1, Start: 20, End: 30}, {G: 1, Start: 22, End: 25}, // one in the other
		{G: 1, Start: 0, End: 5}, {G: 1, Start: 0, End: 10}, // older than the trace
		{G: 1, Start: 90}, {G: 2, Start: 1, End: 2}, {G: 1, Task: 9, Start: 40, End: 50},
	} {
		s.Region(&r)
	}
	if got, want := fmt.Sprint(s.Spans(1)), "[{-9223372036854775808 10} {20 30} {90 9223372036854775807}]"; got != want {
		t.Errorf("spans = %s, want %s", got, want)
	}
}

// TestOffCPU looks at what a profile of the own trace must have.
func TestOffCPU(t *testing.T) {
	data, err := os.ReadFile(ownTrace(t))
	if err != nil {
		t.Fatal(err)
	}
	p := profileStates(t, data, sched.StateProfileOptions{}, sched.Sink{})
	text := textOf(p.Profile(sched.ProfileOffCPU))
	has := func(leaf, function string) {
		t.Helper()
		for stack := range text {
			if strings.HasPrefix(stack, leaf+" :0\n") && strings.Contains(stack, function) {
				return
			}
		}
		t.Errorf("no %s in %s", leaf, function)
	}
	has("[chan receive]", "sched_test.hand")
	has("[chan receive]", "sched_test.record") // parked when the trace ends
	has("[sync]", "sched_test.lock")
	has("[sleep]", "sched_test.lock")
	has("[runnable]", "sched_test.hand")
	has("[syscall]", "os.(*File).Sync")
	var nanos int64
	for _, v := range p.Profile(sched.ProfileOffCPU).ByTime() {
		nanos += v
	}
	if total := p.Profile(sched.ProfileOffCPU).Total(); nanos != int64(total.Time) {
		t.Errorf("ByTime has %d ns, Total %v", nanos, total)
	}
}
