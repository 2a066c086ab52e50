package sched

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"loupe/format/godebug"
)

const text = `SCHED 0ms: gomaxprocs=4 idleprocs=3 threads=4 spinningthreads=0 needspinning=0 idlethreads=1 runqueue=0 [ 0 0 0 0 ] schedticks=[ 0 0 0 0 ]
SCHED 100ms: gomaxprocs=4 idleprocs=0 threads=6 spinningthreads=0 needspinning=0 idlethreads=1 runqueue=5 [ 1 2 0 0 ] schedticks=[ 10 10 10 10 ]
SCHED 200ms: gomaxprocs=4 idleprocs=2 threads=9 spinningthreads=1 needspinning=0 idlethreads=1 runqueue=1 [ 0 0 0 0 ] schedticks=[ 20 20 20 20 ]
SCHED 300ms: gomaxprocs=4 idleprocs=3 threads=8 spinningthreads=0 needspinning=0 idlethreads=1 runqueue=0 [ 3 0 0 0 ] schedticks=[ 30 30 30 30 ]
SCHED 400ms: gomaxprocs=4 idleprocs=4 threads=8 spinningthreads=0 needspinning=0 idlethreads=1 runqueue=0 [ 0 0 0 0 ] schedticks=[ 50 30 30 30 ]
`

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9*math.Max(1, math.Abs(want)) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func TestDerived(t *testing.T) {
	s := Analyse(godebug.Parse([]byte(text)).Samples, Options{Unrecognised: 2})
	d := s.Derived
	if len(s.Samples) != 5 || d.Samples != 4 || d.GOMAXPROCS != 4 || d.ThreadsMax != 9 || d.LongestLocal != 3 || s.Unrecognised != 2 {
		t.Errorf("%+v", d)
	}
	near(t, "duration", d.DurationMS, 300)
	near(t, "interval", d.IntervalMS, 100)
	near(t, "running", d.MeanRunning, (4+1+1+0)/4.0)
	near(t, "use", d.UsePercent, 100*6.0/16)
	if d.Busy != 3 || d.OneRunning != 2 || d.AllRunning != 1 {
		t.Errorf("busy %d, one running %d, all running %d; want 3, 2, 1", d.Busy, d.OneRunning, d.AllRunning)
	}
	near(t, "one running", d.OneRunningPercent, 200.0/3)
	near(t, "all running", d.AllRunningPercent, 25)
	// At 200 ms the one waiting goroutine has a spinning thread coming; at
	// 300 ms three wait behind one P, three Ps are idle and nobody looks.
	if d.IdleWhileWaiting != 1 {
		t.Errorf("%d samples with idle Ps while goroutines wait, want 1", d.IdleWhileWaiting)
	}
	near(t, "idle while waiting", d.IdleWhileWaitingPercent, 25)
	// Waiting: 8, 1, 3, 0.
	near(t, "queue mean", d.Queue.Mean, 3)
	near(t, "queue p50", d.Queue.P50, 2)
	near(t, "queue max", d.Queue.Max, 8)
	near(t, "queue p95", d.Queue.P95, 3+0.85*5)
	near(t, "global max", d.Global.Max, 5)
	near(t, "switches", d.SwitchesPerSec, (40+40+20)/0.3)
	for _, id := range []NoteID{NoteFewSamples, NoteSnapshot, NoteUnrecognised, NoteBlocked} {
		if !slices.ContainsFunc(s.Notes, func(n Note) bool { return n.ID == id && n.Text != "" }) {
			t.Errorf("no note %s", id)
		}
	}
}

func TestDetail(t *testing.T) {
	head := "SCHED %dms: gomaxprocs=1 idleprocs=0 threads=1 spinningthreads=0 idlethreads=0 runqueue=0 gcwaiting=0 nmidlelocked=0 stopwait=0 sysmonwait=0\n"
	log := fmt.Sprintf(head, 10) + `  P0: status=1 schedtick=7 syscalltick=0 m=0 runqsize=5 gfreecnt=0
  G1: status=2(chan receive) m=0 lockedm=-1
  G2: status=4(chan receive) m=-1 lockedm=-1
  G3: status=4100(sleep) m=-1 lockedm=-1
  G4: status=6() m=-1 lockedm=-1
` + fmt.Sprintf(head, 20) + "  G2: status=4(chan receive) m=-1 lockedm=-1\n  G3: status=4(chan receive) m=-1 lockedm=-1\n"
	d := Analyse(godebug.Parse([]byte(log)).Samples, Options{}).Derived
	want := []Wait{{"chan receive", 1.5, 2}, {"sleep", 0.5, 1}}
	if !slices.Equal(d.Waits, want) || d.GoroutinesMax != 3 || d.Queue.Max != 5 {
		t.Errorf("waits %+v, %d goroutines, queue %v", d.Waits, d.GoroutinesMax, d.Queue)
	}
}

func TestWindow(t *testing.T) {
	all := godebug.Parse([]byte(text)).Samples
	got := Window(all, 100*time.Millisecond, 300*time.Millisecond)
	if len(got) != 2 || got[0].At != 100*time.Millisecond {
		t.Errorf("%d samples", len(got))
	}
	if n := len(Window(all, time.Second, 0)); n != 0 {
		t.Errorf("%d samples of an inverted window", n)
	}
}

func TestRuns(t *testing.T) {
	s := Analyse(godebug.Parse([]byte(text+strings.Join(strings.SplitAfter(text, "\n")[:2], ""))).Samples, Options{})
	if len(s.Runs) != 2 || s.Derived.Samples != 4 || s.Runs[1].Derived.Samples != 1 || len(s.Samples) != 7 {
		t.Errorf("%d runs, %+v", len(s.Runs), s.Derived)
	}
}

// TestContract holds the names that other programs rely on.
func TestContract(t *testing.T) {
	b, err := json.Marshal(Analyse(godebug.Parse([]byte(text)).Samples, Options{}))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Schema  string
		Samples []map[string]any
	}
	if err := json.Unmarshal(b, &doc); err != nil || doc.Schema != "loupe.sched/1" {
		t.Fatalf("%v: %s", err, b)
	}
	want := map[string]any{"at_ms": 200.0, "gomaxprocs": 4.0, "idleprocs": 2.0, "threads": 9.0, "spinningthreads": 1.0, "idlethreads": 1.0, "runqueue": 1.0}
	for name, v := range want {
		if doc.Samples[2][name] != v {
			t.Errorf("%s = %v, want %v", name, doc.Samples[2][name], v)
		}
	}
	if l, ok := doc.Samples[3]["local"].([]any); !ok || len(l) != 4 || l[0] != 3.0 {
		t.Errorf("local = %v", doc.Samples[3]["local"])
	}
}

func TestSamples(t *testing.T) {
	if _, err := json.Marshal(Analyse(nil, Options{})); err != nil {
		t.Error(err)
	}
	files, _ := filepath.Glob("../../format/godebug/testdata/*.txt")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		l := godebug.Parse(data)
		s := Analyse(l.Samples, Options{})
		if _, err := json.Marshal(s); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if d := s.Derived; d.UsePercent > 100 || d.UsePercent < 0 || len(l.Samples) > 0 && d.Samples == 0 {
			t.Errorf("%s: %+v", file, d)
		}
	}
}

func ExampleAnalyse() {
	log := godebug.Parse([]byte(text))
	d := Analyse(log.Samples, Options{}).Derived
	fmt.Printf("%.1f of %d Ps ran; in %d of %d samples a P was idle while goroutines waited\n",
		d.MeanRunning, d.GOMAXPROCS, d.IdleWhileWaiting, d.Samples)
	// Output: 1.5 of 4 Ps ran; in 1 of 4 samples a P was idle while goroutines waited
}
