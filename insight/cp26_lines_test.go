package insight

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"loupe/analysis/repetition"
	repeating "loupe/format/repeats"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
)

// TestRepeatingLine: of several lines that call a function, the calls that repeat come from the one without which there would be too few, or from the only
// one that gives the same in each turn; else nobody knows.
func TestRepeatingLine(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []callLine
		again int64
		want  int // below 0: not known
	}{
		{"the others are few", []callLine{{calls: 150}, {calls: 400_000}}, 399_999, 1},
		{"as many of each", []callLine{{calls: 300}, {calls: 300}}, 299, -1},
		{"as many of each, one of which is given the same", []callLine{{calls: 300}, {calls: 300, same: true}}, 299, 1},
		{"both are given the same", []callLine{{calls: 300, same: true}, {calls: 300, same: true}}, 598, -1},
		{"not counted, and one is given the same", []callLine{{calls: -1}, {calls: -1, same: true}}, 299, 1},
		{"what is given the same are a few", []callLine{{calls: 600}, {calls: 20, same: true}}, 299, 0},
		{"what is given the same are too few", []callLine{{calls: 600}, {calls: 100, same: true}, {calls: 600}}, 299, -1},
		{"another one was not counted", []callLine{{calls: -1}, {calls: 400_000}}, 399_999, -1},
		{"the only one that was not counted", []callLine{{calls: -1}, {calls: 10}}, 399_999, 0},
	} {
		if at, ok := repeatingLine(c.lines, c.again); ok != (c.want >= 0) || ok && at != c.want {
			t.Errorf("%s: %d %v, want %d", c.name, at, ok, c.want)
		}
	}
}

// TestCP26SeveralLines: the finding names the line of the calls that repeat and counts their time, however much the others take; and no line where the counts
// do not tell which it is.
func TestCP26SeveralLines(t *testing.T) {
	const loop = "\tfor _, x := range items {\n\t\tshow(open(%s))\n\t}\n"
	for _, c := range []struct {
		name, first, second string
		line                int
		gain                float64
		open                bool
	}{
		{"each item, and the same for each", "x", `"repo"`, 8, 0.20, false},
		{"the same for each, and each item", `"repo"`, "x", 5, 0.20, false},
		{"each item, and who knows what", "x", "pick(x)", 12, 0.20, true},
		{"the same for each twice", `"repo"`, `"store"`, 5, 0.20, false},
		{"one line", "x", "", 5, 0.20, false},
	} {
		source := "package main\n\nfunc list() { // 3\n" + fmt.Sprintf(loop, c.first)
		if c.second != "" {
			source += fmt.Sprintf(loop, c.second)
		} else {
			source += "\t\n\t\n\t\n"
		}
		source += "}\n\nfunc open(name string) *repo { // 12\n\treturn read(name)\n}\n"
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase bare 0s..5s\nphase cpu 5s..9s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
		withProfile(r, recording.CPU, "cpu", column{"main.main:/src/main.go:30 main.list:/src/main.go:5 main.open:/src/main.go:13 main.read:/src/read.go:5", []int64{60}},
			column{"main.main:/src/main.go:30 main.list:/src/main.go:8 main.open:/src/main.go:13 main.read:/src/read.go:5", []int64{20}}, column{"main.main:/src/main.go:30 main.list:/src/main.go:4", []int64{20}})
		r.Put(recording.Entry{Path: "repeats.json", Kind: recording.Repeats}, []byte(`{"schema":"loupe.repeats/1","loaded":true,"ns":4000000000,"functions":[{"name":"main.list","file":"/src/main.go","line":3,"calls":10},{"name":"main.open","file":"/src/main.go","line":12,"calls":600,"time_ns":800000000}],`+
			`"within":[{"in":0,"call":1,"around":10,"around_ns":1000000000,"calls":600,"time_ns":800000000,"distinct":310,"again":290,"again_ns":200000000,"most":60,"most_one":30}]}`))
		all := answers(t, r, "CP26")
		f := all[0]
		if f.State != Found || f.Evidence[0].Line != c.line || strings.Contains(strings.Join(f.Doubts, "\n"), "do not tell which line's calls repeat: main.list calls it at main.go:5 and main.go:8") != c.open {
			t.Errorf("%s: %s %+v %q", c.name, f.Summary, f.Evidence, f.Doubts)
			continue
		}
		if open := strings.Contains(f.Summary, "the loop at"); open == c.open {
			t.Errorf("%s: %s", c.name, f.Summary)
		}
		g, ok := newCausal(NewInput(session.New(r.Open())), all).cpuGain(0)
		if !ok || g.Estimate < c.gain-0.01 || g.Estimate > c.gain+0.01 {
			t.Errorf("%s: %v %+v, want %v", c.name, ok, g, c.gain)
		}
	}
}

// TestCP26WithinUnit: what is called by others than the unit of the counts is no part of the gain.
func TestCP26WithinUnit(t *testing.T) {
	in := func(function, line string, n int64) column {
		return column{"main.main:/src/main.go:30 main." + function + ":/src/main.go:" + line + " main.open:/src/main.go:13 main.read:/src/read.go:5", []int64{n}}
	}
	for name, c := range map[string]struct {
		columns []column
		want    []cost
	}{
		"others take most": {[]column{in("list", "5", 10), in("other", "25", 80)}, []cost{{file: "/src/main.go", line: 5, callee: "main.open"}}},
		"nobody else":      {[]column{in("list", "5", 10), in("list", "8", 80)}, []cost{{file: "/src/main.go", line: 13}}},
		"a closure of it":  {[]column{in("list.func1", "5", 10), in("other", "25", 80)}, []cost{{file: "/src/main.go", line: 5, callee: "main.open"}}},
		"not seen":         {[]column{in("other", "25", 80)}, []cost{{file: "/src/main.go", line: 13}}},
	} {
		rec := recordingtest.New("title x\ntarget package . module=main\nphase cpu 5s..9s profiler=cpu\n")
		withProfile(rec, recording.CPU, "cpu", c.columns...)
		r := &repeatedCall{countedCall: countedCall{name: "main.open", costs: []cost{{file: "/src/main.go", line: 13}}}}
		if r.withinUnit(NewInput(session.New(rec.Open())), "main.list"); len(r.costs) != 1 || r.costs[0] != c.want[0] {
			t.Errorf("%s: %+v, want %+v", name, r.costs, c.want)
		}
	}
}

// TestOfOutermost: the share is one of the outermost function that calls the unit, whether or not something is told of its own calls.
func TestOfOutermost(t *testing.T) {
	pair := func(in, call int, around, calls int64, took, again time.Duration) repeating.Within {
		return repeating.Within{In: in, Call: call, Around: around, AroundTime: took, Counts: repeating.Counts{Calls: calls, AgainTime: again}}
	}
	functions := []repeating.Func{{Name: "main.main"}, {Name: "main.headers"}, {Name: "main.open"}}
	for _, c := range []struct {
		name   string
		loaded bool
		within []repeating.Within
		unit   string
		share  float64
	}{
		{"main calls it elsewhere", false, []repeating.Within{pair(1, 2, 8, 480, time.Second, 700*time.Millisecond), pair(0, 2, 1, 720, 5*time.Second, 0), pair(0, 1, 1, 8, 5*time.Second, 0)}, "main.main", 0.14},
		{"another goroutine calls the unit", false, []repeating.Within{pair(1, 2, 8, 480, time.Second, 700*time.Millisecond), pair(0, 2, 1, 720, 5*time.Second, 0)}, "main.headers", 0.7},
		{"it calls some of them", false, []repeating.Within{pair(1, 2, 8, 480, time.Second, 700*time.Millisecond), pair(0, 2, 1, 720, 5*time.Second, 0), pair(0, 1, 1, 4, 5*time.Second, 0)}, "main.headers", 0.7},
		{"a few requests", true, []repeating.Within{pair(1, 2, 8, 480, time.Second, 700*time.Millisecond), pair(0, 2, 4, 720, 5*time.Second, 0), pair(0, 1, 4, 8, 5*time.Second, 0)}, "main.headers", 0.7},
		{"many", true, []repeating.Within{pair(1, 2, 8, 480, time.Second, 700*time.Millisecond), pair(0, 2, 8, 720, 5*time.Second, 0), pair(0, 1, 8, 8, 5*time.Second, 0)}, "main.main", 0.14},
	} {
		x := repetition.Call{Func: functions[2], Unit: functions[1], Share: 0.7, Outer: c.within[0]}
		if got := ofOutermost(&repeating.Set{Loaded: c.loaded, Functions: functions, Within: c.within}, x); got.Unit.Name != c.unit || got.Share < c.share-0.001 || got.Share > c.share+0.001 {
			t.Errorf("%s: %v of %s, want %v of %s", c.name, got.Share, got.Unit.Name, c.share, c.unit)
		}
	}
}

// TestTellManyKept: many results, or large ones, are told to take memory.
func TestTellManyKept(t *testing.T) {
	for _, c := range []struct {
		distinct, around, calls, bytes int64
		says                           string
	}{
		{10, 10, 600, 0, ""},
		{400, 10, 600, 0, ""},
		{50_000, 10, 600_000, 0, "the results of about 5,000 different arguments"},
		{40, 1, 400, 4 << 20, ""},
		{40, 1, 400, 800 << 20, "a call allocates 2.00 MiB"},
	} {
		rec := recordingtest.New("title x\ntarget package . module=main\nphase allocs 5s..9s profiler=allocs\n")
		if c.bytes > 0 {
			withProfile(rec, recording.Allocs, "allocs", column{"main.main:/src/main.go:30 main.open:/src/main.go:13", []int64{1, c.bytes, 0, 0}})
		}
		r := &repeatedCall{countedCall: countedCall{name: "main.open"}}
		r.Within.Name, r.Func.Calls = "main.main", c.calls
		r.Inner.Distinct, r.Inner.Around = c.distinct, c.around
		f := Finding{}
		if r.tellKept(NewInput(session.New(rec.Open())), &f); (len(f.Doubts) == 1) != (c.says != "") || !strings.Contains(strings.Join(f.Doubts, ""), c.says) {
			t.Errorf("%+v: %q", c, f.Doubts)
		}
	}
}
