package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestWorkUnderLock: who waits for a lock goes under the work that is done while it is held, if that keeps the lock; not where the work is done before, for
// readers, or takes little.
func TestWorkUnderLock(t *testing.T) {
	const source = "package main\n\nfunc (t *table) allow(k string) { // 3\n\tt.mu.Lock() // 4\n\tdefer t.mu.Unlock()\n\tt.evict() // 6\n}\n\nfunc (t *table) evict() { // 9\n\tfor k := range t.all { // 10\n\t\tuse(k)\n\t}\n}\n"
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
		{"readers", strings.ReplaceAll(strings.ReplaceAll(source, ".Lock", ".RLock"), ".Unlock", ".RUnlock"), 80, 1, Warning, false},
	} {
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(c.source))
		withProfile(r, recording.CPU, "cpu", column{"main.main:/src/main.go:30 main.(*table).allow:/src/main.go:6 main.(*table).evict:/src/main.go:10", []int64{c.samples}},
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
	if m := (*spent)(nil).underLock(nil, stack.Frame{}); m != nil {
		t.Error("without samples")
	}
}
