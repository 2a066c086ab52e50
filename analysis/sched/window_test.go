package sched_test

import (
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/value/timeline"
)

// TestWindow: parts of a trace that follow each other add up to the whole, and all
// of it as a part is what it is without a filter.
func TestWindow(t *testing.T) {
	eachTrace(t, func(t *testing.T, name string, data []byte) {
		whole := analyzed(t, data, nil)
		all := whole.Info.Span
		if whole.Covers != all {
			t.Errorf("it covers %v, want all of %v", whole.Covers, all)
		}
		same := analyzed(t, data, sched.During(timeline.Span{Start: all.Start - 5, End: all.End + 5}))
		if !reflect.DeepEqual(same.Parallel, whole.Parallel) || !reflect.DeepEqual(same.GC, whole.GC) || same.Covers != all {
			t.Errorf("all of it as a part is\n%+v, not\n%+v", same.Parallel, whole.Parallel)
		}
		// Nor does it matter that a part is asked for that ends behind the trace.
		exact := analyzed(t, data, sched.During(all))
		for i, g := range exact.Groups {
			if h := same.Groups[i]; h.Exec != g.Exec || h.SchedWait != g.SchedWait || h.Syscall != g.Syscall || !reflect.DeepEqual(h.Blocked, g.Blocked) {
				t.Errorf("a goroutine that goes on at the end ran for %v, and for %v in a part that ends behind it", g.Exec, h.Exec)
			}
		}
		for _, empty := range []timeline.Span{{Start: all.Start - 50, End: all.Start - 5}, {Start: all.End + 5, End: all.End + 50}} {
			a := analyzed(t, data, sched.During(empty))
			if total(a.Parallel.Running) != 0 || len(a.GC.Pauses) != 0 || a.GC.AssistTotal != 0 || a.Covers.Len() != 0 {
				t.Errorf("in %v, beside the trace, there is %+v %+v", empty, a.Parallel, a.GC)
			}
		}
		rnd := rand.New(rand.NewPCG(3, 4))
		edges := []timeline.Time{all.Start, all.End}
		for range 9 {
			edges = append(edges, all.Start+timeline.Time(rnd.Int64N(int64(all.Len()))))
		}
		slices.Sort(edges)
		sum := measured{}
		for i, from := range edges[:len(edges)-1] {
			part := timeline.Span{Start: from, End: edges[i+1]}
			a := analyzed(t, data, sched.During(part))
			if a.Covers != part || total(a.Parallel.Running) != part.Len() || total(a.Parallel.Queued) != part.Len() {
				t.Errorf("%v: it covers %v, %v of running and %v of waiting", part, a.Covers, total(a.Parallel.Running), total(a.Parallel.Queued))
			}
			if from := a.Parallel.Use.Start; from != part.Start {
				t.Errorf("%v: the use of Ps begins at %v", part, from)
			}
			if a.Parallel.LongestIdle > part.Len() || a.Parallel.IdleWhileQueued > part.Len() {
				t.Errorf("%v: idle for %v, at a stretch for %v", part, a.Parallel.IdleWhileQueued, a.Parallel.LongestIdle)
			}
			for _, p := range a.GC.Worst {
				if p.Span.Start < part.Start || p.Span.End > part.End {
					t.Errorf("%v: a pause of %v", part, p.Span)
				}
			}
			sum.add(a)
		}
		// What goes on at the end of the trace counts in a part alone.
		want := measured{}
		want.add(whole)
		if !maps.Equal(sum, want) {
			for k := range want {
				if sum[k] != want[k] {
					t.Errorf("the parts add up to %v of %s, not to %v", sum[k], k, want[k])
				}
			}
			t.Errorf("%d figures of the parts, %d of the whole", len(sum), len(want))
		}
	})
}

// TestWindowRunning holds how many goroutines ran side by side in a part against
// the stays that the filter cuts.
func TestWindowRunning(t *testing.T) {
	eachTrace(t, func(t *testing.T, name string, data []byte) {
		all := analyzed(t, data, nil).Info.Span
		part := timeline.Span{Start: all.Start + timeline.Time(all.Len()/3), End: all.Start + timeline.Time(all.Len()/2)}
		var running time.Duration
		tr, err := exectrace.Open(data, exectrace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		a, err := sched.Analyze(tr, sched.AnalyzeOptions{Filter: sched.During(part), Each: func(_ *exectrace.Reader, i *sched.Interval) {
			if i.State == exectrace.Running {
				running += i.Len()
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		var busy time.Duration
		for k, d := range a.Parallel.Busy {
			busy += time.Duration(k) * d
		}
		if busy != running {
			t.Errorf("%v of running in parallel, the stays say %v", busy, running)
		}
	})
}

func analyzed(t *testing.T, data []byte, f *sched.Filter) *sched.Analysis {
	t.Helper()
	tr, err := exectrace.Open(data, exectrace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := sched.Analyze(tr, sched.AnalyzeOptions{Filter: f})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func total(of []time.Duration) (sum time.Duration) {
	for _, d := range of {
		sum += d
	}
	return sum
}

// measured are times that add up.
type measured map[string]time.Duration

func (m measured) add(a *sched.Analysis) {
	for k, d := range a.Parallel.Running {
		m["running "+time.Duration(k).String()] += d
	}
	for k, d := range a.Parallel.Queued {
		m["queued "+time.Duration(k).String()] += d
	}
	for i := range a.GC.Pauses {
		m["pause "+a.Reader.Name(a.GC.Pauses[i].Kind)] += a.GC.Pauses[i].Sum
	}
	for i := range a.GC.Assists {
		m["assist "+a.Reader.Name(a.GC.Assists[i].Name)] += a.GC.Assists[i].Sum
		m["ran "+a.Reader.Name(a.GC.Assists[i].Name)] += a.GC.Assists[i].Ran
	}
	for _, c := range a.GC.Cycles {
		m["marking"] += c.Span.Len()
	}
	for _, g := range a.Groups {
		name := a.Reader.Name(g.Name)
		m["exec of "+name] += g.Exec
		m["for a P of "+name] += g.SchedWait
		m["syscall of "+name] += g.Syscall + g.SyscallBlock
		m["wait of "+name] += g.Blocked.Sum()
		m["total of "+name] += g.Total
		m["ended of "+name] += time.Duration(g.Ended)
	}
	for _, g := range a.Creators {
		m["created"] += time.Duration(g.Created)
	}
	m["idle"] += a.Parallel.IdleWhileQueued
	m["steals"] += time.Duration(a.Parallel.Steals)
	for k, d := range m {
		if d == 0 {
			delete(m, k)
		}
	}
}
