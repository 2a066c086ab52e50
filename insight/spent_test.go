package insight

import (
	"slices"
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
)

// TestCostOfLine: what a line costs is all that is below it, of a callback that is on the same line too; what the
// function calls at other lines, or a callback of another line does, is not.
func TestCostOfLine(t *testing.T) {
	r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
	withProfile(r, recording.CPU, "cpu",
		column{"main.top:/src/a.go:5 sort.Slice sort.pdq", []int64{30}},
		column{"main.top:/src/a.go:5 sort.Slice sort.pdq main.top.func1:/src/a.go:5 main.less:/src/a.go:9 cmpbody", []int64{40}},
		column{"main.top:/src/a.go:6 main.less:/src/a.go:9", []int64{7}},
		column{"main.top:/src/a.go:6 slices.Sort", []int64{3}},
		column{"main.again:/src/a.go:5 main.again:/src/a.go:5 sort.Slice", []int64{20}})
	s := spentOf(NewInput(session.New(r.Open())))
	for _, c := range []struct {
		name string
		cost cost
		want float64
	}{
		{"with its callback", cost{file: "/src/a.go", line: 5, callee: "sort.Slice"}, 0.9},
		{"all of the line", cost{file: "/src/a.go", line: 5}, 0.9},
		{"what it does not call", cost{file: "/src/a.go", line: 5, callee: "slices.Sort"}, 0},
		{"another line", cost{file: "/src/a.go", line: 6, callee: "sort.Slice"}, 0},
		{"the same line of another file", cost{file: "/src/b.go", line: 5, callee: "sort.Slice"}, 0},
		{"the callee alone", cost{file: "/src/a.go", line: 9, callee: "cmpbody"}, 0.4},
	} {
		got := 0.0
		if m := s.mark([]cost{c.cost}); m != nil {
			got = s.share(m)
		}
		if got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestCostOfItself: what a function does with the runtime is its own, what the reader does that it is given is not.
func TestCostOfItself(t *testing.T) {
	for _, c := range []struct {
		frames string
		want   bool
	}{
		{"main.top:/src/a.go:5 io.ReadAll", true},
		{"main.top:/src/a.go:5 io.ReadAll runtime.growslice runtime.mallocgc", true},
		{"main.top:/src/a.go:5 io.ReadAll runtime.memmove", true},
		{"main.top:/src/a.go:5 io.ReadAll runtime.memclrNoHeapPointers", true},
		{"main.top:/src/a.go:5 io/ioutil.ReadAll io.ReadAll runtime.growslice", true},
		{"main.top:/src/a.go:5 io.ReadAll compress/zlib.(*reader).Read compress/flate.(*decompressor).Read", false},
		{"main.top:/src/a.go:5 io.ReadAll compress/zlib.(*reader).Read runtime.memmove", false},
		{"main.top:/src/a.go:5 io.ReadAll os.(*File).Read syscall.Read", false},
		{"main.top:/src/a.go:5 io.ReadAll bytes.(*Reader).Read runtime.memmove", false},
		{"main.top:/src/a.go:5 io.ReadAll main.(*mine).Read:/src/a.go:9 runtime.growslice", false},
		{"main.top:/src/a.go:6 io.ReadAll runtime.growslice", false},
	} {
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
		withProfile(r, recording.CPU, "cpu", column{c.frames, []int64{100}})
		s := spentOf(NewInput(session.New(r.Open())))
		callee := "io.ReadAll"
		if strings.Contains(c.frames, "ioutil") {
			callee = "io/ioutil.ReadAll"
		}
		if got := s.mark([]cost{{file: "/src/a.go", line: 5, callee: callee, itself: "readall"}}) != nil; got != c.want {
			t.Errorf("%s: %v", c.frames, got)
		}
	}
}

// TestBeside: other causes matter less only where each is worth less in the same unit.
func TestBeside(t *testing.T) {
	gain := func(rule, of string, share float64) (Finding, Card) {
		return Finding{Rule: rule, Severity: Warning}, Card{Gain: &Gain{Of: of, Share: share}}
	}
	bare := func(rule, unit string, share float64) (Finding, Card) {
		return Finding{Rule: rule, Severity: Warning, Impact: &Impact{Value: share, Unit: unit}}, Card{}
	}
	type one func() (Finding, Card)
	remark := func(f Finding, c Card) (Finding, Card) {
		f.Severity = Info
		return f, c
	}
	of := func(f Finding, c Card) one { return func() (Finding, Card) { return f, c } }
	for _, c := range []struct {
		want string
		all  []one
	}{
		{"", []one{of(gain("CP19", "CPU time", 0.3))}},
		{"One other cause matters less.", []one{of(gain("CP19", "CPU time", 0.3)), of(bare("CP01", cpuSamples, 0.2))}},
		{"One other cause is about more of the CPU time (CP01, 40.0%).", []one{of(gain("CP19", "CPU time", 0.3)), of(bare("CP01", cpuSamples, 0.4))}},
		{"Of 2 other causes, CP23 is about more of the CPU time (35.1%).", []one{of(gain("AL23", "CPU time", 0.142)), of(gain("CP23", "CPU time", 0.351)), of(gain("AL10", "CPU time", 0.05))}},
		{"Of 3 other causes, CP01 and CP23 are about more of the CPU time (40.0% at most).", []one{of(gain("AL23", "CPU time", 0.142)), of(bare("CP01", cpuSamples, 0.4)), of(gain("CP23", "CPU time", 0.351)), of(bare("CP01", cpuSamples, 0.2))}},
		{"One other cause follows.", []one{of(gain("WT01", "time of requests", 0.3)), of(bare("CP01", cpuSamples, 0.9))}},
		{"One other cause follows.", []one{of(gain("CP19", "CPU time", 0.3)), of(gain("WT01", "time of requests", 0.9))}},
		{"One other cause follows.", []one{of(gain("CP19", "CPU time", 0.3)), of(bare("AL10", "share of allocated bytes", 0.9))}},
		{"One other cause matters less.", []one{of(gain("WT01", "time of requests", 0.5)), of(gain("WT02", "time of requests", 0.4))}},
		{"One other cause is about more of the CPU time (CP23, 52.3%).", []one{of(gain("GC03", "busy time", 0.186)), of(gain("CP23", "CPU time", 0.523))}},
		{"One remark matters less.", []one{of(gain("CP19", "CPU time", 0.3)), of(remark(bare("CP01", cpuSamples, 0.2)))}},
		{"One remark is about more of the CPU time (CP01, 40.0%).", []one{of(gain("CP19", "CPU time", 0.3)), of(remark(bare("CP01", cpuSamples, 0.4)))}},
		{"Of one other cause and one remark, CP01 is about more of the CPU time (40.0%).", []one{of(gain("CP19", "CPU time", 0.3)), of(remark(bare("CP01", cpuSamples, 0.4))), of(gain("AL10", "CPU time", 0.05))}},
		{"2 other causes follow.", []one{of(gain("WT02", "time of requests", 0.5)), of(gain("WT01", "time of requests", 0.4)), of(gain("LD06", "CPU time", 0.4))}},
		{"One other cause follows.", []one{of(bare("GC01", "", 0)), of(bare("CP01", cpuSamples, 0.9))}},
	} {
		var all []Finding
		var cards []Card
		for i, x := range c.all {
			f, card := x()
			card.Finding = i
			all, cards = append(all, f), append(cards, card)
		}
		if got := Beside(all, slices.Clone(cards), len(cards)); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestFollows: that others follow is said only of those that a report shows, and a warning that it does not show is called one.
func TestFollows(t *testing.T) {
	for _, c := range []struct {
		shown     int
		of        []Severity
		want, out string
	}{
		{1, []Severity{Warning}, "", ""},
		{2, []Severity{Warning, Info}, "One remark follows.", ""},
		{3, []Severity{Warning, Warning, Info}, "One other cause and one remark follow.", ""},
		{1, []Severity{Warning, Info}, "Only the full report has 1 more remark.", "1 more remark"},
		{1, []Severity{Warning, Warning}, "Only the full report has 1 more warning.", "1 more warning"},
		{1, []Severity{Warning, Warning, Warning, Info}, "Only the full report has 2 more warnings and 1 remark.", "2 more warnings and 1 remark"},
		{0, []Severity{Warning, Info}, "Only the full report has 1 more remark.", "1 more remark"},
		{2, []Severity{Warning, Info, Info}, "One remark follows; only the full report has 1 more remark.", "1 more remark"},
		{4, []Severity{Warning, Warning, Info, Info, Info}, "One other cause and 2 remarks follow; only the full report has 1 more remark.", "1 more remark"},
		{1, []Severity{Critical, Critical, Warning, Info}, "Only the full report has 1 more critical cause, 1 warning and 1 remark.", "1 more critical cause, 1 warning and 1 remark"},
		{9, []Severity{Warning, Info}, "One remark follows.", ""},
	} {
		var all []Finding
		var cards []Card
		for i, s := range c.of {
			all, cards = append(all, Finding{Rule: "CP01", Severity: s}), append(cards, Card{Finding: i})
		}
		if got := Beside(all, cards, c.shown); got != c.want {
			t.Errorf("%d of %v: %q, want %q", c.shown, c.of, got, c.want)
		}
		if got := LeftOut(all, cards[min(max(1, c.shown), len(cards)):]); got != c.out {
			t.Errorf("%d of %v: %q, want %q", c.shown, c.of, got, c.out)
		}
	}
}
