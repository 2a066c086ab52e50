package inject

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"expvar"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// connect returns a connection to an agent of its own.
func connect(t *testing.T) *net.UnixConn {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a")
	accept, err := loupeListen(path)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	loupeGo(func() {
		defer close(served)
		if c, err := accept(); err == nil {
			loupeServe(c)
		}
	})
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		<-served
	})
	return c.(*net.UnixConn)
}

// ask sends one request and returns the whole answer.
func ask(t *testing.T, request string, hangUpAfter time.Duration) (first string, data []byte) {
	t.Helper()
	c := connect(t)
	io.WriteString(c, request+"\n")
	if hangUpAfter > 0 {
		time.AfterFunc(hangUpAfter, func() { c.CloseWrite() })
	}
	r := bufio.NewReader(c)
	first, _ = r.ReadString('\n')
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(first), data
}

func TestProfiles(t *testing.T) {
	for _, request := range []string{"cpu 50", "block 10", "mutex 10", "profile heap", "profile allocs", "profile goroutine", "profile threadcreate"} {
		if first, data := ask(t, request, 0); first != "ok" || !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
			t.Errorf("%s answered %q and %d bytes", request, first, len(data))
		}
	}
	if first, data := ask(t, "stacks", 0); first != "ok" || !bytes.HasPrefix(data, []byte("goroutine ")) {
		t.Errorf("stacks answered %q and %.20q", first, data)
	}
	if first, data := ask(t, "trace 50", 0); first != "ok" || !bytes.HasPrefix(data, []byte("go 1.")) {
		t.Errorf("trace answered %q and %d bytes", first, len(data))
	}
}

func TestHangUp(t *testing.T) {
	if first, data := ask(t, "cpu 3600000", 50*time.Millisecond); first != "ok" || len(data) == 0 {
		t.Errorf("an interrupted profile answered %q and %d bytes", first, len(data))
	}
	if first, data := ask(t, "trace 3600000", 50*time.Millisecond); first != "ok" || len(data) == 0 {
		t.Errorf("an interrupted trace answered %q and %d bytes", first, len(data))
	}
}

// TestMetrics hangs up when two samples have come, however long they take.
func TestMetrics(t *testing.T) {
	c := connect(t)
	io.WriteString(c, "metrics 10\n")
	r := bufio.NewReader(c)
	if first, err := r.ReadString('\n'); err != nil || first != "ok\n" {
		t.Fatalf("metrics answered %q, %v", first, err)
	}
	var lines [][]byte
	for range 2 {
		line, err := r.ReadBytes('\n')
		if err != nil {
			t.Fatalf("after %d samples: %v", len(lines), err)
		}
		lines = append(lines, line)
	}
	c.CloseWrite()
	if _, err := io.ReadAll(r); err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		var sample map[string]float64
		if err := json.Unmarshal(line, &sample); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		if sample["t_ns"] == 0 || sample["/gc/heap/goal:bytes"] == 0 || sample["/sched/goroutines:goroutines"] == 0 {
			t.Errorf("the sample lacks something: %s", line)
		}
	}
}

// late is an asker who takes the first sample late, and hangs up after the third.
type late struct {
	by      time.Duration
	samples chan int
	n       int
}

func (l *late) Write(p []byte) (int, error) {
	if l.n++; l.n == 1 {
		time.Sleep(l.by)
	}
	l.samples <- l.n
	if l.n == 3 {
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}

// TestLateMetrics: a sample that comes late is followed by others.
func TestLateMetrics(t *testing.T) {
	const every = 10 * time.Millisecond
	c, err := loupePauser()
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	l := &late{by: 5 * every, samples: make(chan int, 3)}
	loupeGo(func() {
		defer c.Close()
		loupeSampleMetrics(l, every, c)
	})
	for want := range 3 {
		select {
		case <-l.samples:
		case <-time.After(time.Minute):
			t.Fatalf("no other sample after %d", want)
		}
	}
}

// TestWait: a wait whose end is over does not wait.
func TestWait(t *testing.T) {
	c, err := loupePauser()
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan bool, 1)
	for _, d := range []time.Duration{-1, 0, time.Millisecond} {
		loupeGo(func() { ended <- c.wait(d) })
		select {
		case hungUp := <-ended:
			if hungUp {
				t.Errorf("wait(%d) says that the other side has hung up", d)
			}
		case <-time.After(time.Minute):
			t.Fatalf("wait(%d) does not end", d)
		}
	}
	c.Close()
}

// TestBoundary: one sample comes at once, and is marked.
func TestBoundary(t *testing.T) {
	first, data := ask(t, "boundary", 0)
	var sample map[string]float64
	if err := json.Unmarshal(data, &sample); first != "ok" || err != nil {
		t.Fatalf("boundary answered %q, %v: %s", first, err, data)
	}
	if sample["t_ns"] == 0 || sample["/gc/heap/allocs:bytes"] == 0 || sample["/loupe/boundary:samples"] != 1 {
		t.Errorf("the sample lacks something: %s", data)
	}
}

func TestErrors(t *testing.T) {
	f := func(request, want string) {
		t.Helper()
		if first, _ := ask(t, request, 0); !strings.HasPrefix(first, "error") || !strings.Contains(first, want) {
			t.Errorf("%q answered %q, want an error with %q", request, first, want)
		}
	}
	f("profile nonsense", "no profile")
	f("dance", "unknown request")
}

// TestFlight: the recorder is on for as long as somebody holds the line, and
// gives the trace of what was.
func TestFlight(t *testing.T) {
	if first, _ := ask(t, "flown", 0); !strings.HasPrefix(first, "error") {
		t.Errorf("without a recorder flown answers %q", first)
	}
	c := connect(t)
	io.WriteString(c, "flight 1000\n")
	r := bufio.NewReader(c)
	for _, want := range []string{"ok\n", "on\n"} {
		if line, err := r.ReadString('\n'); line != want {
			t.Fatalf("flight answers %q, %v, want %q", line, err, want)
		}
	}
	if first, _ := ask(t, "flight 1000", 0); !strings.HasPrefix(first, "error") {
		t.Errorf("a second recorder answers %q", first)
	}
	for range 2 {
		if first, data := ask(t, "flown", 0); first != "ok" || !bytes.HasPrefix(data, []byte("go 1.")) {
			t.Errorf("flown answers %q and %d bytes", first, len(data))
		}
	}
	c.CloseWrite()
	if rest, err := io.ReadAll(r); err != nil || len(rest) > 0 {
		t.Errorf("after hanging up: %q, %v", rest, err)
	}
	if first, _ := ask(t, "flown", 0); !strings.HasPrefix(first, "error") {
		t.Errorf("after hanging up flown answers %q", first)
	}
}

// kept is what makes the live heap of TestPeaks.
var kept [][]byte

// TestPeaks: a profile is written when a collection has found more live than ever, once
// more after the next collection, and not again while the heap is no larger.
func TestPeaks(t *testing.T) {
	kept = append(kept, make([]byte, 2*loupePeakLeast))
	defer func() { kept = nil }()
	runtime.GC()
	c := connect(t)
	io.WriteString(c, "peaks\n")
	r := bufio.NewReader(c)
	if first, err := r.ReadString('\n'); err != nil || first != "ok\n" {
		t.Fatalf("peaks answered %q, %v", first, err)
	}
	next := func(number int, least int64) {
		t.Helper()
		var n, length int
		var live int64
		if _, err := fmt.Fscanf(r, "%d %d %d\n", &n, &live, &length); err != nil || n != number || live < least {
			t.Fatalf("peak %d of %d bytes (%v), want %d of %d", n, live, err, number, least)
		}
		data := make([]byte, length)
		if _, err := io.ReadFull(r, data); err != nil || !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
			t.Fatalf("%d bytes of a profile, %v", length, err)
		}
	}
	next(1, 2*loupePeakLeast)
	runtime.GC()
	next(1, 2*loupePeakLeast)
	kept = append(kept, make([]byte, 2*loupePeakLeast))
	runtime.GC()
	next(2, 4*loupePeakLeast)
	c.CloseWrite()
	if rest, err := io.ReadAll(r); err != nil || len(rest) > 0 {
		t.Errorf("%d bytes more, %v", len(rest), err)
	}
}

// TestVars: numbers, maps and functions are read, also once more at the end; what expvar has
// itself, texts, and what panics are not.
func TestVars(t *testing.T) {
	var n atomic.Int64
	expvar.NewInt("inject.orders").Set(7)
	expvar.NewMap("inject.codes").Add("ok", 3)
	expvar.NewString("inject.text").Set("secret")
	expvar.Publish("inject.calls", expvar.Func(func() any { return n.Add(1) }))
	expvar.Publish("inject.panics", expvar.Func(func() any { panic("no") }))
	expvar.NewInt("inject.\"quoted\"\x00").Set(1)
	expvar.NewInt("inject.lines\n").Set(1)
	c := connect(t)
	io.WriteString(c, "vars 3600000\n")
	r := bufio.NewReader(c)
	if first, err := r.ReadString('\n'); err != nil || first != "ok\n" {
		t.Fatalf("vars answered %q, %v", first, err)
	}
	if _, err := r.ReadBytes('\n'); err != nil {
		t.Fatal(err)
	}
	c.CloseWrite()
	last, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	var sample struct {
		At   int64 `json:"t_ns"`
		Vars map[string]any
	}
	if err := json.Unmarshal(last, &sample); err != nil {
		t.Fatalf("%v in %s", err, last)
	}
	want := map[string]any{"inject.orders": 7.0, "inject.codes": map[string]any{"ok": 3.0}, "inject.calls": 2.0}
	if sample.At == 0 || !reflect.DeepEqual(sample.Vars, want) {
		t.Errorf("the last sample is %s, want %v", last, want)
	}
}

// BenchmarkVars is what a sample of a hundred numbers costs the program.
func BenchmarkVars(b *testing.B) {
	m, published := expvar.Get("inject.benchmark").(*expvar.Map)
	if !published { // b.Loop or -count may come again
		m = expvar.NewMap("inject.benchmark")
	}
	for i := range 100 {
		m.Add(fmt.Sprint("number", i), int64(i))
	}
	b.ReportAllocs()
	var line []byte
	for b.Loop() {
		line = loupeReadVars(line[:0])
	}
}
