package exectrace_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/trace"
	"strings"
	"sync"
	"testing"

	"loupe/format/exectrace"
)

// rotate traces this process several times in a row, with some goroutines in each.
func rotate(t *testing.T, n int) (all []*exectrace.Trace, labels []string) {
	t.Helper()
	for range n {
		var b bytes.Buffer
		if err := trace.Start(&b); err != nil {
			t.Fatal(err)
		}
		busy(t)
		trace.Stop()
		all, labels = append(all, opened(t, b.Bytes())), append(labels, string(rune('a'+len(labels)))+".trace")
		busy(t) // what no trace sees
	}
	return all, labels
}

func busy(t *testing.T) {
	var wg sync.WaitGroup
	ch := make(chan int)
	for range 20 {
		wg.Go(func() { ch <- 1 })
		wg.Go(func() { <-ch })
	}
	wg.Wait()
	trace.Log(t.Context(), "mark", "busy")
}

func opened(t *testing.T, data []byte) *exectrace.Trace {
	t.Helper()
	x, err := exectrace.Open(data, exectrace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// counted reads a trace to its end and counts events by kind, resets, and generations.
func countedEvents(t *testing.T, x *exectrace.Trace) (kinds map[exectrace.Kind]int, resets int) {
	t.Helper()
	kinds = map[exectrace.Kind]int{}
	r := x.Reader()
	for last := r.Event().Time; r.Next(); {
		e := r.Event()
		if e.Time < last {
			t.Fatalf("time goes back from %d to %d", last, e.Time)
		}
		last = e.Time
		kinds[e.Kind]++
		if e.Reset() {
			resets++
		}
	}
	if r.Err() != nil || len(r.Problems()) > 0 {
		t.Errorf("%v, %v", r.Err(), r.Problems())
	}
	return kinds, resets
}

// TestJoinRotated: traces that were taken one after the other are one, with the events
// of all, in whatever order they are named.
func TestJoinRotated(t *testing.T) {
	all, labels := rotate(t, 3)
	logs, gens := 0, 0
	for _, x := range all {
		kinds, _ := countedEvents(t, x)
		logs += kinds[exectrace.KindLog]
		gens += len(x.Generations())
	}
	for _, order := range [][]int{{0, 1, 2}, {2, 0, 1}} {
		var some []*exectrace.Trace
		var names []string
		for _, i := range order {
			some, names = append(some, all[i]), append(names, labels[i])
		}
		j, err := exectrace.Join(some, names, exectrace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		kinds, resets := countedEvents(t, j)
		if len(j.Generations()) != gens || kinds[exectrace.KindLog] != logs || logs < 3 || resets != 2 || j.Gaps() != resets {
			t.Errorf("%d generations of %d, %d logs of %d, %d resets", len(j.Generations()), gens, kinds[exectrace.KindLog], logs, resets)
		}
	}
}

// TestJoinFlight: what two looks of a flight recorder share is read once, and nothing
// is torn where they go on.
func TestJoinFlight(t *testing.T) {
	fr := trace.NewFlightRecorder(trace.FlightRecorderConfig{})
	if err := fr.Start(); err != nil {
		t.Fatal(err)
	}
	var all []*exectrace.Trace
	distinct := map[uint64]bool{}
	for range 3 {
		busy(t)
		var b bytes.Buffer
		if _, err := fr.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		x := opened(t, b.Bytes())
		all = append(all, x)
		for _, g := range x.Generations() {
			distinct[g.Number] = true
		}
	}
	fr.Stop()
	j, err := exectrace.Join(all, []string{"a", "b", "c"}, exectrace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(j.Generations()) != len(distinct) {
		t.Errorf("%d generations, want %d", len(j.Generations()), len(distinct))
	}
	kinds, resets := countedEvents(t, j)
	if kinds[exectrace.KindLog] < 3 || resets != j.Gaps() {
		t.Errorf("%d logs, %d resets, %d gaps", kinds[exectrace.KindLog], resets, j.Gaps())
	}
}

// TestJoinRefuses: what is not of one process is not shown as one.
func TestJoinRefuses(t *testing.T) {
	mine, labels := rotate(t, 1)
	f := func(want string, other []byte) {
		t.Helper()
		_, err := exectrace.Join([]*exectrace.Trace{mine[0], opened(t, other)}, []string{labels[0], "other"}, exectrace.Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	data, err := os.ReadFile("testdata/recorded/medium.trace")
	if err != nil {
		t.Fatal(err)
	}
	f("cannot show ", data)
	f("look at each", data)
	f("has no generation", []byte("go 1.26 trace\x00\x00\x00"))
}

// TestJoinProcesses: two runs of one program are not one process, though their
// generations would fit.
func TestJoinProcesses(t *testing.T) {
	child := func() *exectrace.Trace {
		t.Helper()
		name := filepath.Join(t.TempDir(), "child.trace")
		c := exec.Command(os.Args[0], "-test.run=^TestJoinChild$")
		c.Env = append(os.Environ(), "LOUPE_JOIN_CHILD="+name)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return opened(t, data)
	}
	a, b := child(), child()
	if _, err := exectrace.Join([]*exectrace.Trace{a, b}, []string{"a", "b"}, exectrace.Options{}); err == nil || !strings.Contains(err.Error(), "cannot show ") {
		t.Errorf("two processes: %v", err)
	}
}

// TestJoinChild is the process of [TestJoinProcesses], and nothing by itself.
func TestJoinChild(t *testing.T) {
	name := os.Getenv("LOUPE_JOIN_CHILD")
	if name == "" {
		return
	}
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := trace.Start(f); err != nil {
		t.Fatal(err)
	}
	busy(t)
	trace.Stop()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// FuzzJoin joins whatever opens, and reads it.
func FuzzJoin(f *testing.F) {
	data, err := os.ReadFile("testdata/recorded/size8k.trace")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data, data)
	f.Add(data, data[:len(data)/2])
	f.Fuzz(func(t *testing.T, a, b []byte) {
		x, err := exectrace.Open(a, exectrace.Options{})
		if err != nil {
			return
		}
		y, err := exectrace.Open(b, exectrace.Options{})
		if err != nil {
			return
		}
		j, err := exectrace.Join([]*exectrace.Trace{x, y}, []string{"a", "b"}, exectrace.Options{})
		if err != nil {
			return
		}
		n := 0
		for r := j.Reader(); r.Next(); n++ {
			if n > len(a)+len(b)+1000 {
				t.Fatalf("%d events of %d and %d bytes", n, len(a), len(b))
			}
		}
	})
}
