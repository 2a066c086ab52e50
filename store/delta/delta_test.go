package delta_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"loupe/format/profile"
	"loupe/store/delta"
)

// cumulative is a profile of folded stacks, whose numbers are alloc_space and, four times
// as much, inuse_space.
func cumulative(t *testing.T, lines ...string) *profile.Profile {
	t.Helper()
	p, err := profile.Decode([]byte(strings.Join(lines, "\n")+"\n"), profile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	q := *p
	q.SampleTypes = []profile.ValueType{{Type: "alloc_space", Unit: "bytes"}, {Type: "inuse_space", Unit: "bytes"}}
	q.Values = [][]int64{p.Values[0], nil}
	for _, v := range p.Values[0] {
		q.Values[1] = append(q.Values[1], 4*v)
	}
	return &q
}

// show is a column as sorted folded stacks.
func show(t *testing.T, p *profile.Profile, column int) string {
	t.Helper()
	if p == nil {
		return "nothing"
	}
	var b bytes.Buffer
	if err := p.WriteFolded(&b, column); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	slices.Sort(lines)
	return strings.Join(lines, ", ")
}

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// step is a reading and what comes of it.
type step struct {
	process delta.Process
	lines   []string
	outcome delta.Outcome
	alloc   string
	fallen  int
}

func run(t *testing.T, e *delta.Engine, steps ...step) {
	t.Helper()
	for i, s := range steps {
		d, err := e.Add(delta.Reading{Target: "a", Kind: "allocs", Process: s.process, Profile: cumulative(t, s.lines...), At: epoch.Add(time.Duration(i) * time.Minute)})
		if err != nil {
			t.Fatal(err)
		}
		if got := show(t, d.Profile, 0); got != s.alloc || d.Outcome != s.outcome || d.Fallen != s.fallen {
			t.Errorf("step %d: %d %s, %d fallen; want %d %s, %d", i, d.Outcome, got, d.Fallen, s.outcome, s.alloc, s.fallen)
		}
	}
}

func TestDeltas(t *testing.T) {
	started := delta.Process{Start: epoch, Build: "v1"}
	later := delta.Process{Start: epoch.Add(time.Hour), Build: "v1"}
	l := func(lines ...string) []string { return lines }

	// Stacks that vanish and come again, and one that is new.
	run(t, new(delta.Engine),
		step{lines: l("a;b 5", "a;c 7"), outcome: delta.First},
		step{lines: l("a;b 6"), outcome: delta.Since, alloc: "a;b 1"},
		step{lines: l("a;b 6", "a;c 9", "a;d 1"), outcome: delta.Since, alloc: "a;c 2, a;d 1"},
	)
	// A process that nobody knows has begun anew when anything falls.
	run(t, new(delta.Engine),
		step{lines: l("a;b 5", "a;c 7"), outcome: delta.First},
		step{lines: l("a;b 4", "a;c 8"), outcome: delta.Restart, alloc: "a;b 4, a;c 8"},
		step{lines: l("a;b 5", "a;c 8"), outcome: delta.Since, alloc: "a;b 1"},
	)
	// Another start or build is another process, even if nothing falls.
	run(t, new(delta.Engine),
		step{process: started, lines: l("a;b 5"), outcome: delta.First},
		step{process: later, lines: l("a;b 9"), outcome: delta.Restart, alloc: "a;b 9"},
		step{process: delta.Process{Start: epoch.Add(time.Hour), Build: "v2"}, lines: l("a;b 9"), outcome: delta.Restart, alloc: "a;b 9"},
	)
	// In the very same process what falls is an error of the profiler, and not all anew.
	run(t, new(delta.Engine),
		step{process: started, lines: l("a;b 5", "a;c 1000"), outcome: delta.First},
		step{process: started, lines: l("a;b 6", "a;c 999"), outcome: delta.Since, alloc: "a;b 1", fallen: 1},
		step{process: started, lines: l("a;b 6", "a;c 1001"), outcome: delta.Since, alloc: "a;c 1"},
	)
	// A start that is computed from the uptime is not exact.
	run(t, new(delta.Engine),
		step{process: started, lines: l("a;b 5"), outcome: delta.First},
		step{process: delta.Process{Start: epoch.Add(400 * time.Millisecond)}, lines: l("a;b 6"), outcome: delta.Since, alloc: "a;b 1"},
		step{process: delta.Process{Start: epoch.Add(200 * time.Millisecond)}, lines: l("a;b 1"), outcome: delta.Restart, alloc: "a;b 1"},
	)
}

// TestStates: states and what covers its own time pass as they are; of a first reading
// there is nothing else.
func TestStates(t *testing.T) {
	var e delta.Engine
	for i, lines := range [][]string{{"a;b 5", "a;c 7"}, {"a;b 5", "a;c 7"}} {
		d, err := e.Add(delta.Reading{Target: "a", Kind: "heap", Profile: cumulative(t, lines...), At: epoch.Add(time.Duration(i) * time.Minute)})
		if err != nil || show(t, d.Profile, 0) != "" || show(t, d.Profile, 1) != "a;b 20, a;c 28" {
			t.Errorf("%q, %q, %v", show(t, d.Profile, 0), show(t, d.Profile, 1), err)
		}
		if i == 1 && (d.Profile.Duration != time.Minute || !d.From.Equal(epoch)) {
			t.Error(d.Profile.Duration, d.From)
		}
	}
	// CPU, goroutines, and what is a difference already.
	for _, typ := range []string{"cpu", "goroutine", "inuse_space"} {
		p := *cumulative(t, "a;b 5")
		p.SampleTypes = []profile.ValueType{{Type: typ}, {Type: typ}}
		if d, err := e.Add(delta.Reading{Target: "a", Kind: typ, Profile: &p}); d.Outcome != delta.Passed || d.Profile != &p || err != nil {
			t.Errorf("%s: %+v, %v", typ, d, err)
		}
	}
	p := *cumulative(t, "a;b 5")
	p.Duration = time.Second
	if d, _ := e.Add(delta.Reading{Target: "a", Kind: "heap", Profile: &p, At: epoch.Add(time.Hour)}); d.Outcome != delta.Passed {
		t.Errorf("%+v", d)
	}
}

func TestOutdated(t *testing.T) {
	var e delta.Engine
	add := func(minute int, v int) delta.Delta {
		d, err := e.Add(delta.Reading{Target: "a", Kind: "allocs", Profile: cumulative(t, fmt.Sprintf("a;b %d", v)), At: epoch.Add(time.Duration(minute) * time.Minute)})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	add(1, 10)
	if d := add(0, 5); d.Outcome != delta.Outdated || d.Profile != nil {
		t.Errorf("%+v", d)
	}
	if d := add(2, 12); show(t, d.Profile, 0) != "a;b 2" {
		t.Errorf("%+v", d)
	}
}

// TestBounds holds what is kept: of one target, and of all.
func TestBounds(t *testing.T) {
	e := &delta.Engine{MaxStacks: 2, MaxTotal: 3}
	add := func(target string, minute int, lines ...string) (delta.Delta, error) {
		return e.Add(delta.Reading{Target: target, Kind: "allocs", Profile: cumulative(t, lines...), At: epoch.Add(time.Duration(minute) * time.Minute)})
	}
	if _, err := add("a", 0, "x 1", "y 1", "z 1"); err == nil || !strings.Contains(err.Error(), "allocs of a") {
		t.Error(err)
	}
	add("a", 0, "x 1", "y 1")
	add("b", 0, "x 1", "y 1") // there is no room for both
	if d, _ := add("b", 1, "x 2"); d.Outcome != delta.Since {
		t.Errorf("%+v", d)
	}
	if d, _ := add("a", 1, "x 2"); d.Outcome != delta.First {
		t.Errorf("%+v", d)
	}
	e.Forget("a")
	if d, _ := add("a", 2, "x 3"); d.Outcome != delta.First {
		t.Errorf("%+v", d)
	}
}

//go:noinline
func allocate(n int) (out [][]byte) {
	for range n {
		out = append(out, make([]byte, 100_000))
	}
	return out
}

// contend makes goroutines wait for each other.
func contend() {
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				mu.Lock()
				runtime.Gosched()
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

// TestServer takes real profiles of a server: the sum of the deltas is the last profile
// less the first, stack by stack.
func TestServer(t *testing.T) {
	defer runtime.SetMutexProfileFraction(runtime.SetMutexProfileFraction(1))
	runtime.SetBlockProfileRate(1)
	defer runtime.SetBlockProfileRate(0)
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	server := httptest.NewServer(mux)
	defer server.Close()

	take := func(kind string) *profile.Profile {
		answer, err := http.Get(server.URL + "/debug/pprof/" + kind)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		data, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		p, err := profile.Decode(data, profile.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, kind := range []string{"allocs", "mutex", "block"} {
		var e delta.Engine
		var first, last *profile.Profile
		var sum profile.Merger
		n := 0
		for i := range 5 {
			contend()
			keep := allocate(20 * i)
			runtime.GC() // the heap profile is of the last collection
			runtime.GC()
			last = take(kind)
			runtime.KeepAlive(keep)
			if first == nil {
				first = last
			}
			d, err := e.Add(delta.Reading{Target: server.URL, Kind: kind, Profile: last, At: epoch.Add(time.Duration(i) * time.Second)})
			if err != nil || i > 0 && d.Outcome != delta.Since {
				t.Fatalf("%s: %+v, %v", kind, d, err)
			}
			if i > 0 && d.Profile != nil {
				n++
				if err := sum.Add(d.Profile); err != nil {
					t.Fatal(err)
				}
			}
		}
		if n == 0 {
			t.Fatalf("%s: nothing has happened", kind)
		}
		got, err := sum.Profile()
		if err != nil {
			t.Fatal(err)
		}
		want, err := profile.Merge(last, first.Negate())
		if err != nil {
			t.Fatal(err)
		}
		for i, typ := range want.SampleTypes {
			if !delta.IsCumulative(typ) {
				continue
			}
			if a, b := show(t, got, i), show(t, want, i); a != b || a == "" {
				t.Errorf("%s %s: the deltas are\n%s\nwant\n%s", kind, typ, strings.ReplaceAll(a, ", ", "\n"), strings.ReplaceAll(b, ", ", "\n"))
			}
		}
	}
}
