package insight

import (
	"fmt"
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestCP26: functions whose calls had the arguments and the result of an earlier one are told with what is around; what has
// to be called each time, by the counts or by the source, is not, or no warning.
func TestCP26(t *testing.T) {
	const source = "func list(items []string) { // 5\n\tfor _, x := range items {\n\t\tshow(x)\n\t}\n}\n\nfunc show(x string) { // 11\n\tprint(open(\"repo\"), x)\n}\n\nfunc open(name string) *repo { // 15\n\treturn read(name)\n}\n"
	const row = `{"in":%d,"call":2,"around":%d,"around_ns":1000000000,"calls":600,"time_ns":700000000,"distinct":%d,"again":%d,"again_ns":%d,"most":60,"most_one":60%s}`
	const putMethod = "\nfunc (r *repo) put(l string) { r.by[l] = append(r.by[l], l); r.all = append(r.all, l) }\n"
	rows := func(in, around, distinct, again, ns int, rest string) string {
		return fmt.Sprintf(row, in, around, distinct, again, ns, rest)
	}
	for _, c := range []struct {
		name, rows, source string
		loaded             bool
		state              State
		severity           Severity
		says               string
	}{
		{"in each request", rows(0, 10, 10, 590, 650e6, ""), source, true, Found, Warning, "main.open is called 60 times in each call of main.list, with the same arguments, and returns the same each time: the calls after the first take 65.0% of the time of main.list; the loop at main.go:6 comes to it in each turn"},
		{"with some arguments", rows(0, 10, 120, 480, 500e6, ""), source, true, Found, Warning, "with 12 different arguments"},
		{"results that were not seen as a whole", rows(0, 10, 10, 590, 650e6, `,"vague":true`), source, true, Found, Warning, "returns what looks the same"},
		{"arguments that were not seen as a whole", rows(0, 10, 10, 590, 650e6, `,"partial":true`), source, true, Found, Warning, "with arguments that look the same, and returns the same each time"},
		{"some of them", rows(0, 10, 120, 480, 500e6, `,"partial":true`), source, true, Found, Warning, "with 12 arguments that look different"},
		{"more than was looked at", rows(0, 10, 10, 590, 650e6, `,"partial":true,"large":true`), source, true, Found, Info, "with arguments that look the same"},
		{"results with maps that were not compared", rows(0, 10, 10, 590, 650e6, `,"vague":true,"maps":true,"refers":true`), source, true, Found, Info, "returns what looks the same"},
		{"maps that are made of a file", rows(0, 10, 10, 590, 650e6, `,"vague":true,"maps":true,"refers":true`), strings.Replace(source, "return read(name)", "text, _ := os.ReadFile(name); r := &repo{by: map[string][]string{}}; for l := range strings.Lines(string(text)) { r.put(l) }; return r", 1) + putMethod, true, Found, Warning, "returns what looks the same"},
		{"maps of what it has, which changes", rows(0, 10, 10, 590, 650e6, `,"vague":true,"maps":true,"refers":true`), strings.Replace(source, "return read(name)", "r := &repo{by: map[string][]string{}}; for _, l := range lines { r.put(l) }; return r", 1) + putMethod + "\nvar lines []string\n\nfunc add(l string) { lines = append(lines, l) }\n", true, Found, Info, "returns what looks the same"},
		{"maps that are made of a file, beside files that are written", rows(0, 10, 10, 590, 650e6, `,"vague":true,"maps":true,"refers":true`), strings.Replace(source, "return read(name)", "text, _ := os.ReadFile(name); r := &repo{by: map[string][]string{}}; for l := range strings.Lines(string(text)) { r.put(l) }; return r", 1) + putMethod + "\ntype log struct { f *os.File }\n\nfunc (l *log) set(b []byte) { l.f.WriteAt(b, 0) }\n", true, Found, Info, "returns what looks the same"},
		{"maps that a peer gives", rows(0, 10, 10, 590, 650e6, `,"vague":true,"maps":true,"refers":true`), strings.Replace(source, "return read(name)", "r := &repo{by: map[string][]string{}}; for _, l := range ask(name) { r.put(l) }; return r", 1) + putMethod + "\nfunc ask(name string) (out []string) { resp, _ := http.Get(name); json.NewDecoder(resp.Body).Decode(&out); return out }\n", true, Found, Info, "returns what looks the same"},
		{"maps of its own, which were", rows(0, 10, 10, 590, 650e6, `,"maps":true,"refers":true`), source, true, Found, Warning, "returns the same"},
		{"little of the time", rows(0, 10, 10, 590, 150e6, ""), source, true, Found, Info, "15.0%"},
		{"hardly any", rows(0, 10, 10, 590, 50e6, ""), source, true, Fine, "", "no function"},
		{"the results differ", rows(0, 10, 10, 590, 650e6, `,"differ":1`), source, true, Fine, "", "no function of which that can be judged takes much of the time with calls that had the arguments and the result of an earlier one of the same request, task or run; main.open, with 68.8% of the time of main.list, cannot be judged: of 590 calls with the arguments of an earlier one, 1 returned something else than the first of them: it may read something that changes"},
		{"the results differ, of what was not compared as a whole", rows(0, 10, 10, 590, 650e6, `,"differ":580,"partial":true`), source, true, Fine, "", "of 590 calls with arguments that look like those of an earlier one, 580 returned something else than the first of them: what they lead to may have changed in between"},
		{"many short calls", strings.NewReplacer(`"calls":600`, `"calls":800000`).Replace(rows(0, 10, 10, 799990, 650e6, "")), source, true, Fine, "", "main.open, with 70.0% of the time of main.list, cannot be judged: of 799,990 calls with the arguments of an earlier one, each took 875 ns on average, too little to be timed"},
		{"the results differ, of a few", rows(0, 10, 550, 50, 50e6, `,"differ":1`), source, true, Fine, "", "no function takes much"},
		{"it returns nothing", rows(0, 10, 10, 590, 650e6, `,"void":true`), source, true, Fine, "", "no function"},
		{"it changes what it is given", rows(0, 10, 10, 590, 650e6, `,"alters":true`), source, true, Fine, "", "no function"},
		{"it writes", rows(0, 10, 10, 590, 650e6, `,"writes":true`), source, true, Fine, "", "no function"},
		{"it fails", rows(0, 10, 10, 590, 650e6, `,"fails":true`), source, true, Fine, "", "no function"},
		{"a truth value of what is not seen", rows(0, 10, 10, 590, 650e6, `,"plain":true,"partial":true`), source, true, Fine, "", "no function"},
		{"a few requests", rows(0, 2, 2, 590, 650e6, ""), source, true, Fine, "", "no function"},
		{"what never ends under load", rows(0, 10, 10, 590, 650e6, `,"open":true`), source, true, Fine, "", "no function"},
		{"a whole run", rows(0, 1, 1, 599, 650e6, `,"open":true`), source, false, Found, Warning, "600 times in each call of main.list"},
		{"rounds of a benchmark", rows(0, 1, 1, 599, 650e6, ""), strings.Replace(source, "_, x := range items", "range 600", 1), false, Found, Info, "main.open"},
		{"rounds, by a flag", rows(0, 1, 1, 599, 650e6, ""), strings.Replace(source, "_, x := range items", "range *turns", 1) + "\nvar turns = flag.Int(\"turns\", 600, \"\")\n", false, Found, Info, "main.open"},
		{"rounds, by a counter that is not used", rows(0, 1, 1, 599, 650e6, ""), strings.Replace(source, "_, x := range items", "i := 0; i < 600; i++", 1), false, Found, Info, "main.open"},
		{"items by their number", rows(0, 1, 1, 599, 650e6, ""), strings.NewReplacer("_, x := range items", "i := 0; i < 600; i++", "show(x)\n\t}", "show(items[i])\n\t}").Replace(source), false, Found, Warning, "main.open"},
		{"it reads the next part of a file", rows(0, 10, 10, 590, 650e6, `,"partial":true`), strings.Replace(source, "return read(name)", "io.ReadFull(name, b[:]); return read(b)", 1), true, Found, Info, "main.open"},
		{"it asks a variable that a loop of main sets", rows(0, 10, 10, 590, 650e6, ""), strings.Replace(source, "return read(name)", "return read(name + current)", 1) + "\nvar current string\n\nfunc main() {\n\tfor _, u := range users {\n\t\tcurrent = u\n\t\tlist(u)\n\t}\n}\n", true, Found, Info, "main.open"},
		{"a key that is told by where it is", rows(0, 10, 10, 590, 650e6, `,"refers":true`), strings.Replace(source, "print(open(\"repo\"), x)", "owner[open(\"repo\")] = x", 1), true, Found, Info, "main.open"},
		{"it is compared with nil alone", rows(0, 10, 10, 590, 650e6, `,"refers":true`), strings.Replace(source, "print(open(\"repo\"), x)", "if r := open(\"repo\"); r != nil { print(r, x) }", 1), true, Found, Warning, "main.open"},
		{"a variable that is set once", rows(0, 10, 10, 590, 650e6, ""), strings.Replace(source, "return read(name)", "return read(name + root)", 1) + "\nvar root string\n\nfunc main() {\n\troot = os.Args[1]\n\tlist(nil)\n}\n", true, Found, Warning, "main.open"},
		{"it sends something as well, and returns a number", rows(0, 10, 10, 590, 650e6, `,"plain":true`), strings.Replace(source, "return read(name)", "events <- name; return read(name)", 1), true, Found, Info, "main.open"},
	} {
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase bare 0s..5s\nphase cpu 5s..9s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte("package main; import (\"os\"; \"strings\"; \"net/http\"; \"encoding/json\")\n\ntype repo struct{ by map[string][]string; all []string }\n\n"+c.source))
		withProfile(r, recording.CPU, "cpu", column{"main.main:/src/main.go:30 main.list:/src/main.go:7 main.show:/src/main.go:12 main.open:/src/main.go:16 main.read:/src/read.go:5", []int64{70}},
			column{"main.main:/src/main.go:30 main.list:/src/main.go:7 main.show:/src/main.go:12", []int64{30}})
		r.Put(recording.Entry{Path: "repeats.json", Kind: recording.Repeats}, fmt.Appendf(nil, `{"schema":"loupe.repeats/1","loaded":%v,"ns":4000000000,"functions":[{"name":"main.list","file":"/src/main.go","line":5,"calls":10},{"name":"main.show","file":"/src/main.go","line":11,"calls":600},{"name":"main.open","file":"/src/main.go","line":15,"calls":800000,"time_ns":700000000}],"within":[%s]}`, c.loaded, c.rows))
		f := answers(t, r, "CP26")[0]
		if f.State != c.state || !strings.Contains(f.Summary, c.says) || f.State == Found && f.Severity != c.severity {
			t.Errorf("%s: %s %s: %s", c.name, f.State, f.Severity, f.Summary)
		}
		if part := strings.Contains(c.rows, "partial"); f.State == Found && part == (strings.HasPrefix(f.Advice, "Call ") || f.Title == cp26.Title) {
			t.Errorf("%s: %s: %s", c.name, f.Title, f.Advice)
		}
	}
}

// TestCP26Receiver: where the receiver alone could not be compared as a whole, which a pointer leads to, the arguments are said to be the same.
func TestCP26Receiver(t *testing.T) {
	for _, c := range []struct {
		name, receiver, traits string
		same                   bool
	}{
		{"the receiver alone", "(s *store) ", `"partial":true,"partial_first":true`, true},
		{"another argument", "(s *store) ", `"partial":true,"partial_others":true`, false},
		{"both", "(s *store) ", `"partial":true,"partial_first":true,"partial_others":true`, false},
		{"more than was looked at", "(s *store) ", `"partial":true,"partial_first":true,"large":true`, false},
		{"a receiver that is copied", "(s store) ", `"partial":true,"partial_first":true`, false},
		{"one without a name", "(*store) ", `"partial":true,"partial_first":true`, false},
		{"a function", "", `"partial":true,"partial_first":true`, false},
		{"an older recording", "(s *store) ", `"partial":true`, false},
		{"compared as a whole", "(s *store) ", `"refers":true`, true},
	} {
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase bare 0s..5s\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte("package main\n\ntype store struct{ db *sql.DB }\n\nfunc list() {}\n\nfunc "+c.receiver+"open(f *os.File) string {\n\treturn read(f)\n}\n"))
		r.Put(recording.Entry{Path: "repeats.json", Kind: recording.Repeats}, fmt.Appendf(nil, `{"schema":"loupe.repeats/1","loaded":true,"ns":4000000000,"functions":[{"name":"main.list","file":"/src/main.go","line":5,"calls":10},`+
			`{"name":"main.open","file":"/src/main.go","line":7,"calls":600,"time_ns":700000000}],"within":[{"in":0,"call":1,"around":10,"around_ns":1000000000,"calls":600,"time_ns":700000000,"distinct":10,"again":590,"again_ns":650000000,"most":60,"most_one":60,%s}]}`, c.traits))
		f := answers(t, r, "CP26")[0]
		if f.State != Found || strings.Contains(f.Summary, "with the same arguments") != c.same || strings.HasPrefix(f.Advice, "Call main.open once") != c.same || (f.Title == cp26.Title) != c.same {
			t.Errorf("%s: %s: %s %s", c.name, f.Title, f.Summary, f.Advice)
		}
	}
}

// TestCP26Parts: what is called by a function that repeats is not told again, and what repeats within another is told
// of the nearest.
func TestCP26Parts(t *testing.T) {
	r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase bare 0s..5s\n")
	within := func(in, call, around, calls, time, distinct, again, ns int) string {
		return fmt.Sprintf(`{"in":%d,"call":%d,"around":%d,"around_ns":1000000000,"calls":%d,"time_ns":%d,"distinct":%d,"again":%d,"again_ns":%d,"most":60,"most_one":60}`, in, call, around, calls, time, distinct, again, ns)
	}
	r.Put(recording.Entry{Path: "repeats.json", Kind: recording.Repeats}, fmt.Appendf(nil, `{"schema":"loupe.repeats/1","loaded":true,"ns":4000000000,"functions":[
{"name":"main.handle","file":"/src/main.go","line":5,"calls":10},{"name":"main.list","file":"/src/main.go","line":15,"calls":20},
{"name":"main.open","file":"/src/main.go","line":25,"calls":600,"time_ns":700000000},{"name":"main.read","file":"/src/main.go","line":35,"calls":600,"time_ns":650000000}],
"within":[%s]}`, strings.Join([]string{
		within(0, 2, 10, 600, 700e6, 10, 590, 650e6), within(1, 2, 20, 600, 700e6, 20, 580, 640e6),
		within(0, 3, 10, 600, 650e6, 10, 590, 640e6), within(1, 3, 20, 600, 650e6, 20, 580, 630e6), within(2, 3, 600, 600, 650e6, 600, 0, 0),
	}, ",")))
	all := answers(t, r, "CP26")
	if len(all) != 1 || !strings.Contains(all[0].Summary, "main.open is called 30 times in each call of main.list") || !strings.Contains(all[0].Summary, "of the time of main.handle") {
		t.Errorf("%d findings: %+v", len(all), all)
	}
}

// TestCP26Lines: calls of a library that repeat are told at their lines, where a sample shows what is called and that does not ask what
// is outside of the program; calls of the program's own functions are told of these.
func TestCP26Lines(t *testing.T) {
	const source = "package main\n\nfunc list(items []string) { // 3\n\tfor _, x := range items {\n\t\tkey := q.re.String() // 5\n\t\tshow(key, x)\n\t}\n}\n\nfunc (r *own) String() string { // 10\n\treturn read(r)\n}\n"
	const row = `{"in":0,"call":1,"around":10,"around_ns":1000000000,"calls":600,"time_ns":700000000,"distinct":10,"again":590,"again_ns":650000000,"most":60,"most_one":60%s}`
	const own = `,{"in":0,"call":2,"around":10,"around_ns":1000000000,"calls":600,"time_ns":690000000,"distinct":600,"again":0,"again_ns":0,"most":60,"most_one":1}`
	for _, c := range []struct {
		name, traits, rows, callee string
		severity                   Severity // empty where nothing is told
	}{
		{"a library of the standard", "", "", "regexp/syntax.(*Regexp).String", Warning},
		{"no sample", "", "", "", Info},
		{"another one on the line", "", "", "regexp/syntax.(*Regexp).Simplify", Info},
		{"of what is outside", "", "", "os.(*File).String", Info},
		{"of another module, whose source is not there", "", "", "example.com/re.(*Regexp).String", Info},
		{"a connection", `,"handles":true`, "", "regexp/syntax.(*Regexp).String", Info},
		{"arguments that cannot be seen", `,"partial":true`, "", "regexp/syntax.(*Regexp).String", ""},
		{"the results differ", `,"differ":1`, "", "regexp/syntax.(*Regexp).String", ""},
		{"a list that is given on", `,"refers":true`, "", "regexp/syntax.(*Regexp).String", Info},
		{"a function of its own, which was counted itself", "", own, "main.(*own).String", ""},
	} {
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase bare 0s..5s\nphase cpu 5s..9s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
		stack := "main.main:/src/main.go:30 main.list:/src/main.go:5"
		if c.callee != "" {
			stack += " " + c.callee + ":/src/other.go:12"
		}
		withProfile(r, recording.CPU, "cpu", column{stack, []int64{70}}, column{"main.main:/src/main.go:30 main.list:/src/main.go:6", []int64{30}})
		r.Put(recording.Entry{Path: "repeats.json", Kind: recording.Repeats}, fmt.Appendf(nil, `{"schema":"loupe.repeats/1","loaded":true,"ns":4000000000,"functions":[{"name":"main.list","file":"/src/main.go","line":3,"calls":10},`+
			`{"name":"q.re.String","caller":"main.list","file":"/src/main.go","line":5,"calls":600,"time_ns":700000000},{"name":"main.(*own).String","file":"/src/main.go","line":10,"calls":600,"time_ns":690000000}],"within":[%s]}`, fmt.Sprintf(row, c.traits)+c.rows))
		f := answers(t, r, "CP26")[0]
		if told := f.State == Found; told != (c.severity != "") || told && f.Severity != c.severity {
			t.Errorf("%s: %s %s: %s %q", c.name, f.State, f.Severity, f.Summary, f.Doubts)
		} else if told && (!strings.HasPrefix(f.Summary, "q.re.String is called 60 times in each call of main.list, with the same arguments") || len(f.Evidence) != 1 || f.Evidence[0].Line != 5) {
			t.Errorf("%s: %s %+v", c.name, f.Summary, f.Evidence)
		}
	}
}

// TestCP26Part: what a card accounts for is the time of the calls that repeat, and not of all calls of the function.
func TestCP26Part(t *testing.T) {
	const source = "package main\n\nfunc list() { // 3\n\tfor range items {\n\t\tshow(open(\"repo\"))\n\t}\n}\n\nfunc open(name string) *repo { // 9\n\treturn read(name)\n}\n"
	for again, want := range map[int]float64{700e6: 0.7, 350e6: 0.35, 175e6: 0.175} {
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase bare 0s..5s\nphase cpu 5s..9s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
		withProfile(r, recording.CPU, "cpu", column{"main.main:/src/main.go:30 main.list:/src/main.go:5 main.open:/src/main.go:10 main.read:/src/read.go:5", []int64{70}}, column{"main.main:/src/main.go:30 main.list:/src/main.go:4", []int64{30}})
		r.Put(recording.Entry{Path: "repeats.json", Kind: recording.Repeats}, fmt.Appendf(nil, `{"schema":"loupe.repeats/1","loaded":true,"ns":4000000000,"functions":[{"name":"main.list","file":"/src/main.go","line":3,"calls":10},{"name":"main.open","file":"/src/main.go","line":9,"calls":600,"time_ns":700000000}],"within":[{"in":0,"call":1,"around":10,"around_ns":1000000000,"calls":600,"time_ns":700000000,"distinct":10,"again":590,"again_ns":%d,"most":60,"most_one":60}]}`, again))
		all := answers(t, r, "CP26")
		g, ok := newCausal(NewInput(session.New(r.Open())), all).cpuGain(0)
		if !ok || g.Estimate < want-0.01 || g.Estimate > want+0.01 {
			t.Errorf("%d: %v %+v: %s", again, ok, g, all[0].Summary)
		}
	}
}

// TestCP26Cut: where counting ended before the run did, the calls are at least as many, and what they take is that of the samples.
func TestCP26Cut(t *testing.T) {
	const source = "package main\n\nfunc list() { // 3\n\tfor range items {\n\t\tshow(open(\"repo\"))\n\t}\n}\n\nfunc open(name string) *repo { // 9\n\treturn read(name)\n}\n"
	for _, c := range []struct {
		name, again, cut string
		samples          int64
		says             string
		severity         Severity
		part             float64
	}{
		{"to its end", "350000000", "", 140, "is called 600 times in each call of main.list, with the same arguments, and returns the same each time: the calls after the first take 17.5% of the time of main.main", Info, 0.245},
		{"its beginning", "350000000", `,"cut":true`, 140, "is called at least 600 times in one call of main.list, with the same arguments, and returns the same each time: the calls after the first take 68.8% of the CPU time", Warning, 0.688},
		{"what is answered from memory", "70000000", `,"cut":true`, 140, "", "", 0},
		{"few samples", "350000000", `,"cut":true`, 14, "take 17.5% of the time of main.main, as far as they were counted", Info, 0.688},
	} {
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase bare 0s..5s\nphase cpu 5s..9s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
		withProfile(r, recording.CPU, "cpu", column{"main.main:/src/main.go:30 main.list:/src/main.go:5 main.open:/src/main.go:10 main.read:/src/read.go:5", []int64{c.samples}}, column{"main.main:/src/main.go:30 main.list:/src/main.go:4", []int64{c.samples * 3 / 7}})
		r.Put(recording.Entry{Path: "repeats.json", Kind: recording.Repeats}, fmt.Appendf(nil, `{"schema":"loupe.repeats/1","loaded":false,"ns":4000000000,"functions":[{"name":"main.main","file":"/src/main.go","line":29,"calls":1},{"name":"main.open","file":"/src/main.go","line":9,"calls":600,"time_ns":1000000000%s},{"name":"main.list","file":"/src/main.go","line":3,"calls":1}],"within":[{"in":0,"call":1,"around":1,"around_ns":2000000000,"calls":600,"time_ns":1000000000,"distinct":1,"again":590,"again_ns":%s,"most":600,"most_one":600},{"in":2,"call":1,"around":1,"around_ns":1900000000,"calls":600,"time_ns":1000000000,"distinct":1,"again":590,"again_ns":%[2]s,"most":600,"most_one":600}]}`, c.cut, c.again))
		all := answers(t, r, "CP26")
		if !strings.Contains(all[0].Summary, c.says) || all[0].Severity != c.severity && c.says != "" || (all[0].State == Found) != (c.says != "") {
			t.Errorf("%s: %s %s", c.name, all[0].Severity, all[0].Summary)
		}
		if g, _ := newCausal(NewInput(session.New(r.Open())), all).cpuGain(0); c.severity != "" && (g.Estimate < c.part-0.01 || g.Estimate > c.part+0.01) {
			t.Errorf("%s: %+v", c.name, g)
		}
	}
}

// TestOnlyPointers: what is given to a function by pointers alone was compared by what these lead to.
func TestOnlyPointers(t *testing.T) {
	in := sourceInput("package main\n\nfunc (v *invoice) doc() string { return \"\" }\n\nfunc text(v, w *invoice) string { return \"\" }\n\nfunc (s *store) find(id int) *row { return nil }\n\nfunc all() []row { return nil }\n")
	for line, want := range map[int]bool{3: true, 5: true, 7: false, 9: false} {
		name := map[int]string{3: "main.(*invoice).doc", 5: "main.text", 7: "main.(*store).find", 9: "main.all"}[line]
		if got := onlyPointers(in, stack.Frame{Func: name, File: "a.go", Line: line}); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestWithinWhatIsAround: of ways that were seen, those through what the counts are of count; else its source tells where it calls.
func TestWithinWhatIsAround(t *testing.T) {
	const text = "package main\n\nfunc (a *app) crumbs() {\n\tuse(a.Crumbs()) // call\n}\n\nfunc (a *app) trail() {\n\tuse(a.Crumbs()) // other\n}\n"
	in := &Input{code: sourceOf(text)}
	other := []stack.Frame{{Func: "main.(*Site).Crumbs", File: "b.go", Line: 9}, {Func: "main.(*app).trail", File: "a.go", Line: lineOfMark(text, "other")}}
	r := countedCall{name: "main.(*Site).Crumbs", in: "main.(*app).crumbs", at: stack.Frame{Func: "main.(*app).crumbs", File: "a.go", Line: 3}, way: other}
	if r.isWithin(other) {
		t.Error("another function's call is within")
	}
	r.calledAt(in)
	if want := lineOfMark(text, "call"); r.site.Line != want || r.way[1].Line != want {
		t.Errorf("%+v, want line %d", r.site, want)
	}
}
