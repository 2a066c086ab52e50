package compiler

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// releases are the dialects in testdata. The sample is the same for all, but
// Go 1.17 has no generics.
var releases = []string{"go1.17", "go1.18", "go1.19", "go1.20", "go1.21", "go1.22", "go1.23", "go1.24", "go1.25", "go1.26"}

func readText(t *testing.T, opt Options, elem ...string) *Output {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(append([]string{"testdata"}, elem...)...))
	if err != nil {
		t.Fatal(err)
	}
	out, err := ParseText(bytes.NewReader(data), opt)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func readJSON(t *testing.T, opt Options, elem ...string) *Output {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(append([]string{"testdata"}, elem...)...))
	if err != nil {
		t.Fatal(err)
	}
	out, err := ParseJSON(bytes.NewReader(data), opt)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func find(t *testing.T, out *Output, kind Kind, line int, text string) *Diagnostic {
	t.Helper()
	for i := range out.Diagnostics {
		d := &out.Diagnostics[i]
		if d.Kind == kind && d.Pos.Line == line && d.Text == text && strings.HasSuffix(d.Pos.File, "sample.go") {
			return d
		}
	}
	t.Errorf("there is no %v of %q in line %d", kind, text, line)
	return &Diagnostic{}
}

// TestReleases reads what ten compilers have said of one sample.
func TestReleases(t *testing.T) {
	for _, release := range releases {
		t.Run(release, func(t *testing.T) {
			m, m2 := readText(t, Options{}, release, "m.txt"), readText(t, Options{}, release, "m2.txt")
			js := readJSON(t, Options{}, release, "json", "sample.json")
			for name, out := range map[string]*Output{"-m": m, "-m=2": m2, "-json": js} {
				if out.Malformed > 0 {
					t.Errorf("%s: %d malformed lines, the first: %s", name, out.Malformed, out.FirstMalformed)
				}
				find(t, out, Escape, 22, "&point{...}")
				find(t, out, MovedToHeap, 25, "n")
				find(t, out, Escape, 29, "make([]byte, n)")
				find(t, out, Escape, 45, "func literal")
				find(t, out, MovedToHeap, 44, "n")
				find(t, out, Escape, 48, "r.Read")
				find(t, out, Escape, 58, "make([]byte, n)")
			}
			for name, out := range map[string]*Output{"-m": m, "-m=2": m2} {
				find(t, out, NoEscape, 62, "&point{...}")
				find(t, out, InlinedCall, 57, "object")
				find(t, out, InlinedCall, 42, "fmt.Println")
				if d := find(t, out, LeakingParam, 36, "s"); name == "-m" && d.Dest != "~r0" && d.Dest != "~r2" {
					t.Errorf("s leaks to %q, want the result", d.Dest)
				}
				if d := find(t, out, CanInline, 22, "object"); name == "-m=2" && d.Cost == 0 {
					t.Error("-m=2 gives no cost of object")
				}
			}
			made := find(t, m2, Escape, 22, "&point{...}")
			if len(made.Flow) != 1 || !strings.HasPrefix(made.Flow[0].Dst, "~r") || made.Flow[0].Derefs != -1 || made.Flow[0].Src != "{storage for &point{...}}" {
				t.Errorf("the flow of &point is %+v", made.Flow)
			} else if s := made.Flow[0].Steps; len(s) != 2 || s[1].Why != "return" || s[1].Pos.Line != 22 {
				t.Errorf("the steps of &point are %+v", s)
			}
			if d := find(t, m2, CannotInline, 83, "never"); d.Reason != "marked go:noinline" {
				t.Errorf("never cannot be inlined because %q", d.Reason)
			}
			// The copy of made in inlined stands in line 58, and -json says from where.
			if d := find(t, js, Escape, 58, "make([]byte, n)"); len(d.Inline) != 1 || d.Where().Line != 29 {
				t.Errorf("the copy of make is inlined at %v", d.Inline)
			}
			if js.Header.Package != "example.com/sample" || js.Header.GOARCH != "amd64" || !strings.HasPrefix(js.Header.GoVersion, release) {
				t.Errorf("the header is %+v", js.Header)
			}
			bce := readText(t, Options{}, release, "bce.txt")
			if bce.Malformed > 0 {
				t.Errorf("bce: %d malformed lines, the first: %s", bce.Malformed, bce.FirstMalformed)
			}
			find(t, bce, BoundsCheck, 69, "")
			find(t, bce, SliceCheck, 69, "")
			find(t, js, BoundsCheck, 69, "")
		})
	}
}

// TestAgree holds the text of -m=2 against -json: the same escapes with the
// same flows.
func TestAgree(t *testing.T) {
	for _, release := range releases {
		keys := func(out *Output) (list []string) {
			for i := range out.Diagnostics {
				d := &out.Diagnostics[i]
				if !d.Allocates() || !strings.HasSuffix(d.Pos.File, "sample.go") {
					continue
				}
				key := d.Kind.String() + " " + Pos{"", d.Pos.Line, d.Pos.Col}.String() + " " + d.Text
				for _, f := range d.Flow {
					key += " | " + f.Dst + "=" + f.Src
					for _, s := range f.Steps {
						key += ", " + s.Why
					}
				}
				list = append(list, key)
			}
			slices.Sort(list)
			return slices.Compact(list)
		}
		text, js := keys(readText(t, Options{}, release, "m2.txt")), keys(readJSON(t, Options{}, release, "json", "sample.json"))
		if !slices.Equal(text, js) {
			t.Errorf("%s: the text and -json differ:\n%s\n\n%s", release, strings.Join(text, "\n"), strings.Join(js, "\n"))
		}
	}
}

func TestNew(t *testing.T) {
	// Since Go 1.26 append may begin on the stack, and the compiler says so.
	out := readText(t, Options{}, "go1.26", "m2.txt")
	if d := find(t, out, Escape, 36, "append(s, v)"); len(d.Flow) == 0 || d.Function != "grown" {
		t.Errorf("append: %+v", d)
	}
	find(t, out, Devirtualized, 64, "s.area")
	if d := find(t, out, Capture, 44, "n"); d.Size != 8 || !strings.HasPrefix(d.Reason, "by ref") {
		t.Errorf("capture: %+v", d)
	}
	prove := readText(t, Options{}, "go1.26", "prove.txt")
	find(t, prove, Proved, 32, "IsSliceInBounds")
}

func TestMessages(t *testing.T) {
	f := func(msg string, want Diagnostic) {
		t.Helper()
		got, _, ok := message(msg)
		if !ok || got.Kind != want.Kind || got.Text != want.Text || got.Dest != want.Dest || got.Reason != want.Reason ||
			got.Function != want.Function || got.Cost != want.Cost || got.Budget != want.Budget || got.Derefs != want.Derefs {
			t.Errorf("message(%q) = %+v, want %+v", msg, got, want)
		}
	}
	f("cannot inline read: function too complex: cost 102 exceeds budget 80",
		Diagnostic{Kind: CannotInline, Text: "read", Reason: "function too complex: cost 102 exceeds budget 80", Cost: 102, Budget: 80})
	f("cannot inline a into b: repeated recursive cycle",
		Diagnostic{Kind: CannotInlineCall, Text: "a", Function: "b", Reason: "repeated recursive cycle"})
	f("can inline F with cost 3 as: func() { return }", Diagnostic{Kind: CanInline, Text: "F", Cost: 3})
	f("inlining call to F with score 12", Diagnostic{Kind: InlinedCall, Text: "F", Cost: 12})
	f("function main considered 'big'; reducing max cost of inlinees", Diagnostic{Kind: BigFunction, Text: "main"})
	f("leaking param: p to result ~r0 level=1", Diagnostic{Kind: LeakingParam, Text: "p", Dest: "~r0", Derefs: 1})
	f("leaking param content: p", Diagnostic{Kind: LeakingParam, Text: "p", Dest: "{heap}", Derefs: 1})
	f("parameter p leaks to {storage for func literal} for F with derefs=0:",
		Diagnostic{Kind: LeakingParam, Text: "p", Dest: "{storage for func literal}", Function: "F"})
	f("PGO devirtualizing interface call x.M to T.M", Diagnostic{Kind: Devirtualized, Text: "x.M", Dest: "T.M", Reason: "by the profile"})
	f("cannot devirtualize x.M(): shaped receiver T", Diagnostic{Kind: NotDevirtualized, Text: "x.M()", Reason: "shaped receiver T"})
	f("zero-copy string->[]byte conversion", Diagnostic{Kind: ZeroCopy})
	f(`"moved to heap: x" escapes to heap`, Diagnostic{Kind: Escape, Text: `"moved to heap: x"`})
	f("moved to heap: x", Diagnostic{Kind: MovedToHeap, Text: "x"})
	f("loop variable i now per-iteration, heap-allocated", Diagnostic{Kind: LoopVariable, Text: "i", Reason: "heap-allocated"})
	if d, _, ok := message("undefined: x"); ok {
		t.Errorf("an error of the compiler is %+v", d)
	}
}

func TestMalformed(t *testing.T) {
	in := "note: something\nx.go:1:2: escapes to heap\nx.go:3:4: undefined: y\nx.go:5:6:   flow: a ← b:\nx.go:7:8: v does not escape\r\n" +
		strings.Repeat("z", 3<<20) + "\n"
	out, err := ParseText(strings.NewReader(in), Options{Dir: "/m", Package: "p"})
	if err != nil || out.Malformed != 5 || len(out.Diagnostics) != 1 {
		t.Fatalf("%v, %d malformed, %d diagnostics", err, out.Malformed, len(out.Diagnostics))
	}
	if d := out.Diagnostics[0]; d.Pos != (Pos{"/m/x.go", 7, 8}) || d.Package != "p" || d.Kind != NoEscape {
		t.Errorf("%+v", d)
	}
	if _, err := ParseJSON(strings.NewReader("{}\n"), Options{}); err == nil {
		t.Error("a file without a header is taken")
	}
	js, err := ParseJSON(strings.NewReader(`{"version":0,"package":"p","file":"/a.go"}`+"\n"+`{"range":`+"\n"+
		`{"range":{"start":{"line":4,"character":2}},"code":"escape","message":""}`+"\n"), Options{})
	if err != nil || js.Malformed != 1 || len(js.Diagnostics) != 1 || js.Diagnostics[0].Pos.String() != "/a.go:4:2" {
		t.Errorf("%v, %+v", err, js)
	}
}

func TestSet(t *testing.T) {
	var s Set
	for _, release := range []string{"go1.26", "go1.26"} { // the second time nothing is new
		s.Add(readJSON(t, Options{}, release, "json", "sample.json").Diagnostics...)
		s.Add(readJSON(t, Options{}, release, "json", "generic.json").Diagnostics...)
	}
	file, ok := s.File("/elsewhere/example.com/sample/sample.go")
	if !ok || file != "example.com/sample/sample.go" {
		t.Fatalf("the file is %q", file)
	}
	if _, ok := s.File("/elsewhere/sample.go"); ok {
		t.Error("the base name alone finds a file")
	}
	var chains []string
	for _, d := range s.At(file, 29) {
		if d.Allocates() {
			chains = append(chains, place(d))
		}
	}
	want := []string{"example.com/sample/sample.go:29:38", "example.com/sample/sample.go:58:13 example.com/sample/sample.go:29:38"}
	slices.Sort(chains)
	if !slices.Equal(chains, want) {
		t.Errorf("line 29 allocates at %q, want %q", chains, want)
	}
	if n := len(s.InlinedAt(file, 58)); n == 0 {
		t.Error("nothing is inlined in line 58")
	}
}

// TestKeep holds that unwanted kinds are not decoded.
func TestKeep(t *testing.T) {
	only := Options{Keep: func(k Kind) bool { return k == Escape || k == MovedToHeap }}
	for _, out := range []*Output{readJSON(t, only, "go1.26", "json", "sample.json"), readText(t, only, "go1.26", "m2.txt")} {
		if len(out.Diagnostics) == 0 {
			t.Error("nothing is left")
		}
		for _, d := range out.Diagnostics {
			if !d.Allocates() {
				t.Errorf("%v is not wanted", d.Kind)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, release := range []string{"go1.17", "go1.26"} {
		for _, name := range []string{"m.txt", "m2.txt", "bce.txt", "json/sample.json"} {
			data, err := os.ReadFile(filepath.Join("testdata", release, filepath.FromSlash(name)))
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data[:min(len(data), 8<<10)])
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var s Set
		if out, err := ParseText(bytes.NewReader(data), Options{Dir: "/d"}); err == nil {
			s.Add(out.Diagnostics...)
		}
		if out, err := ParseJSON(bytes.NewReader(data), Options{}); err == nil {
			s.Add(out.Diagnostics...)
		}
		for d := range s.All {
			s.File(d.Where().File)
			s.At(d.Where().File, d.Where().Line)
		}
		runtime.ReadMemStats(&after)
		if got, most := after.TotalAlloc-before.TotalAlloc, uint64(8<<20+len(data)*400); got > most {
			t.Errorf("%d bytes of input took %d bytes of memory, want %d at most", len(data), got, most)
		}
	})
}
