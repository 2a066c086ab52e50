package insight

import (
	"strings"
	"testing"

	"loupe/format/profile/profiletest"
	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestGuardedCalls: a function of the program's own that returns before it uses what it is given is told by its source,
// whatever it is called, and one that uses or keeps it is not.
func TestGuardedCalls(t *testing.T) {
	const types = "package main\n\ntype log struct { level int; out io.Writer; last []any; c chan any }\n" +
		"func (l *log) Enabled(v int) bool { return v >= l.level }\n"
	const call = "func f(l *log, s *state) {\n\tl.note(1, \"state\", dump(s)) // 1\n}\n"
	for _, c := range []struct {
		name, declares, calls string
		want                  bool
	}{
		{"returns first", "func (l *log) note(v int, a ...any) {\n\tif !l.Enabled(v) {\n\t\treturn\n\t}\n\tfmt.Fprintln(l.out, a...)\n}\n", call, true},
		{"in an if", "func (l *log) note(v int, a ...any) {\n\tif v >= l.level {\n\t\tfmt.Fprintln(l.out, a...)\n\t}\n}\n", call, true},
		{"one by one", "func (l *log) note(v int, a ...any) {\n\tif !l.Enabled(v) {\n\t\treturn\n\t}\n\tfor _, x := range a {\n\t\tfmt.Fprint(l.out, x)\n\t}\n}\n", call, true},
		{"kept one by one", "func (l *log) note(v int, a ...any) {\n\tif !l.Enabled(v) {\n\t\treturn\n\t}\n\tfor _, x := range a {\n\t\tl.last = append(l.last, x)\n\t}\n}\n", call, false},
		{"an assertion", "func (l *log) note(v int, a ...any) {\n\tif v == 1 {\n\t\treturn\n\t}\n\tpanic(fmt.Sprint(a...))\n}\n", call, true},
		{"a variable that nothing else uses", "func (l *log) note(v int, a ...any) {\n\tif !l.Enabled(v) {\n\t\treturn\n\t}\n\tfmt.Fprintln(l.out, a...)\n}\n", "func f(l *log, s *state) {\n\tx := dump(s) // 1\n\tl.note(1, x)\n}\n", true},
		{"a variable that is used", "func (l *log) note(v int, a ...any) {\n\tif !l.Enabled(v) {\n\t\treturn\n\t}\n\tfmt.Fprintln(l.out, a...)\n}\n", "func f(l *log, s *state) {\n\tx := dump(s) // 1\n\tl.note(1, x)\n\ts.send(x)\n}\n", false},
		{"a text for a logger", "type logger struct { on bool }\nfunc (l *logger) note(v int, name, text string) {\n\tif !l.on {\n\t\treturn\n\t}\n\tprint(text)\n}\n", strings.Replace(call, "l *log", "l *logger", 1), true},
		{"asked before the call", "func (l *log) note(v int, a ...any) {\n\tif !l.Enabled(v) {\n\t\treturn\n\t}\n\tfmt.Fprintln(l.out, a...)\n}\n", "func f(l *log, s *state) {\n\tif l.Enabled(1) {\n\t\tl.note(1, dump(s)) // 1\n\t}\n}\n", false},
		{"asked or something else", "func (l *log) note(v int, a ...any) {\n\tif !l.Enabled(v) {\n\t\treturn\n\t}\n\tfmt.Fprintln(l.out, a...)\n}\n", "func f(l *log, s *state) {\n\tif l.Enabled(1) || s.all {\n\t\tl.note(1, dump(s)) // 1\n\t}\n}\n", true},
		{"leaves where neither is on", "func (l *log) note(v int, a ...any) {\n\tif !l.Enabled(v) {\n\t\treturn\n\t}\n\tfmt.Fprintln(l.out, a...)\n}\n", "func f(l *log, s *state) {\n\tif !l.Enabled(1) || s.quiet {\n\t\treturn\n\t}\n\tl.note(1, dump(s)) // 1\n}\n", false},
		{"used at once", "func (l *log) note(v int, a ...any) {\n\ttext := fmt.Sprint(a...)\n\tif !l.Enabled(v) {\n\t\treturn\n\t}\n\tprint(text)\n}\n", call, false},
		{"the condition is about it", "func (l *log) note(v int, a ...any) {\n\tif len(a) == 0 {\n\t\treturn\n\t}\n\tfmt.Fprintln(l.out, a...)\n}\n", call, false},
		{"kept", "func (l *log) note(v int, a ...any) {\n\tif !l.Enabled(v) {\n\t\treturn\n\t}\n\tl.last = append(l.last, a...)\n}\n", call, false},
		{"sent", "func (l *log) note(v int, a ...any) {\n\tif !l.Enabled(v) {\n\t\treturn\n\t}\n\tfor _, x := range a {\n\t\tl.c <- fmt.Sprint(a)\n\t\tuse(x)\n\t}\n}\n", call, false},
		{"not a logger, and no values of any type", "func (l *log) note(v int, name, text string) {\n\tif l.full {\n\t\treturn\n\t}\n\tl.append(text)\n}\n", strings.ReplaceAll(strings.ReplaceAll(call, "l *log", "l *store"), "log", "store"), false},
		{"the other way out does something", "func (l *log) note(v int, a ...any) {\n\tif !l.Enabled(v) {\n\t\tl.count()\n\t\treturn\n\t}\n\tfmt.Fprintln(l.out, a...)\n}\n", call, false},
		{"not in the source", "", call, false},
	} {
		text := types + c.declares + c.calls
		if got, ok := logsAround(sourceOf(text), marked(text, "main.f")[0], "main.dump"); ok != c.want {
			t.Errorf("%s: %v %+v", c.name, ok, got)
		}
	}
}

// TestGuardedCallArguments: what is made for such a call is the cause where no sample shows the call at work, and nothing
// where it writes.
func TestGuardedCallArguments(t *testing.T) {
	const source = "package core\n\nfunc run(e *Engine) {\n\te.out.note(1, rep(e))\n}\nfunc (l *Out) note(v int, a ...any) {\n\tif v < l.min {\n\t\treturn\n\t}\n\tfmt.Fprintln(l.w, a...)\n}\n"
	r := func(note string, n int64) *recordingtest.Recording {
		r := recordingtest.New("title x\ntarget package ./shop module=shop\nphase bare 0s..10s\nphase cpu 10s..15s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/core.go", Kind: recording.Source, Source: "/src/core.go"}, []byte(source))
		columns := []column{
			{"main.main shop/core.run:/src/core.go:4 shop/core.rep:/src/rep.go:9 fmt.Sprintf fmt.(*pp).doPrintf", []int64{600}},
			{"main.main shop/core.run:/src/core.go:4 runtime.convTstring runtime.mallocgc", []int64{90}},
			{"main.main shop/core.score:/src/core.go:30", []int64{300}},
		}
		if n > 0 {
			columns = append(columns, column{"main.main shop/core.run:/src/core.go:4 shop/core.(*Out).note:/src/core.go:10 " + note, []int64{n}})
		}
		return r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "cpu"}, profiletest.Profile(picture(columns...)))
	}
	f := expect(t, "off", r("", 0), "CP13", Found, "60.6% of the CPU time went into making arguments for e.out.note: core.go:4 in core.run, calling core.rep", "returns before it uses them (core.go:7)")
	severity(t, "off", f, Warning)
	if !strings.Contains(f.Advice, "Ask for the same before the call") || !shows(&f, "/src/core.go:7") {
		t.Errorf("%s %+v", f.Advice, f.Evidence)
	}
	expect(t, "on", r("fmt.Fprintln os.(*File).Write", 80), "CP13", Fine)
	expect(t, "it does something", r("shop/core.(*Out).count:/src/core.go:40", 80), "CP13", Fine)
	expect(t, "it only asks", r("shop/core.(*Out).min:/src/core.go:40", 3), "CP13", Found, "thrown away")
}
