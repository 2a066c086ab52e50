package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/analysis/account"
	"loupe/analysis/account/accounttest"
	"loupe/analysis/facts"
	"loupe/analysis/why"
	"loupe/session"
	"loupe/value/stack"
)

// TestMapAdvice: a map that is made with its size is not to be given one, one that only grows is
// not to be cleared and used again, and a cleared one keeps its table.
func TestMapAdvice(t *testing.T) {
	const fields = "package main\n\nfunc New() *cache {\n\treturn &cache{items: %s}\n}\n\nfunc (c *cache) set(k string) {\n\tc.items[k] = 1\n}\n"
	const locals = "package main\n\nfunc f(keys []string) {\n\tseen := %s\n\tfor _, k := range keys {\n\t\tseen[k] = true\n\t}\n}\n"
	for _, test := range []struct {
		source, makes, line string
		cause               why.Cause
		kept                bool
		want, never         string
	}{
		{fields, "make(map[string]int)", "c.items[k]", why.Cause{Mechanism: why.MapWrite, Expr: "c.items[k]"}, false, "is made (a.go:4), give it to make", "clear"},
		{fields, "map[string]int{}", "c.items[k]", why.Cause{Mechanism: why.MapWrite, Expr: "c.items[~r0]"}, false, "is made (a.go:4), give it to make", "clear"},
		{fields, "make(map[string]int, n)", "c.items[k]", why.Cause{Mechanism: why.MapWrite, Expr: "c.items[k]"}, false, "made with a size at a.go:4", "clear"},
		{fields, "load()", "c.items[k]", why.Cause{Mechanism: why.MapWrite, Expr: "c.items[k]"}, false, "If make has no size there", "clear"},
		{locals, "make(map[string]bool)", "seen[k]", why.Cause{Mechanism: why.MapWrite, Expr: "seen[k]"}, false, "is made (a.go:4), give it to make", "clear"},
		{locals, "make(map[string]bool, len(keys))", "seen[k]", why.Cause{Mechanism: why.MapWrite, Expr: "seen[k]"}, false, "made with a size at a.go:4", "clear"},
		{locals, "make(map[string]bool)", "seen :=", why.Cause{Mechanism: why.MakeMap, Expr: "make(map[string]bool)"}, false, "keeps its table at the largest size", "size already"},
		{locals, "make(map[string]bool)", "seen :=", why.Cause{Mechanism: why.MakeMap, Expr: "make(map[string]bool)"}, true, "give it to make", "clear"},
		{locals, "make(map[string]bool, 9)", "seen :=", why.Cause{Mechanism: why.MakeMap, Expr: "make(map[string]bool, 9)"}, false, "with its size already", "give it to make"},
		{locals, `map[string]bool{"a": true}`, "seen :=", why.Cause{Mechanism: why.MakeMap, Expr: "map[string]bool{...}"}, false, "with its size already", "give it to make"},
		{locals, `map[string]bool{}`, "seen :=", why.Cause{Mechanism: why.MakeMap, Expr: "map[string]bool{}"}, false, "give it to make", "size already"},
	} {
		source := strings.Replace(test.source, "%s", test.makes, 1)
		got := mapAdvice(codeOf(source), lineWith(source, test.line), &test.cause, test.kept)
		if !strings.Contains(got, test.want) || strings.Contains(got, test.never) {
			t.Errorf("%s %s\n%s\nwant %q, never %q", test.makes, test.cause.Expr, got, test.want, test.never)
		}
	}
}

// TestArrayAdvice: all of an array is cleared on each call.
func TestArrayAdvice(t *testing.T) {
	const array = "[N]byte on the stack"
	for _, test := range []struct {
		sizes map[int64]allocated
		want  bool
	}{
		{map[int64]allocated{1792: {objects: 9}}, true},
		{map[int64]allocated{64: {objects: 5}, 128: {objects: 5}}, true},
		{map[int64]allocated{160_000: {objects: 9}}, false},
		{map[int64]allocated{64: {objects: 1000}, 8192: {objects: 10}}, false},
		{nil, false},
	} {
		if got := arrayAdvice(test.sizes); strings.Contains(got, array) != test.want || test.want && !strings.Contains(got, "cleared on each call") {
			t.Errorf("%v: %q", test.sizes, got)
		}
	}
}

// TestHeaviestSize: the size of most bytes, not of most objects.
func TestHeaviestSize(t *testing.T) {
	sizes := map[int64]allocated{64: {bytes: 6400, objects: 100, samples: 20}, 512: {bytes: 20_480, objects: 40, samples: 60}, 1024: {bytes: 10_240, objects: 10, samples: 30}}
	if got := heaviestSize(sizes); got != 512 {
		t.Errorf("%d, want 512", got)
	}
	sizes[4096] = allocated{bytes: 40_960, objects: 10, samples: 3}
	if got := heaviestSize(sizes); got != 0 {
		t.Errorf("%d from three samples", got)
	}
}

// TestSplit: a Scanner that splits something else than lines is not to be replaced by them.
func TestSplit(t *testing.T) {
	for source, want := range map[string]string{
		"sc := bufio.NewScanner(r)\n\tfor sc.Scan() { // here\n\t}":                                    "bufio.ScanLines",
		"sc := bufio.NewScanner(r)\n\tsc.Split(bufio.ScanWords)\n\tfor sc.Scan() { // here\n\t}":       "bufio.ScanWords",
		"sc := bufio.NewScanner(r)\n\tsc.Split(bufio.ScanRunes)\n\tfor sc.Scan() { // here\n\t}":       "bufio.ScanRunes",
		"sc := bufio.NewScanner(r)\n\tsc.Split(records)\n\tfor sc.Scan() { // here\n\t}":               splitOwn,
		"sc := bufio.NewScanner(r)\n\tsetUp(sc)\n\tfor sc.Scan() { // here\n\t}":                       splitUnknown,
		"other := bufio.NewScanner(r)\n\tother.Split(bufio.ScanWords)\n\tfor sc.Scan() { // here\n\t}": splitUnknown,
	} {
		source = "package main\n\nfunc f(r io.Reader) {\n\t" + source + "\n}\n"
		if got := splitAt(codeOf(source), lineWith(source, "// here")); got != want {
			t.Errorf("%s\n%q, want %q", source, got, want)
		}
	}
	for split, want := range map[string]bool{"bufio.ScanLines": true, "bufio.ScanWords": false, "bufio.ScanRunes": false, splitOwn: false, splitUnknown: true} {
		if got := scannerAdvice(split); strings.Contains(got, "strings.Lines") != want {
			t.Errorf("%s: %s", split, got)
		}
	}
	if got := scannerAdvice(splitUnknown); !strings.HasPrefix(got, "If it scans lines") {
		t.Error(got)
	}
}

// TestPaddedVerb: strconv does not pad.
func TestPaddedVerb(t *testing.T) {
	for format, want := range map[string]string{
		"%016x": "%016x", "change %d": "", "%-8s|": "%-8s", "%6.2f": "%6.2f", "%.2f": "", "%.3s": "%.3s", "%+d": "%+d", "%#v": "%#v", "%*d": "%*d",
		"100%%": "", "%[1]d": "", "%s %5d": "%5d", "no verb": "", "%x": "",
	} {
		if got := paddedVerb(format); got != want {
			t.Errorf("%s: %q, want %q", format, got, want)
		}
	}
	var f Finding
	f.Severity = Warning
	if tellPadded(&f, "%-8s", false); f.Severity != Info || !strings.Contains(f.Advice, "do not pad") {
		t.Error(f.Severity, f.Advice)
	}
}

// TestPaddedMostly: the formats at most of what a finding is about decide.
func TestPaddedMostly(t *testing.T) {
	const source = "package main\n\nfunc f() {\n\ta := fmt.Sprintf(\"%016x\", n)\n\tb := fmt.Sprintf(\"%d\", n)\n\tc := fmt.Fprintf(w, \"%-8s\", n)\n\td := fmt.Sprintf(format, n)\n}\n"
	line := func(at, callee string, weight int64) *hitLine {
		l := &hitLine{}
		l.Caller, l.Callee, l.Weight = lineWith(source, at), callee, weight
		return l
	}
	a, b, c, d := line("a :=", "fmt.Sprintf", 60), line("b :=", "fmt.Sprintf", 40), line("c :=", "fmt.Fprintf", 40), line("d :=", "fmt.Sprintf", 70)
	for _, test := range []struct {
		lines []*hitLine
		want  string
		hexes bool
	}{
		{[]*hitLine{a}, "%016x", true},
		{[]*hitLine{a, b}, "%016x", true},
		{[]*hitLine{a, c}, "%016x", false},
		{[]*hitLine{d, a}, "", false},
		{[]*hitLine{b}, "", false},
		{[]*hitLine{c}, "%-8s", false},
	} {
		h := &hit{in: &Input{code: codeOf(source)}, lines: test.lines}
		for _, l := range test.lines {
			h.weight += l.Weight
		}
		if got, hexes := paddedMostly(h); got != test.want || got != "" && hexes != test.hexes {
			t.Errorf("%q %v, want %q %v", got, hexes, test.want, test.hexes)
		}
	}
}

// TestWholeFiles: no buffer makes a call rarer that writes a whole file.
func TestWholeFiles(t *testing.T) {
	for functions, want := range map[string]string{
		"syscall.write internal/poll.(*FD).Write os.(*File).Write os.WriteFile main.f": "whole",
		"syscall.openat os.OpenFile os.WriteFile main.f":                               "whole",
		"syscall.write internal/poll.(*FD).Write os.(*File).Write main.f":              "write",
		"syscall.openat os.OpenFile os.Open main.f":                                    "files",
	} {
		table := new(stack.Table)
		var frames []stack.FrameID
		for _, name := range strings.Fields(functions) {
			frames = append(frames, table.InternFrame(stack.Frame{Func: name}))
		}
		if got := kernelReason(table, frames); got != want {
			t.Errorf("%s: %s, want %s", functions, got, want)
		}
	}
	for call, buffered := range map[fileCall]bool{fileWrites: true, fileMakes: false, fileOpens: false, fileReads: false} {
		if strings.Contains(call.advice(), "bufio") != buffered {
			t.Errorf("%d: %s", call, call.advice())
		}
	}
}

// TestGrowsBetween: an index of a list that grows between the searches has to grow with it.
func TestGrowsBetween(t *testing.T) {
	const search = "\nfunc in(s string, list []string) bool {\n\tfor _, v := range list { // here\n\t\tif s == v {\n\t\t\treturn true\n\t\t}\n\t}\n\treturn false\n}\n"
	const has = "func (x *section) has(name string) bool { return in(name, x.keys) }\n"
	for _, test := range []struct {
		name, source string
		want         int
	}{
		{"by the one that asks", "func (s *section) add(name string) {\n\tif s.has(name) {\n\t\treturn\n\t}\n\ts.keys = append(s.keys, name)\n}\n" + has + search, 7},
		{"in the loop", "func f(all []string) (once []string) {\n\tfor _, s := range all {\n\t\tif !in(s, once) {\n\t\t\tonce = append(once, s)\n\t\t}\n\t}\n\treturn once\n}\n" + search, 6},
		{"by the library", "func f(all []string) (once []string) {\n\tfor _, s := range all {\n\t\tif !slices.Contains(once, s) { // here\n\t\t\tonce = append(once, s)\n\t\t}\n\t}\n\treturn once\n}\n", 6},
		{"before the loop", "func f(all, more []string) {\n\tvar once []string\n\tfor _, s := range all {\n\t\tonce = append(once, s)\n\t}\n\tfor _, s := range more {\n\t\tif in(s, once) {\n\t\t\tg()\n\t\t}\n\t}\n}\n" + search, 0},
		{"another list", "func f(all, known []string) (once []string) {\n\tfor _, s := range all {\n\t\tif !in(s, known) {\n\t\t\tonce = append(once, s)\n\t\t}\n\t}\n\treturn once\n}\n" + search, 0},
		{"anew in every turn", "func f(all []string) {\n\tfor _, s := range all {\n\t\tonce := list(s)\n\t\tif !in(s, once) {\n\t\t\tonce = append(once, s)\n\t\t}\n\t}\n}\n" + search, 0},
		{"all of a copy", "func f(all []string) (once []string) {\n\tfor _, s := range all {\n\t\tif !in(s, once) {\n\t\t\tonce = append(once[:len(once):len(once)], s)\n\t\t}\n\t}\n\treturn once\n}\n" + search, 6},
		{"inserted", "func f(all []string, i int) (once []string) {\n\tfor _, s := range all {\n\t\tif !in(s, once) {\n\t\t\tonce = append(once[:i], append([]string{s}, once[i:]...)...)\n\t\t}\n\t}\n\treturn once\n}\n" + search, 6},
		{"room for one", "func f(all []string, i int) (once []string) {\n\tfor _, s := range all {\n\t\tif !in(s, once) {\n\t\t\tonce = append(once[:i+1], once[i:]...)\n\t\t}\n\t}\n\treturn once\n}\n" + search, 6},
		{"before the others", "func f(all []string) (once []string) {\n\tfor _, s := range all {\n\t\tif !in(s, once) {\n\t\t\tonce = append([]string{s}, once...)\n\t\t}\n\t}\n\treturn once\n}\n" + search, 6},
		{"removed", "func (x *section) drop(name string) {\n\tfor k, v := range x.keys { // here\n\t\tif v == name {\n\t\t\tx.keys = append(x.keys[:k], x.keys[k+1:]...)\n\t\t\treturn\n\t\t}\n\t}\n}\n", 0},
		{"several removed", "func f(all []string, i, j int) (once []string) {\n\tfor _, s := range all {\n\t\tif in(s, once) {\n\t\t\tonce = append(once[:i], once[j:]...)\n\t\t}\n\t}\n\treturn once\n}\n" + search, 0},
		{"filled anew", "func f(all []string, more []string) (once []string) {\n\tfor _, s := range all {\n\t\tif in(s, once) {\n\t\t\tonce = append(once[:0], more...)\n\t\t}\n\t}\n\treturn once\n}\n" + search, 0},
		{"by a method of the list's own type", "type set []string\n\nfunc (s *set) add(name string) bool {\n\tif s.has(name) {\n\t\treturn false\n\t}\n\t*s = append(*s, name)\n\treturn true\n}\n\nfunc (s set) has(name string) bool {\n\tfor _, v := range s { // here\n\t\tif v == name {\n\t\t\treturn true\n\t\t}\n\t}\n\treturn false\n}\n", 9},
		{"of what points to the list, beside a library's function of that name", "import \"strings\"\n\nfunc add(s *[]string, name string) {\n\tif !Contains(s, name) && !strings.Contains(name, \"-\") {\n\t\t*s = append((*s)[:len(*s)], name)\n\t}\n}\n\nfunc Contains(s *[]string, name string) bool {\n\tfor _, v := range *s { // here\n\t\tif v == name {\n\t\t\treturn true\n\t\t}\n\t}\n\treturn false\n}\n", 7},
		{"by a method of another list of the type", "type set []string\n\nfunc add(s, t set, name string) set {\n\tif t.has(name) {\n\t\treturn s\n\t}\n\ts = append(s, name)\n\treturn s\n}\n\nfunc (s set) has(name string) bool {\n\tfor _, v := range s { // here\n\t\tif v == name {\n\t\t\treturn true\n\t\t}\n\t}\n\treturn false\n}\n", 0},
		{"nothing", "func f(s string, known []string) bool { return in(s, known) }\n" + search, 0},
	} {
		source := "package main\n\n" + test.source
		if got := growsBetween(codeOf(source), lineWith(source, "// here")); got.Line != test.want {
			t.Errorf("%s\n%s: line %d, want %d", source, test.name, got.Line, test.want)
		}
	}
}

// TestAddsNumbers: what a line adds a number to is no text that grows.
func TestAddsNumbers(t *testing.T) {
	for source, want := range map[string]string{
		"func f(c *cache) (sum int) {\n\tfor i := range 9 {\n\t\tsum += c.get(\"account \" + name(i))\n\t}\n\treturn sum\n}":                         "",
		"func f(c *cache) (sum string) {\n\tfor i := range 9 {\n\t\tsum += c.get(\"account \" + name(i))\n\t}\n\treturn sum\n}":                      "sum",
		"func f(c foreign.Cache) {\n\tsum := c.Zero()\n\tfor i := range 9 {\n\t\tsum += c.get(\"account \" + name(i))\n\t}\n}":                       "sum",
		"type text string\n\nfunc f(c *cache) (sum text) {\n\tfor i := range 9 {\n\t\tsum += c.get(\"account \" + name(i))\n\t}\n\treturn sum\n}":    "sum",
		"type total float64\n\nfunc f(c *cache) (sum total) {\n\tfor i := range 9 {\n\t\tsum += c.get(\"account \" + name(i))\n\t}\n\treturn sum\n}": "",
	} {
		source = "package main\n\n" + source + "\n"
		at := lineWith(source, "sum +=")
		site := &allocSite{Site: &why.Site{Frames: []stack.Frame{at}}, at: at}
		if got := codeOf(source).growingText(site); got != want {
			t.Errorf("%s\n%q, want %q", source, got, want)
		}
		if !joinsArgument(codeOf(source), at) {
			t.Errorf("%s\nthe text is no argument", source)
		}
	}
	for _, source := range []string{"func f() {\n\ts = \"a\" + b // here\n}", "func f() {\n\tb = append(b, \"a\"+b...) // here\n}", "func f() {\n\ts = \"a\" + g(\"b\"+c) // here\n}"} {
		source = "package main\n\n" + source + "\n"
		if joinsArgument(codeOf(source), lineWith(source, "// here")) {
			t.Errorf("%s\nall are arguments", source)
		}
	}
}

// TestForcedStay: what is gained with less garbage is not known where the program forces collections.
func TestForcedStay(t *testing.T) {
	in := NewInput(session.New(working("10s").Open()))
	much := seenAt("AL05", Warning, 60, "/src/search.go", 8).bytesOf(0.5).costing(cost{file: "/src/search.go", line: 8, callee: "strings.Contains"})
	c := newCausal(in, []Finding{much})
	g := c.gain(in, 0)
	if g == nil || g.Beyond != garbageBeyond {
		t.Fatalf("without forced collections: %+v", g)
	}
	c.spent.unforced = 0
	if g := c.gain(in, 0); g != nil {
		t.Errorf("where all are forced: %+v", g)
	}
}

// TestExpectsEntry: a map whose entries are used unasked loses none without being told to load it again.
func TestExpectsEntry(t *testing.T) {
	for source, want := range map[string]int{
		"func (x *index) f(id string) string {\n\treturn x.byHash[id].Name\n}":                                                   4,
		"func (x *index) f(id string) string {\n\tc := x.byHash[id]\n\tg()\n\treturn c.Name\n}":                                  4,
		"func (x *index) f(id string) string {\n\tc, ok := x.byHash[id]\n\tif !ok {\n\t\treturn \"\"\n\t}\n\treturn c.Name\n}":   0,
		"func (x *index) f(id string) string {\n\tc := x.byHash[id]\n\tif c == nil {\n\t\tc = load(id)\n\t}\n\treturn c.Name\n}": 0,
		"func (x *index) f(id string) int {\n\treturn x.byHash[id]\n}":                                                           0,
		"func (x *index) f(id string) string {\n\treturn x.other[id].Name\n}":                                                    0,
	} {
		c := codeOf("package main\n\n" + source + "\n")
		if got := expectsEntry(c, "idx.byHash"); got.Line != want {
			t.Errorf("%s\nline %d, want %d", source, got.Line, want)
		}
		if got := mustReload(c, "idx.byHash"); (got != "") != (want > 0) {
			t.Errorf("%s\n%q", source, got)
		}
	}
}

// TestRecorderWaits: main waits for the end of the trace that it is read from, and for
// collections that it forces.
func TestRecorderWaits(t *testing.T) {
	waits := func(leaf string) Finding {
		return answers(t, mainOf(t, func(p *accounttest.Program) {
			p.Pass(10 * time.Millisecond)
			p.Block("sync", leaf)
			p.Pass(100 * time.Millisecond)
			p.Wake(1, "")
			p.Start(1)
			p.Pass(10 * time.Millisecond)
		}), "WT01")[0]
	}
	if f := waits("runtime.semacquire1@sema.go:1;runtime/trace.(*traceMultiplexer).removingSubscriber@subscribe.go:126;runtime/trace.Stop@trace.go:1;main.loupeEnd@zz_loupe_inject.go:1"); f.State == Found {
		t.Errorf("the recorder's own: %s", f.Summary)
	}
	f := waits("runtime.GC@mgc.go:1;main.load@main.go:7;main.main@main.go:3")
	if f.State != Found || !strings.HasPrefix(f.Advice, "Delete the call") {
		t.Errorf("forced: %s %s: %s", f.State, f.Summary, f.Advice)
	}
}

// TestDatabasePool: a pool of database/sql has other settings than one of net/http.
func TestDatabasePool(t *testing.T) {
	q := &narrow{gate: &facts.UnitGate{Kind: account.Pool}}
	for database, want := range map[bool]string{true: "SetMaxOpenConns", false: "MaxConnsPerHost"} {
		got := narrowAdvice(q, database)
		if !strings.Contains(got, want) || strings.Contains(got, "SetMaxOpenConns") != database {
			t.Errorf("database %v: %s", database, got)
		}
	}
}
