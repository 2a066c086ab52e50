package cause

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"loupe/format/compiler"
	"loupe/format/profile"
	"loupe/value/stack"
)

// frame reads "m.f f.go:12 from 10"; a name alone has no place.
func frame(text string) (f stack.Frame) {
	if n, _ := fmt.Sscanf(strings.ReplaceAll(text, ":", " "), "%s %s %d from %d", &f.Func, &f.File, &f.Line, &f.StartLine); n < 4 {
		f = stack.Frame{Func: text}
	}
	return f
}

// counted and looped are the frames below a benchmark that counts by b.N, and by b.Loop.
const (
	counted = "testing.(*B).runN|testing.(*B).launch"
	looped  = "testing.(*B).runN|testing.(*B).run1.func1"
)

// cpu makes a CPU profile of stacks, leaf first and divided by "|", with how many samples
// each has.
func cpu(samples map[string]int64) *profile.Profile {
	p := &profile.Profile{
		SampleTypes: []profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		Period:      1e7, Stacks: new(stack.Table), Values: make([][]int64, 2),
	}
	fill(p, samples, 1e7)
	return p
}

// allocs makes a profile of every allocation, of so many bytes each.
func allocs(samples map[string]int64, size int64) *profile.Profile {
	p := &profile.Profile{
		SampleTypes: []profile.ValueType{{Type: "alloc_objects", Unit: "count"}, {Type: "alloc_space", Unit: "bytes"}},
		Period:      1, Stacks: new(stack.Table), Values: make([][]int64, 2),
	}
	fill(p, samples, size)
	return p
}

func fill(p *profile.Profile, samples map[string]int64, weight int64) {
	for text, n := range samples {
		var frames []stack.FrameID
		for one := range strings.SplitSeq(text, "|") {
			frames = append(frames, p.Stacks.InternFrame(frame(one)))
		}
		p.StackIDs = append(p.StackIDs, p.Stacks.Intern(frames))
		p.Values[0] = append(p.Values[0], n)
		p.Values[1] = append(p.Values[1], n*weight)
	}
}

// runs are six of a side, which differ by a little.
func runs(operations float64, of func(wobble int64) *profile.Profile) (s Side) {
	for i := range int64(6) {
		s.Profiles = append(s.Profiles, of(i%3-1))
		s.Operations = append(s.Operations, operations)
	}
	return s
}

// sources serves the text of files.
func sources(files map[string]string) func(string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		if text, ok := files[name]; ok {
			return []byte(text), nil
		}
		return nil, errors.New("not there")
	}
}

func said(t *testing.T, text string) *compiler.Set {
	t.Helper()
	out, err := compiler.ParseText(strings.NewReader(text), compiler.Options{Package: "m"})
	if err != nil {
		t.Fatal(err)
	}
	set := &compiler.Set{}
	set.Add(out.Diagnostics...)
	return set
}

func near(got, want float64) bool { return math.Abs(got/want-1) < 1e-9 }

var module = stack.Scope{Modules: []string{"m"}}

const (
	oldText = "package m\n\nfunc f() {\n\tg()\n\th()\n\tg()\n}\n"
	newText = "package m\n\n// f is a function\n// with a comment.\n\nfunc f() {\n\tg()\n\th()\n\tg()\n}\n"
)

// What the benchmark does in one operation has tripled on a line that stands elsewhere now;
// the runs are of different lengths.
func TestBetween(t *testing.T) {
	before := runs(1000, func(wobble int64) *profile.Profile {
		return cpu(map[string]int64{
			"runtime.memmove|bytes.Clone|m.f x/m.go:4 from 3|" + counted: 100 + 3*wobble,
			"m.f x/m.go:6 from 3|" + counted:                             100 - 2*wobble,
			"m.other x/m.go:20 from 19|" + counted:                       200 + wobble,
			"m.setup x/m.go:30 from 29|" + looped:                        100,  // for the first operation
			"m.TestMain x/m.go:40 from 39|runtime.main":                  3000, // before all
		})
	})
	after := runs(2000, func(wobble int64) *profile.Profile {
		return cpu(map[string]int64{
			"runtime.memmove|bytes.Clone|m.f x/m.go:7 from 6|" + counted: 600 - 5*wobble,
			"m.f x/m.go:9 from 6|" + counted:                             200 + 3*wobble,
			"m.other x/m.go:23 from 22|" + counted:                       400 - 2*wobble,
			"m.setup x/m.go:33 from 32|" + looped:                        900,
			"m.TestMain x/m.go:43 from 42|runtime.main":                  1,
		})
	})
	before.Source, after.Source = sources(map[string]string{"x/m.go": oldText}), sources(map[string]string{"x/m.go": newText})
	before.Compiled = said(t, "x/m.go:4:3: inlining call to g\nx/m.go:3:6: can inline f\n")
	after.Compiled = said(t, "x/m.go:7:3: &v escapes to heap\nx/m.go:6:6: cannot inline f: function too complex: cost 100 exceeds budget 80\n")
	got, err := Between(before, after, Options{SampleIndex: "cpu", Scope: module})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Functions) != 1 || got.Functions[0].Name != "m.f" || len(got.Functions[0].Lines) != 1 {
		t.Fatalf("moved: %+v", got.Functions)
	}
	f := got.Functions[0]
	if !near(f.Delta.A, 2e6) || !near(f.Delta.B, 4e6) || f.Delta.Difference.Low > 2e6 || f.Delta.Difference.High < 2e6 || f.Delta.Difference.Low < 1e6 {
		t.Errorf("f costs %v and then %v ns, %+v", f.Delta.A, f.Delta.B, f.Delta.Difference)
	}
	if got := fmt.Sprint(f.Reasons); got != "[no longer: the function can be inlined now: the function cannot be inlined (function too complex: cost 100 exceeds budget 80)]" {
		t.Errorf("reasons of f: %s", got)
	}
	l := f.Lines[0]
	if l.Text != "g()" || l.File != "x/m.go" || l.Line != 7 || l.In != "bytes.Clone" || !near(l.Delta.A, 1e6) || !near(l.Delta.B, 3e6) {
		t.Errorf("line: %+v", l)
	}
	if got := fmt.Sprint(l.Reasons); got != "[no longer: the call of g is inlined now: &v escapes]" {
		t.Errorf("reasons of the line: %s", got)
	}
}

// Without a change nothing is named, however the runs differ, and also where a side has no
// source and nobody asked the compiler.
func TestNothingMoved(t *testing.T) {
	side := func() Side {
		return runs(1000, func(wobble int64) *profile.Profile {
			return cpu(map[string]int64{"m.f x/m.go:4 from 3|" + looped: 300 + 20*wobble, "m.other|" + looped: 200 - 30*wobble})
		})
	}
	got, err := Between(side(), side(), Options{SampleIndex: "cpu", Scope: module})
	if err != nil || len(got.Functions) != 0 || got.Judged == 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

// A benchmark that counts by B.Loop runs in what is otherwise the first run; package testing
// may allocate for itself where the other kind would run.
func TestLoop(t *testing.T) {
	side := func(n int64) Side {
		return runs(1000, func(int64) *profile.Profile {
			return allocs(map[string]int64{"m.f x/m.go:4 from 3|" + looped: n, "testing.(*B).launch": 1}, 64)
		})
	}
	before, after := side(1000), side(2000)
	before.Source, after.Source = sources(map[string]string{"x/m.go": oldText}), sources(map[string]string{"x/m.go": oldText})
	got, err := Between(before, after, Options{SampleIndex: "alloc_space", Scope: module})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Functions) != 1 || !near(got.Functions[0].Delta.A, 64) || !near(got.Functions[0].Delta.B, 128) {
		t.Fatalf("moved: %+v", got.Functions)
	}
	if lines := got.Functions[0].Lines; len(lines) != 1 || lines[0].Line != 4 || len(lines[0].Reasons) > 0 {
		t.Errorf("lines: %+v", lines)
	}
}

// A line whose text is another one is gone and new; why it allocates is told for the build
// that has it. One that allocated nothing before is found in the source nevertheless.
func TestAllocations(t *testing.T) {
	const before = "package m\n\nfunc f() {\n\tuse(make([]byte, 10))\n\tkeep(v)\n}\n"
	const after = "package m\n\nfunc f() {\n\tuse(make([]byte, 20))\n\tkeep(v)\n}\n"
	a := runs(10, func(int64) *profile.Profile {
		return allocs(map[string]int64{"m.f x/m.go:4 from 3|" + looped: 10}, 16)
	})
	b := runs(10, func(int64) *profile.Profile {
		return allocs(map[string]int64{"m.f x/m.go:4 from 3|" + looped: 20, "m.f x/m.go:5 from 3|" + looped: 10}, 32)
	})
	a.Source, b.Source = sources(map[string]string{"x/m.go": before}), sources(map[string]string{"x/m.go": after})
	a.Compiled = said(t, "x/m.go:4:10: make([]byte, 10) escapes to heap\n")
	b.Compiled = said(t, "x/m.go:4:10: make([]byte, 20) escapes to heap\nx/m.go:5:6: v escapes to heap\n")
	got, err := Between(a, b, Options{SampleIndex: "alloc_space", Scope: module})
	if err != nil || len(got.Functions) != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	var lines []string
	for _, l := range got.Functions[0].Lines {
		lines = append(lines, fmt.Sprintf("%s:%d %s %+.0f %v", l.File, l.Line, l.Text, l.Delta.Difference.Estimate, l.Reasons))
	}
	want := `x/m.go:4 use(make([]byte, 20)) +64 [now: make([]byte, 20) escapes]
x/m.go:5 keep(v) +32 [now: v is boxed into an interface and escapes]
x/m.go:4 use(make([]byte, 10)) -16 [no longer: make([]byte, 10) escapes]`
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("lines:\n%s\nwant\n%s", got, want)
	}
}

// Where the source of one build is not there, or the compiler was not asked about it, nothing is
// said of lines, or of the compiler: else all would look new.
func TestUnknown(t *testing.T) {
	build := func() (a, b Side) {
		a = runs(10, func(int64) *profile.Profile { return allocs(map[string]int64{"m.f x/m.go:4 from 3|" + looped: 10}, 16) })
		b = runs(10, func(int64) *profile.Profile { return allocs(map[string]int64{"m.f x/m.go:4 from 3|" + looped: 30}, 16) })
		a.Source, b.Source = sources(map[string]string{"x/m.go": oldText}), sources(map[string]string{"x/m.go": oldText})
		b.Compiled = said(t, "x/m.go:4:2: v escapes to heap\n")
		return a, b
	}
	f := func(change func(a, b *Side), lines int) {
		t.Helper()
		a, b := build()
		change(&a, &b)
		got, err := Between(a, b, Options{SampleIndex: "alloc_space", Scope: module})
		if err != nil || len(got.Functions) != 1 || len(got.Functions[0].Lines) != lines {
			t.Fatalf("%+v, %v", got, err)
		}
		for _, l := range got.Functions[0].Lines {
			if l.Reasons != nil {
				t.Errorf("reasons of %s: %v", l.Text, l.Reasons)
			}
		}
	}
	f(func(a, b *Side) {}, 1) // nobody asked
	f(func(a, b *Side) { a.Compiled = &compiler.Set{} }, 1)
	f(func(a, b *Side) { a.Source = nil }, 0)
	f(func(a, b *Side) { a.Source = sources(nil) }, 0)
}

// A benchmark that is another one is told.
func TestChangedTests(t *testing.T) {
	side := func(text string, n int64) Side {
		s := runs(10, func(int64) *profile.Profile {
			return allocs(map[string]int64{"m.f x/m.go:1 from 1|m.BenchmarkF x/m_test.go:4 from 3|" + looped: n, "m.BenchmarkG x/m_test.go:9 from 8|" + looped: 5}, 16)
		})
		s.Source = sources(map[string]string{"x/m_test.go": "package m\n\nfunc BenchmarkF() {\n" + text + "\n}\n\n\nfunc BenchmarkG() {\n\tg()\n}\n"})
		return s
	}
	got, err := Between(side("\tf(1)", 10), side("\tf(2)", 20), Options{SampleIndex: "alloc_space", Scope: module})
	if err != nil || fmt.Sprint(got.Tests) != "[m.BenchmarkF]" {
		t.Errorf("%v, %v", got.Tests, err)
	}
}

// TestRenamed: a function that has another name, and has grown, is one; its closures and its lines
// are found. A name that is still declared, or a function that has little in common, is another one.
func TestRenamed(t *testing.T) {
	const rest = "\tone()\n\ttwo()\n\tthree()\n\tgo func() {\n\t\tfour()\n\t}()\n}\n"
	f := func(name string, old, new string, want map[string]string) {
		t.Helper()
		before := runs(1000, func(wobble int64) *profile.Profile {
			return cpu(map[string]int64{"m.old x/m.go:4 from 3|" + counted: 100 + wobble, "m.old.func1 x/m.go:8 from 7|m.old x/m.go:7 from 3|" + counted: 50})
		})
		after := runs(1000, func(wobble int64) *profile.Profile {
			return cpu(map[string]int64{"m.new y/m.go:4 from 3|" + counted: 300 + wobble, "m.new.func1 y/m.go:8 from 7|m.new y/m.go:7 from 3|" + counted: 50})
		})
		before.Source, after.Source = sources(map[string]string{"x/m.go": old}), sources(map[string]string{"y/m.go": new})
		got, err := Between(before, after, Options{SampleIndex: "cpu", Scope: module})
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]string{}
		for _, f := range got.Functions {
			found[f.Name] = f.Was
			if f.Was != "" && (len(f.Lines) != 1 || f.Lines[0].Text != "one()" || !near(f.Delta.Difference.Estimate, 2e6)) {
				t.Errorf("%s: %+v", name, f)
			}
		}
		if fmt.Sprint(found) != fmt.Sprint(want) {
			t.Errorf("%s: moved %q, want %q", name, found, want)
		}
	}
	text := func(name string) string { return "package m\n\nfunc " + name + "() {\n" + rest }
	both := map[string]string{"m.old": "", "m.new": "", "m.old.func1": "", "m.new.func1": ""}
	f("a new name", text("old"), text("new"), map[string]string{"m.new": "m.old"})
	f("a method", text("(t *T) old"), text("(t T) new"), map[string]string{"m.new": "m.old"})
	f("it is still there", text("old"), text("new")+"\n"+text("old"), both)
	f("it was there before", text("old")+"\n"+text("new"), text("new"), both)
	f("another text", text("old"), "package m\n\nfunc new() {\n\ta()\n\tb()\n\tc()\n\tgo func() {\n\t\tfour()\n\t}()\n}\n", both)
	f("too short", "package m\n\nfunc old() {\n\tone()\n}\n", "package m\n\nfunc new() {\n\tone()\n}\n", both)
}

// Of profiles of one and the same program, whose runs differ by more than their samples,
// few name anything; a function that costs half as much again is found.
func TestFalseAlarms(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	poisson := func(mean float64) (n int64) {
		for sum := random.ExpFloat64(); sum < mean; sum += random.ExpFloat64() {
			n++
		}
		return n
	}
	side := func(times float64) Side {
		return runs(1000, func(int64) *profile.Profile {
			samples, whole := map[string]int64{}, math.Exp(0.1*random.NormFloat64())
			for i, mean := range []float64{400, 200, 100, 80, 60, 40, 30, 20, 10, 5, 2, 1} {
				if i == 1 {
					mean *= times
				}
				samples[fmt.Sprintf("m.f%d x/m.go:4 from 3|%s", i, counted)] = poisson(mean * whole * math.Exp(0.05*random.NormFloat64()))
			}
			return cpu(samples)
		})
	}
	named, found := 0, 0
	const times = 200
	for range times {
		for _, factor := range []float64{1, 1.5} {
			got, err := Between(side(1), side(factor), Options{SampleIndex: "cpu", Scope: module})
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case factor == 1 && len(got.Functions) > 0:
				named++
			case factor > 1 && len(got.Functions) > 0 && got.Functions[0].Name == "m.f1":
				found++
			}
		}
	}
	t.Logf("%d of %d name something where nothing has changed; %d of %d find +50%%", named, times, found, times)
	if named > times*8/100 || found < times*8/10 {
		t.Errorf("%d of %d name something where nothing has changed; %d of %d find +50%%", named, times, found, times)
	}
}
