package insight

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/value/stack"
)

// TestGC11Crowd: tens of thousands of goroutines that wait for a slot are a warning with the way out, and a cause
// of what the collector takes; those that wait for the network, for work, or for a receiver, are none. Where a lock is
// held at the go statement, a wait in front of it is not advised.
func TestGC11Crowd(t *testing.T) {
	const source = "package scan\n\nfunc start(n int) {\n\tLOCK\n\tfor range n {\n\t\tgo run()\n\t}\n}\n\nfunc run() { do() }\n\nfunc do() {\n\tslots <- struct{}{} // taken\n\tdefer func() { BACK }()\n}\n"
	text := source
	crowd := func(waits string, goroutines float64) *recordingtest.Recording {
		r := reading("", "/memory/classes/heap/stacks:bytes /memory/classes/total:bytes /memory/classes/heap/released:bytes /sched/goroutines:goroutines",
			func(int) []float64 { return []float64{130 * mb, 300 * mb, 0, goroutines} })
		r.Put(recording.Entry{Path: "source/scan/a.go", Kind: recording.Source, Source: "/src/a.go"}, []byte(text))
		return withProfile(r, recording.Goroutine, "", column{"shop/scan.run:/src/a.go:10 shop/scan.do:/src/a.go:13 " + waits + " runtime.gopark", []int64{int64(goroutines) / 6}}, column{"main.main shop/scan.write:/src/none.go:30", []int64{10}})
	}
	text = strings.NewReplacer("BACK", "<-slots", "LOCK", "begin()").Replace(source)
	f := expect(t, "a crowd", crowd("runtime.chansend1", 60_000), "GC11", Found, "60,000 goroutines", "of 10,010 in the goroutine profile, 10,000 wait at scan.do at a.go:13 for their turn")
	severity(t, "a crowd", f, Warning)
	if !f.crowd || !strings.Contains(f.Advice, "Wait for a slot before the go statement at a.go:6") {
		t.Errorf("%v %s", f.crowd, f.Advice)
	}
	text = strings.NewReplacer("BACK", "<-slots", "LOCK", "mu.Lock(); defer mu.Unlock()").Replace(source)
	if f := expect(t, "under a lock", crowd("runtime.chansend1", 60_000), "GC11", Found); !f.crowd || !strings.Contains(f.Advice, "the lock that is held there (a.go:4)") {
		t.Errorf("%v %s", f.crowd, f.Advice)
	}
	text = strings.NewReplacer("BACK", "<-slots", "LOCK", "mu.Lock(); count++; mu.Unlock()").Replace(source)
	if f := expect(t, "behind a lock", crowd("runtime.chansend1", 60_000), "GC11", Found); !strings.Contains(f.Advice, "Wait for a slot before the go statement at a.go:6") {
		t.Errorf("behind a lock: %s", f.Advice)
	}
	text = strings.NewReplacer("BACK", "done()", "LOCK", "begin()").Replace(source)
	if f := expect(t, "for a receiver", crowd("runtime.chansend1", 60_000), "GC11", Found); f.crowd {
		t.Error(f.Summary)
	}
	text = strings.NewReplacer("BACK", "<-slots", "LOCK", "begin()").Replace(source)
	for name, r := range map[string]*recordingtest.Recording{
		"connections": crowd("internal/poll.runtime_pollWait", 60_000),
		"workers":     crowd("runtime.chanrecv1", 60_000),
		"fewer":       crowd("runtime.chansend1", 9_000),
	} {
		if f := expect(t, name, r, "GC11", Found); f.crowd {
			t.Errorf("%s: %s", name, f.Summary)
		}
	}
	// The collector's work is its symptom, and no other finding about stacks explains it.
	for _, crowd := range []bool{true, false} {
		all := []Finding{{Rule: "GC03", State: Found, Severity: Critical, Advice: "GOGC=200"}, {Rule: "GC11", State: Found, Severity: Warning, crowd: crowd}}
		underCause(all)
		if under := all[0].Severity == Info; under != crowd {
			t.Errorf("crowd %v: %+v", crowd, all[0])
		}
	}
}

// TestGoStatement: it is found around the line of a function without a name, and by the name of one that is
// started at one place alone.
func TestGoStatement(t *testing.T) {
	const text = `package p

func run() {
	go func() {
		work() // here
	}()
	go once()
	go twice()
	go twice()
}

func once()  { work() } // once
func twice() { work() } // twice
`
	line := func(mark string) int { return 1 + strings.Count(text[:strings.Index(text, mark)], "\n") }
	for _, c := range []struct {
		root stack.Frame
		want int
	}{
		{stack.Frame{Func: "p.run.func1", File: "a.go", Line: line("// here")}, 4},
		{stack.Frame{Func: "p.once", File: "a.go", Line: line("// once")}, 7},
		{stack.Frame{Func: "p.twice", File: "a.go", Line: line("// twice")}, 0},
		{stack.Frame{Func: "p.run", File: "b.go", Line: 3}, 0},
	} {
		at, known := goStatement(sourceOf(text), c.root)
		if known != (c.want > 0) || at.Line != c.want {
			t.Errorf("%s: %v %+v, want line %d", c.root.Func, known, at, c.want)
		}
	}
}

// TestTimeLimit: a limit that is longer than what was seen is found where the wait has several ways out, and for
// contexts in what makes them.
func TestTimeLimit(t *testing.T) {
	const text = `package main

const most = 20 * time.Second

func wait(c chan int) {
	t := time.NewTimer(most)
	select {
	case <-c: // several
	case <-t.C:
	}
	c <- 1 // alone
}

func (s *server) read(c net.Conn) {
	c.SetReadDeadline(time.Now().Add(s.patience))
	c.Read(nil) // deadline
}

var one = &server{patience: time.Minute}

func count(c, d chan int) {
	total.Add(60_000_000_000)
	select {
	case <-c: // counted
	case <-d:
	}
}

func (s *session) expired() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Since(s.last) > most // idle
}

func watch(s *session) {
	for !s.expired() {
		time.Sleep(second) // watched
	}
}

func ready(s *session) {
	for !s.found() {
		time.Sleep(second) // looked for
	}
}

func (s *session) found() bool { return s.all[most] }

func link() context.Context {
	ctx, _ := context.WithTimeout(app, 8*time.Second)
	return ctx
}
`
	line := func(mark string) int { return 1 + strings.Count(text[:strings.Index(text, mark)], "\n") }
	in := sourceInput(text)
	parked := func(at stack.Frame) []stack.Frame {
		return []stack.Frame{{Func: "runtime.gopark"}, at, {Func: "main.main"}}
	}
	for _, c := range []struct {
		name string
		at   stack.Frame
		seen time.Duration
		want int
	}{
		{"a select", stack.Frame{Func: "main.wait", File: "a.go", Line: line("// several")}, 6 * time.Second, 6},
		{"longer than the limit", stack.Frame{Func: "main.wait", File: "a.go", Line: line("// several")}, 30 * time.Second, 0},
		{"a send", stack.Frame{Func: "main.wait", File: "a.go", Line: line("// alone")}, 6 * time.Second, 0},
		{"a deadline by a field", stack.Frame{Func: "main.(*server).read", File: "a.go", Line: line("// deadline")}, 30 * time.Second, 15},
		{"a counter", stack.Frame{Func: "main.count", File: "a.go", Line: line("// counted")}, 6 * time.Second, 0},
		{"a loop that the time ends", stack.Frame{Func: "main.watch", File: "a.go", Line: line("// watched")}, 6 * time.Second, line("// idle")},
		{"a loop that the time has ended by then", stack.Frame{Func: "main.watch", File: "a.go", Line: line("// watched")}, 21 * time.Second, 0},
		{"a loop that something else ends", stack.Frame{Func: "main.ready", File: "a.go", Line: line("// looked for")}, 6 * time.Second, 0},
		{"a context", stack.Frame{Func: "context.(*cancelCtx).propagateCancel.func2", File: "context.go", Line: 5}, 6 * time.Second, line("8*time.Second")},
		{"a context that has ended by then", stack.Frame{Func: "context.(*cancelCtx).propagateCancel.func2", File: "context.go", Line: 5}, 9 * time.Second, 0},
		{"another library", stack.Frame{Func: "net/http.(*persistConn).writeLoop", File: "transport.go", Line: 5}, 6 * time.Second, 0},
	} {
		frames := parked(c.at)
		if strings.HasPrefix(c.at.Func, "context.") {
			frames = frames[:2]
		}
		if at, found := TimeLimit(in, frames, c.seen); found != (c.want > 0) || at.Line != c.want {
			t.Errorf("%s: %v %+v, want line %d", c.name, found, at, c.want)
		}
	}
}

// TestHoldsNumbers: what is added to a number keeps nothing.
func TestHoldsNumbers(t *testing.T) {
	const text = `package p

type result struct {
	bytes int64
	dirs  map[string]int64
	names map[string]string
	all   [][]byte
}

func (r *result) add(name string, data []byte) {
	n := process(data) // made
	r.bytes += n
	r.dirs[name] += n
}

func (r *result) keep(name string) {
	data := make([]byte, 9) // kept
	r.all = append(r.all, data)
	r.names[name] = string(data)
}
`
	line := func(mark string) int { return 1 + strings.Count(text[:strings.Index(text, mark)], "\n") }
	c := sourceOf(text)
	if all := c.storesOf([]stack.Frame{{Func: "p.(*result).add", File: "a.go", Line: line("// made")}}); len(all) > 0 {
		t.Errorf("numbers keep %+v", all)
	}
	if all := c.storesOf([]stack.Frame{{Func: "p.(*result).keep", File: "a.go", Line: line("// kept")}}); len(all) != 1 {
		t.Errorf("kept in %+v", all)
	}
}

// TestNothingTakenOut: where the source deletes from a map, but all that the line has allocated is still in use, that
// is said first; where some of it is gone, it is not.
func TestNothingTakenOut(t *testing.T) {
	const source = "package feed\n\nfunc (s *store) add(id string) {\n\tp := &peer{id: id}\n\ts.peers[id] = p\n}\n\nfunc (s *store) drop(id string) { delete(s.peers, id) }\n"
	for _, c := range []struct {
		all  int64
		says bool
	}{{64, true}, {70, false}} {
		r := recordingtest.New("title x\ntarget package ./shop module=shop\nphase bare 0s..6s\nphase heap 6s..7s profiler=heap\n-- load.requests load phase=bare --\n")
		r.Put(recording.Entry{Path: "source/feed/a.go", Kind: recording.Source, Source: "/src/a.go"}, []byte(source))
		r.Put(recording.Entry{Path: "heap.pb.gz", Kind: recording.Heap, Phase: "heap"}, heapProfile(
			column{"main.main shop/feed.(*store).add:/src/a.go:4", []int64{c.all << 10, c.all << 20, 64 << 10, 64 << 20}},
			column{"main.main shop/feed.other:/src/a.go:9", []int64{900, 90 << 20, 10, 1 << 20}}))
		f := expect(t, "kept", r, "GC16", Found, "it goes into the map store.peers")
		if says := strings.HasPrefix(f.Advice, "Nothing was taken out in this recording"); says != c.says {
			t.Errorf("%d MiB allocated: %s", c.all, f.Advice)
		}
	}
}

// TestIntoList: of what goes into a slice that is shortened and into a list that is not, the list is what keeps it.
func TestIntoList(t *testing.T) {
	const text = `package p

func (l *log) add(id int) {
	e := &event{id: id} // made
	l.events = append(l.events, e)
	if len(l.events) > 100 {
		l.events = l.events[1:]
	}
	l.last = LIST
}
`
	for list, want := range map[string]string{
		"&node{e, l.last}":            "the list l.last",
		"&node{event: e, of: l.last}": "the list l.last",
		"&node{e, nil}":               "It is appended to l.events, which the source shortens",
	} {
		text := strings.Replace(text, "LIST", list, 1)
		at := stack.Frame{Func: "p.(*log).add", File: "a.go", Line: 4}
		if h, ok := (sourceHolders{sourceOf(text)}).byStore([]stack.Frame{at}); !ok || !strings.Contains(h.advice, want) {
			t.Errorf("%s: %v %s", list, ok, h.advice)
		}
	}
}

// TestSkipsOthers: a loop that goes on where an element is not the one, and ends at the first that is, searches; one that
// gathers those that are, or compares with nothing from outside, does not.
func TestSkipsOthers(t *testing.T) {
	const text = `package p

func (m *matcher) find(pkg, name string) *function {
	for _, fn := range m.funcs {
		if COND {
			continue
		}
		REST
	}
	return nil
}
`
	for _, c := range []struct {
		cond, rest string
		want       handKind
	}{
		{"fn.pkg != pkg", "if fn.name == name { return fn }", searchMany},
		{"fn.pkg != pkg", "return fn", searchMany},
		{"fn.pkg != pkg", "m.all = append(m.all, fn)", searchNone},
		{"fn.pkg != \"main\"", "return fn", searchNone},
		{"fn.size > most", "return fn", searchNone},
		{"fn == nil", "return fn", searchNone},
	} {
		source := strings.NewReplacer("COND", c.cond, "REST", c.rest).Replace(text)
		for _, line := range []int{4, 5} {
			got := searchByHand(sourceOf(source), stack.Frame{Func: "p.(*matcher).find", File: "a.go", Line: line}, stack.Frame{}, true)
			if got.kind != c.want || c.want == searchMany && (got.by != matchGroup || !got.compares(line)) {
				t.Errorf("%s, %s, line %d: %+v", c.cond, c.rest, line, got)
			}
		}
	}
}

// TestCP13Changes: making an argument that changes something is an info with the line; what a method of the same name
// of another type changes is not meant, and neither is a variable of the function's own.
func TestCP13Changes(t *testing.T) {
	publish := fmt.Sprintf(publishes, "s.log.Debug(\"state\", \"all\", s.JSONString())")
	const other = "\ntype cache struct { n int }\n\nfunc (c *cache) JSONString() string {\n\tc.n++\n\treturn \"\"\n}\n"
	for body, line := range map[string]int{
		"s.made++":                8,
		"n := 0\n\tn++\n\tuse(n)": 0,
	} {
		r := logging(publish+other, 0)
		r.Put(recording.Entry{Path: "source/ir.go", Kind: recording.Source, Source: "/src/ir.go"}, []byte("package state\n\n\n\n\n\nfunc (s *State) JSONString() string {\n\t"+body+"\n\tb, _ := json.MarshalIndent(s, \"\", \" \")\n\treturn string(b)\n}\n"))
		f := expect(t, body, r, "CP13", Found)
		changes := strings.Contains(f.Advice, "JSONString changes s.made (ir.go:8)")
		if changes != (line > 0) || changes != (f.Severity == Info) || strings.Contains(f.Advice, "c.n") {
			t.Errorf("%s: %s: %s", body, f.Severity, f.Advice)
		}
	}
}

// TestWritesRecord: a handler that is only asked for, and what the runtime writes while it allocates, is no record.
func TestWritesRecord(t *testing.T) {
	for name, want := range map[string]bool{
		"log/slog.(*JSONHandler).Handle":                      true,
		"github.com/rs/zerolog.LevelWriterAdapter.WriteLevel": true,
		"go.uber.org/zap/zapcore.(*ioCore).Write":             true,
		"log/slog.appendJSONTime":                             true,
		"log/slog.(*Logger).Handler":                          false,
		"log.(*Logger).Writer":                                false,
		"runtime.(*mspan).writeHeapBitsSmall":                 false,
		"log/slog.(*Logger).Enabled":                          false,
	} {
		if writesRecord(name) != want {
			t.Errorf("%s: want %v", name, want)
		}
	}
}
