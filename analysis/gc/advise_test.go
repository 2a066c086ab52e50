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
