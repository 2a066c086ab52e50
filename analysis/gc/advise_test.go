package gc

import (
	"strings"
	"testing"
)

// TestAdvise: the limit leaves room for what is outside of Go, is never below what the live heap
// takes, and nothing is advised where the recording cannot tell.
func TestAdvise(t *testing.T) {
	r := replayOfRows(t, steady(24))
	f := func(container, outside float64, want string) *Advice {
		t.Helper()
		a := Advise(r, AdviceOptions{Container: int64(container * (1 << 20)), Outside: outside * (1 << 20)})
		got := a.Refused
		if a.Advised != nil {
			got = a.Advised.Settings.String()
			if a.Exceeds(a.Advised) {
				t.Errorf("%g MB: %s needs more than there is", container, got)
			}
			if float64(a.Advised.Settings.Limit) < leastRoom*float64(a.NeedMB)*(1<<20) {
				t.Errorf("%g MB: the limit %s is too close to the %v MB of the live heap", container, got, a.NeedMB)
			}
			if a.Confidence == "" {
				t.Errorf("%g MB: no confidence", container)
			}
		}
		if !strings.Contains(got, want) {
			t.Errorf("%g MB, %g outside: %s, want %s", container, outside, got, want)
		}
		return a
	}
	f(1024, -1, "GOMEMLIMIT=921MiB")
	f(1024, 0, "GOMEMLIMIT=921MiB")
	f(1024, 200, "GOMEMLIMIT=722MiB") // 95 % less a quarter more than what was measured
	f(512, -1, "GOMEMLIMIT=460MiB")
	f(72, -1, "a limit there would start collections without end")
	f(512, 400, "a limit there would start collections without end")
	f(10, 400, "a limit there would start collections without end")
	if a := f(512, -1, ""); len(a.Compared) < 5 {
		t.Errorf("%d settings are compared", len(a.Compared))
	}
}

// TestAdviseRising: where the live heap rises nothing is advised, and no number of collections
// is told of a limit that it comes to.
func TestAdviseRising(t *testing.T) {
	rows := steady(60)
	for i := range rows {
		y, more := &rows[i], float64(i)
		y.HeapLiveMB += more
		y.HeapStartMB, y.HeapEndMB, y.GoalMB = y.HeapStartMB+2*more, y.HeapEndMB+2*more, y.GoalMB+2*more
	}
	r := replayOfRows(t, rows)
	a := Advise(r, AdviceOptions{Container: 256 << 20, Outside: -1})
	if a.Advised != nil || !strings.Contains(a.Refused, "still rising") {
		t.Errorf("advised %v, refused %q", a.Advised, a.Refused)
	}
	refused := false
	for i := range a.Compared {
		p := &a.Compared[i]
		if (p.State == Limited || p.State == Thrashing) && (p.Refused == "" || p.Collections.Estimate.Known() || p.CPUMS.Estimate.Known()) {
			t.Errorf("%s is predicted: %+v", p.Settings, p)
		}
		refused = refused || p.Refused != ""
	}
	if !refused {
		t.Error("no setting is refused")
	}
}

// replayOfRows is that of a log.
func replayOfRows(t *testing.T, rows []Row) *Replay {
	t.Helper()
	r, err := NewReplay(&Summary{Cycles: rows}, ReplayOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// grow adds MB to the live heap, and what follows from it, of some rows.
func grow(rows []Row, mb float64) {
	for i := range rows {
		y := &rows[i]
		y.HeapLiveMB += mb
		y.HeapStartMB, y.HeapEndMB, y.GoalMB = y.HeapStartMB+2*mb, y.HeapEndMB+2*mb, y.GoalMB+2*mb
	}
}

// TestAdviseRuns: of several runs in a log it is for the one with the highest peak heap, it says so,
// and it is never "good".
func TestAdviseRuns(t *testing.T) {
	small, large := steady(60), steady(24)
	grow(large, 100)
	s := &Summary{Runs: []Run{{Run: 0, Name: "web-1"}, {Run: 1, Name: "worker-1"}}}
	for i := range small {
		s.Cycles = append(s.Cycles, small[i])
		if i < len(large) {
			large[i].Run = 1
			s.Cycles = append(s.Cycles, large[i])
		}
	}
	r, err := NewReplay(s, ReplayOptions{})
	if err != nil {
		t.Fatal(err)
	}
	a := Advise(r, AdviceOptions{Container: 2 << 30, Outside: -1})
	if a.Run == nil || a.Run.Runs != 2 || a.Run.Name != "worker-1" || a.Recorded.Collections != 24 {
		t.Fatalf("it is for %+v with %d collections", a.Run, a.Recorded.Collections)
	}
	if a.Confidence == "good" || !strings.Contains(strings.Join(a.Why, " "), "2 runs") {
		t.Errorf("confidence %s %q", a.Confidence, a.Why)
	}
}

// TestAdviseHolds: no prediction of what was measured is below it, an advised setting fits into
// the container, and a live heap that ends far above what it was is not graded "good".
func TestAdviseHolds(t *testing.T) {
	step, burst := steady(60), steady(60)
	grow(step[56:], 50)
	grow(burst[30:31], 200)
	for name, rows := range map[string][]Row{"step": step, "burst": burst, "steady": steady(60)} {
		r := replayOfRows(t, rows)
		for _, mb := range []int64{64, 96, 128, 192, 256, 384, 512, 1024} {
			a := Advise(r, AdviceOptions{Container: mb << 20, Outside: -1})
			if p := a.Advised; p != nil {
				if float64(p.MemoryMB.High) > float64(mb) {
					t.Errorf("%s: %s is advised for %d MB and may need %.0f MB", name, p.Settings, mb, p.MemoryMB.High)
				}
				if name == "step" && a.Confidence == "good" {
					t.Errorf("%s, %d MB: %s is good", name, mb, p.Settings)
				}
			}
			if base := a.Recorded.Settings; base != nil {
				if p := r.Predict(*base); p.PeakHeapMB.High < a.Recorded.PeakHeapMB || p.MemoryMB.High < a.Recorded.PeakHeapMB {
					t.Errorf("%s: with its own settings the peak heap is up to %.0f MB and memory up to %.0f MB, measured were %.0f MB", name, p.PeakHeapMB.High, p.MemoryMB.High, a.Recorded.PeakHeapMB)
				}
			}
		}
	}
}

// TestAdviseFell: of a heap that went up and came down again it is not said that it was rising.
func TestAdviseFell(t *testing.T) {
	rows := steady(60)
	grow(rows[42:54], 60)
	a := Advise(replayOfRows(t, rows), AdviceOptions{Container: 512 << 20, Outside: -1})
	if a.Refused == "" || strings.Contains(a.Refused, "still rising") {
		t.Errorf("refused with %q", a.Refused)
	}
}
