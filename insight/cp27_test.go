package insight

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestCP27: functions whose calls take longer with their number are told; those that take longer once, at first, or hardly
// ever are not.
func TestCP27(t *testing.T) {
	// steps are calls of so many ns each, the first, the next two, the next four and so on.
	steps := func(means ...float64) (calls, time int, text string) {
		var all []string
		for i, m := range means {
			n := 1 << i
			calls, time = calls+n, time+int(float64(n)*m)
			all = append(all, fmt.Sprintf(`{"calls":%d,"time_ns":%d,"size":%d,"digits":%d}`, n, int(float64(n)*m), n*100, int(1000*float64(n)*math.Log2(max(1, m)))))
		}
		return calls, time, strings.Join(all, ",")
	}
	curve := func(n int, of func(i int) float64) (means []float64) {
		for i := range n {
			means = append(means, of(i))
		}
		return means
	}
	for _, c := range []struct {
		name     string
		means    []float64
		around   float64 // what is around takes that many times as long
		loaded   bool
		state    State
		severity Severity
		says     string
	}{
		{"as the number of calls", curve(10, func(i int) float64 { return 5e4 * float64(int(1)<<i) }), 1.5, false, Found, Warning, "with the square of the number of calls; it takes 66.7% of the time of main.main"},
		{"with something that stays", curve(11, func(i int) float64 { return 1e6 + 5e4*float64(int(1)<<i) }), 1.5, false, Found, Warning, "with the square"},
		{"as its root", curve(14, func(i int) float64 { return 2e4 * pow(1.55, i) }), 1.5, false, Found, Warning, "faster than the number of calls"},
		{"little of the time", curve(10, func(i int) float64 { return 5e4 * float64(int(1)<<i) }), 5, false, Found, Info, "20.0%"},
		{"hardly any of it", curve(10, func(i int) float64 { return 5e4 * float64(int(1)<<i) }), 20, false, Fine, "", "1 was called often enough to compare early calls with later ones, those on all receivers together: none was seen to take longer"},
		{"the same each time", curve(12, func(i int) float64 { return 1e6 }), 1.5, false, Fine, "", "1 was called often enough to compare early calls with later ones, those on all receivers together: none was seen to take longer"},
		{"slower at first", curve(12, func(i int) float64 { return 1e7 / float64(i+1) }), 1.5, false, Fine, "", "1 was called often enough to compare early calls with later ones, those on all receivers together: none was seen to take longer"},
		{"a machine that becomes busy", curve(12, func(i int) float64 { return 1e6 + 2e6*float64(i/8) }), 1.5, false, Fine, "", "1 was called often enough to compare early calls with later ones, those on all receivers together: none was seen to take longer"},
		{"slowly, as a tree does", curve(14, func(i int) float64 { return 1e6 * float64(i+1) / 3 }), 1.5, false, Fine, "", "1 was called often enough to compare early calls with later ones, those on all receivers together: none was seen to take longer"},
		{"a cold start, then the same", append([]float64{1e5, 1e5, 1e5}, curve(9, func(i int) float64 { return 1e6 })...), 1.5, false, Fine, "", "1 was called often enough to compare early calls with later ones, those on all receivers together: none was seen to take longer"},
		{"the last calls alone, which had to wait", append(curve(9, func(i int) float64 { return 2e3 * pow(1.12, i) }), 1e6), 1.5, false, Fine, "", "1 was called often enough to compare early calls with later ones, those on all receivers together: none was seen to take longer"},
		{"few calls", curve(5, func(i int) float64 { return 1e7 * float64(int(1)<<i) }), 1.5, false, Fine, "", "none was called often enough"},
		{"one request under load", curve(10, func(i int) float64 { return 5e4 * float64(int(1)<<i) }), 1.5, true, Fine, "", "none was called often enough"},
	} {
		calls, time, course := steps(c.means...)
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase bare 0s..5s\n")
		r.Put(recording.Entry{Path: "repeats.json", Kind: recording.Repeats}, fmt.Appendf(nil, `{"schema":"loupe.repeats/1","loaded":%v,"ns":4000000000,"functions":[{"name":"main.main","file":"/src/main.go","line":5,"calls":1},{"name":"main.page","file":"/src/main.go","line":15,"calls":%d,"time_ns":%d}],
"within":[{"in":0,"call":1,"around":1,"around_ns":%d,"calls":%d,"time_ns":%d,"distinct":%d,"again":0,"most":%d,"most_one":1,"course":[%s]}]}`,
			c.loaded, calls, time, int(float64(time)*c.around), calls, time, calls, calls, course))
		f := answers(t, r, "CP27")[0]
		if f.State != c.state || !strings.Contains(f.Summary, c.says) || f.State == Found && f.Severity != c.severity {
			t.Errorf("%s: %s %s: %s", c.name, f.State, f.Severity, f.Summary)
		}
	}
}

// TestCP27Average: what few long calls have among many short ones is told as a remark, with both means; what is uneven is named by the answer that
// nothing was found, and grows of which all steps but the last ones are alike does not count.
func TestCP27Average(t *testing.T) {
	// Steps of calls, each of so many ns on average; most take 20 µs.
	for _, c := range []struct {
		name  string
		means []float64
		state State
		says  string
	}{
		{"a receiver that grows, among many small ones", []float64{2e4, 3e4, 3e4, 6e4, 9e4, 2e5, 1.6e5, 4e5, 9e5, 1.5e6, 3e6}, Found, "takes longer on average the more often it is called"},
		{"calls that had to wait, at the end", []float64{2e4, 2e4, 2e4, 2e4, 2e4, 2e4, 2e4, 2e4, 2e4, 1.5e6, 3e6}, Fine, "not steadily, as on a busy machine, or with little and much to do: main.page took 66.7% of the time of main.main, 20.0 µs a call at first and 3.00 ms in the end"},
		{"all the same, each with a wait", []float64{2e6, 2e6, 2e6, 2e6, 2e6, 2e6, 2e6, 2e6, 2e6, 2e6, 2e6}, Fine, "none was seen to take longer with the number of calls, and much of the time"},
	} {
		var all []string
		calls, time := 0, 0
		for i, m := range c.means {
			n := 1 << i
			calls, time = calls+n, time+int(float64(n)*m)
			all = append(all, fmt.Sprintf(`{"calls":%d,"time_ns":%d,"digits":%d}`, n, int(float64(n)*m), int(1000*float64(n)*math.Log2(2e4))))
		}
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase bare 0s..5s\n")
		r.Put(recording.Entry{Path: "repeats.json", Kind: recording.Repeats}, fmt.Appendf(nil, `{"schema":"loupe.repeats/1","ns":9000000000,"functions":[{"name":"main.main","file":"/src/main.go","line":5,"calls":1},{"name":"main.page","file":"/src/main.go","line":15,"calls":%d,"time_ns":%d}],
"within":[{"in":0,"call":1,"around":1,"around_ns":%d,"calls":%d,"time_ns":%d,"distinct":%d,"again":0,"most":%d,"most_one":1,"course":[%s]}]}`,
			calls, time, time*3/2, calls, time, calls, calls, strings.Join(all, ",")))
		f := answers(t, r, "CP27")[0]
		if f.State != c.state || !strings.Contains(f.Summary, c.says) {
			t.Errorf("%s: %s: %s", c.name, f.State, f.Summary)
		}
		if f.State == Found && (f.Severity != Info || !strings.Contains(f.Doubts[0], "most calls stay short, also from the 1,024th on (20.0 µs by the geometric mean)")) {
			t.Errorf("%s: %s, %q", c.name, f.Severity, f.Doubts)
		}
	}
}

// pow is x to the power of n.
func pow(x float64, n int) float64 {
	out := 1.0
	for range n {
		out *= x
	}
	return out
}

// TestCP27Share: of a function that computes, the CPU profile knows the share; the run that counts has it of itself, and that is said. A function
// literal is the one that begins where the counts say, and the program's line is shown that hands it over.
func TestCP27Share(t *testing.T) {
	const source = "package main\n\nimport \"sync\"\n\nfunc main() {\n\tvar m sync.Map\n\tm.Range(func(k, v any) bool {\n\t\twork(k) // A\n\t\treturn true\n\t})\n\tm.Range(func(k, v any) bool {\n\t\twork(v) // B\n\t\treturn true\n\t})\n}\n"
	var steps []string
	calls, time := 0, 0
	for i := range 10 {
		n, m := 1<<i, 50_000<<i
		calls, time = calls+n, time+n*m
		steps = append(steps, fmt.Sprintf(`{"calls":%d,"time_ns":%d,"digits":%d}`, n, n*m, int(1000*float64(n)*math.Log2(float64(m)))))
	}
	for _, c := range []struct {
		name, stack, says, unit string
	}{
		{"sampled", "runtime.main main.main:/src/main.go:7 internal/sync.iter sync.(*Map).Range main.main.func1:/src/main.go:8 main.work:/src/work.go:3", "it takes 80.0% of the CPU time, and 66.7% of the time of main.main in the run that counts calls", "share of CPU samples"},
		{"another literal", "runtime.main main.main:/src/main.go:11 sync.(*Map).Range main.main.func2:/src/main.go:12 main.work:/src/work.go:3", "it takes 66.7% of the time of main.main in the run that counts calls", "share of the time of main.main in the run that counts calls"},
	} {
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
		r.Put(recording.Entry{Path: "repeats.json", Kind: recording.Repeats}, fmt.Appendf(nil, `{"schema":"loupe.repeats/1","ns":4000000000,"functions":[{"name":"main.main","file":"/src/main.go","line":5,"calls":1},{"name":"main.main.func","file":"/src/main.go","line":7,"calls":%d,"time_ns":%d}],
"within":[{"in":0,"call":1,"around":1,"around_ns":%d,"calls":%d,"time_ns":%d,"distinct":%d,"again":0,"most":%d,"most_one":1,"course":[%s]}]}`,
			calls, time, time*3/2, calls, time, calls, calls, strings.Join(steps, ",")))
		withProfile(r, recording.CPU, "cpu", column{c.stack, []int64{80}}, column{"runtime.main main.main:/src/main.go:6 runtime.memmove", []int64{20}})
		f := answers(t, r, "CP27")[0]
		if f.State != Found || !strings.Contains(f.Summary, c.says) || f.Impact.Unit != c.unit {
			t.Errorf("%s: %s %+v", c.name, f.Summary, f.Impact)
		}
		if c.name == "sampled" && (f.Evidence[0].Line != 7 || len(f.costs) == 0) {
			t.Errorf("%s: %+v, %+v", c.name, f.Evidence[0], f.costs)
		}
	}
}

// TestCP27Siblings: of several functions beside each other that call one which grows, the one with most of its time is named; if none has half of it, what is
// around all.
func TestCP27Siblings(t *testing.T) {
	course := func(n int) (text string, calls, time int) {
		var all []string
		for i := range n {
			c := 1 << i
			calls, time = calls+c, time+c*5e4*c
			all = append(all, fmt.Sprintf(`{"calls":%d,"time_ns":%d,"size":%d,"digits":%d}`, c, c*5e4*c, c*100, int(1000*float64(c)*math.Log2(5e4*float64(c)))))
		}
		return strings.Join(all, ","), calls, time
	}
	within := func(in, n, around int) string {
		text, calls, time := course(n)
		return fmt.Sprintf(`{"in":%d,"call":1,"around":1,"around_ns":%d,"calls":%d,"time_ns":%d,"distinct":%d,"again":0,"most":%d,"most_one":1,"course":[%s]}`, in, time+around, calls, time, calls, calls, text)
	}
	for want, pairs := range map[string][]string{
		"within one call of main.spans,": {within(3, 9, 10), within(2, 11, 20), within(0, 11, 5000)}, // links are nearer, and have less
		"within one call of main.main,":  {within(3, 9, 10), within(2, 9, 20), within(0, 11, 5000)},
	} {
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase bare 0s..5s\n")
		_, calls, time := course(11)
		r.Put(recording.Entry{Path: "repeats.json", Kind: recording.Repeats}, fmt.Appendf(nil, `{"schema":"loupe.repeats/1","ns":4000000000,"functions":[{"name":"main.main","file":"/src/main.go","line":5,"calls":1},{"name":"main.page","file":"/src/main.go","line":15,"calls":%d,"time_ns":%d},{"name":"main.spans","file":"/src/main.go","line":25,"calls":1},{"name":"main.links","file":"/src/main.go","line":35,"calls":1}],"within":[%s]}`,
			calls, time, strings.Join(pairs, ",")))
		if f := answers(t, r, "CP27")[0]; f.State != Found || !strings.Contains(f.Summary, want) {
			t.Errorf("%s: %s", want, f.Summary)
		}
	}
}
