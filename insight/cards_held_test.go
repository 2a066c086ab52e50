package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestWorkUnderLock: who waits for a lock goes under the work that is done while it is held, if that keeps the lock; not where the work is done before, for
// readers, or takes little.
func TestWorkUnderLock(t *testing.T) {
	const source = "package main\n\nfunc (t *table) allow(k string) { // 3\n\tt.mu.Lock() // 4\n\tdefer t.mu.Unlock()\n\tt.evict() // 6\n}\n\nfunc (t *table) evict() { // 9\n\tfor k := range t.all { // 10\n\t\tuse(k)\n\t}\n}\n"
	const written = "\nfunc (t *table) put(k string) {\n\tt.mu.Lock()\n\tt.all[k] = true\n\tt.mu.Unlock()\n}\n"
	for _, c := range []struct {
		name, source string
		samples      int64 // of 100 that are in evict
		cpus         float64
		severity     Severity
		want         bool
	}{
		{"under the lock", source, 80, 1, Warning, true},
		{"a remark", source, 80, 1, Info, false},
		{"the lock is mostly free", source, 80, 0.3, Warning, false},
		{"another work is most of it", source, 20, 1, Warning, false},
		{"before the lock", strings.NewReplacer("t.mu.Lock() // 4\n\tdefer t.mu.Unlock()", "t.evict() // 4\n", "t.evict() // 6", "t.mu.Lock(); defer t.mu.Unlock()").Replace(source), 80, 1, Warning, false},
		{"at another line of the lock", strings.NewReplacer("\tt.evict() // 6\n", "\tuse(k) // 6\n").Replace(source) + "\nfunc (t *table) sweep() { // 15\n\tt.mu.Lock() // 16\n\tt.evict() // 17\n\tt.mu.Unlock()\n}\n", 80, 1, Warning, true},
		{"at a line of another lock", strings.NewReplacer("\tt.evict() // 6\n", "\tuse(k) // 6\n").Replace(source) + "\nfunc (t *table) sweep() { // 15\n\tt.other.Lock() // 16\n\tt.evict() // 17\n\tt.other.Unlock()\n}\n", 80, 1, Warning, false},
		{"readers at another line", strings.NewReplacer("\tt.evict() // 6\n", "\tuse(k) // 6\n").Replace(source) + "\nfunc (t *table) sweep() { // 15\n\tt.mu.RLock() // 16\n\tt.evict() // 17\n\tt.mu.RUnlock()\n}\n", 80, 1, Warning, false},
		{"readers, and one who writes", strings.ReplaceAll(strings.ReplaceAll(source, ".Lock", ".RLock"), ".Unlock", ".RUnlock") + written, 80, 1, Warning, true},
		{"readers that do little, and one who writes", strings.ReplaceAll(strings.ReplaceAll(source, ".Lock", ".RLock"), ".Unlock", ".RUnlock") + written, 20, 1, Warning, false},
		{"readers and one who writes, and the lock is mostly free", strings.ReplaceAll(strings.ReplaceAll(source, ".Lock", ".RLock"), ".Unlock", ".RUnlock") + written, 80, 0.3, Warning, false},
		{"readers, and one who writes under another lock", strings.ReplaceAll(strings.ReplaceAll(source, ".Lock", ".RLock"), ".Unlock", ".RUnlock") + strings.ReplaceAll(written, "t.mu", "t.other"), 80, 1, Warning, false},
		{"other readers, and one who writes", strings.NewReplacer("\tt.evict() // 6\n", "\tuse(k) // 6\n", ".Lock", ".RLock", ".Unlock", ".RUnlock").Replace(source) + "\nfunc (t *table) sweep() { // 15\n\tt.mu.RLock() // 16\n\tt.evict() // 17\n\tt.mu.RUnlock()\n}\n" + written, 80, 1, Warning, true},
		{"readers, and one who writes, and the work is done before", strings.NewReplacer("t.mu.Lock() // 4\n\tdefer t.mu.Unlock()", "t.evict() // 4\n", "t.evict() // 6", "t.mu.RLock(); defer t.mu.RUnlock()").Replace(source) + written, 80, 1, Warning, false},
		{"readers", strings.ReplaceAll(strings.ReplaceAll(source, ".Lock", ".RLock"), ".Unlock", ".RUnlock"), 80, 1, Warning, false},
	} {
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(c.source))
		caller := "main.(*table).allow:/src/main.go:6"
		if strings.Contains(c.source, "sweep") {
			caller = "main.(*table).sweep:/src/main.go:17"
		}
		withProfile(r, recording.CPU, "cpu", column{"main.main:/src/main.go:30 " + caller + " main.(*table).evict:/src/main.go:10", []int64{c.samples}},
			column{"main.main:/src/main.go:30 main.(*table).allow:/src/main.go:6 main.(*table).other:/src/main.go:20", []int64{100 - c.samples}})
		in := NewInput(session.New(r.Open()))
		work := seenAt("CP20", c.severity, 80, "/src/main.go", 10).costing(cost{file: "/src/main.go", line: 10})
		convoy := seenAt("LK04", Warning, 90, "/src/main.go", 4)
		convoy.Evidence[0].Function = "main.(*table).allow"
		x := &causal{all: []Finding{convoy, work}, found: []int{0, 1}, spent: spentOf(in), marks: map[int][]bool{}, rank: map[int]float64{0: 0.9, 1: 0.8}}
		x.spent.cpus = c.cpus
		x.marks[1] = x.spent.mark(work.costs)
		x.held = lockWork(in, x)
		if got := x.follows(0, 1); got != c.want {
			t.Errorf("%s: the convoy goes under the work: %v", c.name, got)
		}
		if x.follows(1, 0) {
			t.Errorf("%s: the work goes under the convoy", c.name)
		}
	}
	if m := (*spent)(nil).underLock(nil, stack.Frame{}, true); m != nil {
		t.Error("without samples")
	}
}

// TestHolderRuns: where a machine gives a program little CPU time, the account of units tells whether who holds a lock works or waits; where it runs is told
// by the samples, and not by the line of the Unlock.
func TestHolderRuns(t *testing.T) {
	lock, unlock := accounttest.In("sync.(*Mutex).Lock@mutex.go:1", "main.handle@main.go:7"), accounttest.In("sync.(*Mutex).Unlock@mutex.go:2", "main.handle@main.go:9")
	inside := accounttest.In("net.(*conn).Read@net.go:1", "main.ask@main.go:20", "main.handle@main.go:8")
	for _, x := range []struct {
		name           string
		runs, waits    time.Duration
		samples, other int64
		want           bool
		says           string
	}{
		{"it runs", 10 * time.Millisecond, time.Millisecond, 80, 20, true, "its holder is running in main.handle, mostly at main.go:21"},
		{"it waits", time.Millisecond, 10 * time.Millisecond, 80, 20, false, "its holder is waiting for a peer's answer in main.ask at main.go:20"},
		{"few samples", 10 * time.Millisecond, time.Millisecond, 10, 90, false, "its holder is running in main.handle"},
	} {
		p := fourConnections()
		for range 6 {
			arriveAt(p, 5, "network", inside)
			for g := 6; g < 9; g++ {
				arriveAt(p, g, "sync", lock)
			}
			for g := 5; g < 9; g++ {
				p.Pass(x.waits)
				p.Wake(g, "")
				p.Start(g)
				p.Pass(x.runs)
				if g < 8 {
					p.Wake(g+1, unlock)
				}
				finishRequest(p, g)
				if g < 8 {
					p.Start(g + 1)
					p.Block("network", inside)
				}
			}
		}
		r := traceOfProgram(t, p)
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "main.go"}, []byte(strings.Repeat("\n", 4)+"package main // 5\nfunc handle() { // 6\n\tmu.Lock() // 7\n\task() // 8\n\tmu.Unlock() // 9\n}\n"))
		withProfile(r, recording.CPU, "trace", column{"main.handle:main.go:8 main.ask:main.go:21", []int64{x.samples}}, column{"main.other:main.go:30", []int64{x.other}})
		in := NewInput(session.New(r.Open()))
		s, at := spentOf(in), stack.Frame{Func: "main.handle", File: "main.go", Line: 7}
		s.cpus = 0.3
		if got := s.keptBy(in, at) != nil; got != x.want {
			t.Errorf("%s: the lock is kept by work: %v", x.name, got)
		}
		if f := answers(t, r, "LK01")[0]; !strings.Contains(f.Summary+";", x.says+";") {
			t.Errorf("%s: it says %s", x.name, f.Summary)
		}
	}
}
