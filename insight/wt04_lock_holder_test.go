package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/analysis/account"
	"loupe/analysis/facts"
	"loupe/format/profile/profiletest"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestHasLetGo: who waits for a P inside of Unlock has handed the lock over; inside of that of another lock, it holds this one.
func TestHasLetGo(t *testing.T) {
	const source = "package main\n\nfunc (t *table) record(k string) { // 3\n\tt.mu.Lock() // 4\n\tdefer t.mu.Unlock()\n\tt.put(k)\n\treturn // 7\n}\n\n" +
		"func (t *table) put(k string) {\n\tt.inner.Lock() // 11\n\tt.all[k]++\n\tt.inner.Unlock() // 13\n}\n\nfunc (t *table) let() {\n\tt.mu.Unlock() // 17\n}\n"
	at := func(fn string, line int) stack.Frame { return stack.Frame{Func: fn, File: "/src/main.go", Line: line} }
	unlock := stack.Frame{Func: "sync.(*Mutex).Unlock", File: "/go/mutex.go", Line: 2}
	record, put, let := at("main.(*table).record", 7), at("main.(*table).put", 13), at("main.(*table).let", 17)
	for _, c := range []struct {
		name   string
		kind   account.Kind
		frames []stack.Frame
		want   bool
	}{
		{"in a deferred Unlock", account.Ready, []stack.Frame{unlock, record}, true},
		{"in that of another lock", account.Ready, []stack.Frame{unlock, put, record}, false},
		{"in an Unlock of which the source does not show the Lock", account.Ready, []stack.Frame{unlock, let, record}, true},
		{"while it works", account.Ready, []stack.Frame{record}, false},
		{"it runs up to there", account.Running, []stack.Frame{unlock, record}, false},
	} {
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
		code := NewInput(session.New(r.Open())).code
		if got := hasLetGo(code, []stack.Frame{at("main.(*table).record", 4)}, facts.UnitCause{Kind: c.kind}, c.frames); got != c.want {
			t.Errorf("%s: it has let go: %v", c.name, got)
		}
	}
}

// TestRaiseHeld: work that need not be done is no less severe than the waits for the lock that it keeps; not where it is done elsewhere, is little of that,
// or nothing shows it to be needless.
func TestRaiseHeld(t *testing.T) {
	const source = "package main\n\nfunc (t *table) allow(k string) { // 3\n\tt.mu.Lock() // 4\n\tdefer t.mu.Unlock()\n\tt.copied() // 6\n}\n\nfunc (t *table) copied() { // 9\n\tmaps.Clone(t.all) // 10\n}\n"
	for _, c := range []struct {
		name, source string
		samples      int64 // of 100 that are in copied
		saves        bool
		waits        Severity
		want         Severity
	}{
		{"under the lock", source, 80, true, Warning, Warning},
		{"nothing shows it to be needless", source, 80, false, Warning, Info},
		{"little of the work under the lock", source, 20, true, Warning, Info},
		{"the waits are a remark", source, 80, true, Info, Info},
		{"before the lock", strings.NewReplacer("t.mu.Lock() // 4\n\tdefer t.mu.Unlock()", "t.copied() // 4\n", "t.copied() // 6", "t.mu.Lock(); defer t.mu.Unlock()").Replace(source), 80, true, Warning, Info},
	} {
		for _, rule := range []string{"LK01", "WT04"} {
			r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..1s profiler=cpu\n")
			r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(c.source))
			columns := picture(column{"main.main:/src/main.go:30 main.(*table).allow:/src/main.go:6 main.(*table).copied:/src/main.go:10", []int64{c.samples, c.samples * 1e7}},
				column{"main.main:/src/main.go:30 main.(*table).allow:/src/main.go:6 main.(*table).other:/src/main.go:20", []int64{100 - c.samples, (100 - c.samples) * 1e7}})
			r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "cpu"}, profiletest.Encode(columns, profiletest.Options{Types: []string{"samples/count", "cpu/nanoseconds"}, Duration: time.Second}))
			work := seenAt("AL02", Info, 80, "/src/main.go", 10).costing(cost{file: "/src/main.go", line: 10})
			work.saves = c.saves
			waits := seenAt(rule, c.waits, 90, "/src/main.go", 4)
			waits.Evidence[0].Function = "main.(*table).allow"
			if rule == "WT04" {
				waits.lockAt = "/src/main.go:4"
			}
			all := []Finding{waits, work}
			in := NewInput(session.New(r.Open()))
			raiseHeld(in, all)
			if got := all[1]; got.Severity != c.want || strings.Contains(got.Summary, "most of what is done under table.mu") != (c.want == Warning) {
				t.Errorf("%s, %s: %s: %s", c.name, rule, got.Severity, got.Summary)
			}
			if x := newCausal(in, all); (x.follows(0, 1)) != (c.want == Warning) || x.follows(1, 0) {
				t.Errorf("%s, %s: the waits follow the work: %v", c.name, rule, x.follows(0, 1))
			}
		}
	}
}
