package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"
	"testing"

	"loupe/analysis/facts"
	"loupe/analysis/why"
	"loupe/format/compiler"
	"loupe/format/profile/profiletest"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestWaysOut: what line 4 makes leaves its function by what the source does with it after the
// reader has filled it, and not by what only looks at it.
func TestWaysOut(t *testing.T) {
	for _, c := range []struct {
		name, source string
		want         string // "" is none
		sure         bool
	}{
		{"a channel", "buf := make([]byte, 4096)\nn, _ := r.Read(buf)\nqueue <- buf[:n]", "sent on the channel queue at a.go:6", true},
		{"a field of a message", "buf := make([]byte, 4096)\nn, _ := r.Read(buf)\nm := message{text: buf[:n]}\ns.queue <- m", "sent on the channel s.queue at a.go:7", true},
		{"a field", "buf := make([]byte, 4096)\nr.Read(buf)\ns.last = buf", "stored in s.last at a.go:6", true},
		{"a map", "buf := make([]byte, 4096)\nn, _ := r.Read(buf)\npart := bytes.TrimSpace(buf[:n])\ns.parts[n] = part", "stored in s.parts[n] at a.go:7", true},
		{"a slice of slices", "buf := make([]byte, 4096)\nr.Read(buf)\ns.all = append(s.all, buf)", "appended to s.all at a.go:6", true},
		{"a result", "buf := make([]byte, 4096)\nr.Read(buf)\nreturn buf", "returned at a.go:6", true},
		{"a goroutine", "buf := make([]byte, 4096)\nr.Read(buf)\ngo use(buf)", "passed to a go statement at a.go:6", true},
		{"a closure of a goroutine", "buf := make([]byte, 4096)\nr.Read(buf)\ngo func() { print(len(buf)) }()", "captured by the closure of a go statement at a.go:6", true},
		{"in a function of the program", "buf := make([]byte, 4096)\nr.Read(buf)\nkeep(s, buf)", "passed to keep, where it is stored in s.last at a.go:", true},
		{"a function that nobody knows", "buf := make([]byte, 4096)\nr.Read(buf)\nother.Use(buf)", "passed to other.Use at a.go:6", false},
		{"a closure that is called later", "buf := make([]byte, 4096)\nr.Read(buf)\nlater(func() { print(len(buf)) })", "captured by a closure at a.go:6", false},
		{"only the reader", "buf := make([]byte, 4096)\nn, _ := r.Read(buf)\nreturn binary.BigEndian.Uint32(buf[:4]) + uint32(n) + uint32(buf[7])", "", false},
		{"a copy", "buf := make([]byte, 4096)\nn, _ := r.Read(buf)\nqueue <- bytes.Clone(buf[:n])\ns.name = string(buf[:8])\ns.all = append(s.all, buf[:n]...)", "", false},
		{"in a function that looks", "buf := make([]byte, 4096)\nr.Read(buf)\nreturn look(buf)", "", false},
		{"a deferred function", "buf := make([]byte, 4096)\nr.Read(buf)\ndefer func() { print(len(buf)) }()", "", false},
		{"the own goroutine", "go func() {\nbuf := make([]byte, 4096)\nr.Read(buf)\n}()", "", false},
		{"another variable of the name", "if true {\nbuf := make([]byte, 4096)\nr.Read(buf)\n}\nbuf := s.last\nqueue <- buf", "", false},
	} {
		r := recordingtest.New("title x")
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"}, []byte("package main\n\nfunc f(r io.Reader, s *server) {\n"+c.source+
			"\n}\nfunc keep(s *server, b []byte) {\n\ts.last = b\n}\nfunc look(b []byte) int {\n\treturn len(b)\n}\n"))
		line := 4
		if !strings.HasPrefix(c.source, "buf") {
			line = 5
		}
		in := NewInput(session.New(r.Open()))
		ways, known := waysOut(in.code, stack.Frame{Func: "main.f", File: "a.go", Line: line}, func(n *ast.CallExpr) bool { return readerCall.MatchString(types.ExprString(n.Fun) + "(") })
		if !known {
			t.Errorf("%s: not known", c.name)
			continue
		}
		var all []string
		for _, w := range ways {
			all = append(all, fmt.Sprint(w.at(), w.sure))
		}
		got := strings.Join(all, "; ")
		if c.want == "" && got != "" || !strings.Contains(got, c.want) || c.want != "" && strings.Contains(got, "true") != c.sure {
			t.Errorf("%s: %q, want %q, sure %v", c.name, got, c.want, c.sure)
		}
	}
}

// receiving is a recording of a program that allocates 95 % of its bytes in line 5 of a source,
// which a reader fills in line 6; what follows is its rest.
func receiving(t *testing.T, rest string) *recordingtest.Recording {
	t.Helper()
	return compiled(t, "package page; func receive(conn io.Reader, s *server) { // profiles of tests say that functions begin in line 1\n\n\n\tfor {\n\t\tbuf := make([]byte, 4096)\n\t\tn, err := conn.Read(buf)\n"+rest+"\n\t}\n}\n",
		`/src/page.go:5:14: make([]byte, 4096) escapes to heap in receive:
/src/page.go:5:14:   flow: buf ← &{storage for make([]byte, 4096)}:
/src/page.go:5:14:     from make([]byte, 4096) (spill) at /src/page.go:5:14
/src/page.go:5:14:     from buf := make([]byte, 4096) (assign) at /src/page.go:5:7
/src/page.go:5:14:   flow: {heap} ← buf:
/src/page.go:5:14:     from conn.Read(buf) (call parameter) at /src/page.go:6:22
/src/page.go:5:14: make([]byte, 4096) escapes to heap
`, fmt.Sprintf("shop/page.receive:/src/page.go:5  example.com/other.f:/src/other.go:9\n= %d %d\n= %d %d\n", 100_000, 5_000, 100_000<<12, 5_000<<12))
}

// compiled is a recording with an allocs profile, a source and what the compiler says of it.
func compiled(t *testing.T, source, answer, picture string) *recordingtest.Recording {
	t.Helper()
	r := recordingtest.New("title x\ntarget package ./shop module=shop\nphase bare 0s..10s\nphase allocs 10s..11s profiler=allocs\n")
	r.Put(recording.Entry{Path: "source/page.go", Kind: recording.Source, Source: "/src/page.go"}, []byte(source))
	data := profiletest.Encode(picture, profiletest.Options{Types: []string{"alloc_objects/count", "alloc_space/bytes"}, Period: 512 << 10})
	r.Put(recording.Entry{Path: "allocs.pb.gz", Kind: recording.Allocs, Phase: "allocs"}, data)
	var b strings.Builder
	a := compiler.Answer{Package: "shop/page", Dir: "/src", Flows: []byte(answer), Lost: []string{"/src/page.go"}}
	if err := a.Encode(&b); err != nil {
		t.Fatal(err)
	}
	return r.Put(recording.Entry{Path: "compiler/shop/page.gz", Kind: recording.Compiler}, []byte(b.String()))
}

// TestReaderAlone: that the concrete type keeps a buffer on the stack is said only where the
// reader is all that takes it off.
func TestReaderAlone(t *testing.T) {
	const onStack = "Call the method of a concrete type that passes the buffer to no interface itself (os.File, bytes.Reader; not bufio.Reader or bufio.Writer): then it stays on the stack"
	f := expect(t, "a queue", receiving(t, "\t\ts.queue <- buf[:n]"), "AL04", Found, "it would escape without the interface too: it is sent on the channel s.queue at page.go:7")
	if strings.Contains(f.Advice, onStack) || !strings.Contains(f.Advice, "put it back where whoever receives from s.queue is done with it") || !strings.Contains(f.Advice, "bytes.Clone(buf[:n])") {
		t.Errorf("a queue: %s", f.Advice)
	}
	if !shows(&f, "/src/page.go:7") {
		t.Errorf("a queue: evidence %+v", f.Evidence)
	}
	f = expect(t, "the reader alone", receiving(t, "\t\ts.sum += n"), "AL04", Found)
	if !strings.Contains(f.Advice, onStack) {
		t.Errorf("the reader alone: %s", f.Advice)
	}
	f = expect(t, "somebody else's function", receiving(t, "\t\tother.Use(buf[:n])"), "AL04", Found)
	if strings.Contains(f.Advice, onStack) || !strings.Contains(f.Advice, "passed to other.Use at page.go:7") {
		t.Errorf("somebody else's function: %s", f.Advice)
	}
	r := receiving(t, "\t\ts.sum += n")
	delete(r.Files, "source/page.go")
	f = expect(t, "no source", r, "AL04", Found)
	if strings.Contains(f.Advice, onStack) || !strings.Contains(f.Advice, "names the first way") {
		t.Errorf("no source: %s", f.Advice)
	}
}

// TestBacklog: what is queued for a moment is a small part of all that a line allocates, and is
// not said to be kept; what grows with it is.
func TestBacklog(t *testing.T) {
	f := func(what, want string, looks ...[4]int64) {
		t.Helper()
		in := NewInput(session.New(heapLooks("phase bare 0s..6s\n", looks...).Open()))
		if got := notAgain(livesOn(in, stack.Frame{Func: "shop/cache.remember", File: "/src/none.go", Line: 11})); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %q", what, got, want)
		}
	}
	f("a queue that was full at the start", "As far as heap profiles saw, at most 55.0 MiB of what this line", [4]int64{26, 58, 1, 1}, [4]int64{55, 3000, 1, 1})
	f("a leak", "something keeps them", [4]int64{20, 20, 1, 1}, [4]int64{500, 500, 1, 1})
	f("a leak of one in twenty", "something keeps them", [4]int64{5, 100, 1, 1}, [4]int64{20, 400, 1, 1}, [4]int64{50, 1000, 1, 1})
	f("a cache that was dropped", "something keeps them", [4]int64{50, 60, 1, 9}, [4]int64{1, 200, 60, 70})
}

// toldOf lets a rule's telling look at a line that allocates for what the compiler says of a text.
func toldOf(t *testing.T, r *recordingtest.Recording, text string, tell telling) Finding {
	t.Helper()
	in := NewInput(session.New(r.Open()))
	set, _ := in.compiled()
	var d *compiler.Diagnostic
	for one := range set.All {
		if one.Text == text && len(one.Flow) > 0 {
			d = one
		}
	}
	if d == nil {
		t.Fatalf("the compiler says nothing of %q", text)
	}
	frames := []stack.Frame{{Func: "shop/page.write", File: "/src/page.go", Line: 5}}
	w, err := in.Facts.Weights(facts.Allocations, "alloc_space")
	if err != nil {
		t.Fatal(err)
	}
	site := &allocSite{Site: &why.Site{Frames: frames, Causes: []why.Cause{{Diagnostic: d, Expr: text}}, Samples: []int32{0}}, at: frames[0]}
	f := Finding{Severity: Warning}
	tell(in, &reasons{set: set, profile: w.Profile}, &reasonLine{at: frames[0], sites: []*allocSite{site}}, &f)
	return f
}

// TestBoxingReason: why a boxed value escapes is what the compiler says of it, and nothing where
// it does not say.
func TestBoxingReason(t *testing.T) {
	argument := func(call string) string {
		return "{storage for ... argument} ← &{storage for n}:\nL     from n (spill) at /src/page.go:5:5\nL     from ... argument (slice-literal-element) at /src/page.go:5:4\nL n escapes to heap\n" +
			"/src/page.go:5:4: ... argument escapes to heap in write:\n/src/page.go:5:4:   flow: {heap} ← &{storage for ... argument}:\n/src/page.go:5:4:     from ... argument (spill) at /src/page.go:5:4\n/src/page.go:5:4:     from " + call + "(... argument...) (call parameter) at /src/page.go:5:4\n/src/page.go:5:4: ... argument escapes to heap"
	}
	for _, c := range []struct{ call, flow, says string }{
		{"g(n)", argument("g"), "does not know which function g calls"},
		{"p.out.Print(n)", argument("p.out.Print"), "does not know which function p.out.Print calls"},
		{"log.Print(n)", argument("log.Print"), "or a type parameter, or call one that does."},
		{"p.show(n)", argument("(*printer).show"), "or a type parameter, or call one that does."},
		{"sort.Slice(n, less)", argument("sort.Slice"), "Use slices.SortFunc (Go 1.21) in place of sort.Slice: it takes the slice as it is"},
		{"sort.SliceStable(n, less)", argument("sort.SliceStable"), "Use slices.SortStableFunc"},
		{"heap.Push(h, n)", argument("heap.Push"), "or call one that does."},
		{"json.Marshal(n)", argument("json.Marshal"), "or pass a pointer to a value"},
		{"return n", "~r0 ← &{storage for n}:\nL     from n (spill) at /src/page.go:5:5\nL     from n (interface-converted) at /src/page.go:5:5\nL     from return n (return) at /src/page.go:5:2", "The interface is returned"},
		{"p.c <- n", "{heap} ← &{storage for n}:\nL     from n (spill) at /src/page.go:5:5\nL     from n (interface-converted) at /src/page.go:5:5\nL     from p.c <- n (send) at /src/page.go:5:2", "stored in something that outlives"},
		{"p.all(n)", "{storage for ... argument} ← &{storage for n}:\nL     from n (spill) at /src/page.go:5:5\nL     from ... argument (slice-literal-element) at /src/page.go:5:4", "where nothing needs the interface"},
		{"x = n", "{heap} ← &{storage for n}:\nL     from n (spill) at /src/page.go:5:5", "where nothing needs the interface"},
	} {
		r := compiled(t, "package page; func write(g func(...any), p *printer, n int) any {\n\n\n\tfor {\n\t\t"+c.call+"\n\t}\n}\n",
			strings.ReplaceAll("L n escapes to heap in write:\nL   flow: "+c.flow+"\nL n escapes to heap\n", "L ", "/src/page.go:5:5: "), boxing(540_000, 460_000))
		if f := toldOf(t, r, "n", tellBoxing); !strings.Contains(f.Advice, c.says) {
			t.Errorf("%s: %s, want %q", c.call, f.Advice, c.says)
		}
	}
}

// TestTakesPointer: a function of the sources takes a pointer in place of a value, if it does not ask for the type, compare it or hand it on.
func TestTakesPointer(t *testing.T) {
	for body, want := range map[string]bool{
		"p.last = x": true,
		"if x == nil {\n\t\treturn\n\t}\n\tp.last = x": true,
		"p.n += x.(int)": false,
		"switch v := x.(type) {\n\tcase int:\n\t\t_ = v\n\t}": false,
		"p.same = p.last == x":                                false,
		"p.seen[x] = true":                                    false,
		"fmt.Println(x)":                                      false,
	} {
		c := sourceOf("package p\n\nfunc (p *printer) show(x any) {\n\t" + body + "\n}\n")
		if got := takesPointer(c, "(*printer).show"); got != want {
			t.Errorf("%s: %v", body, got)
		}
	}
	if takesPointer(sourceOf("package p\n"), "log.Print") {
		t.Error("log.Print prints the address")
	}
}

// TestConversionKept: of a converted text that is returned, it is said where it goes only where the
// source shows that, and never that it is kept.
func TestConversionKept(t *testing.T) {
	for caller, kept := range map[string]bool{
		"\tlog.Debug(\"got\", write(b))":   false,
		"\ts.known[1] = write(b)":          true,
		"\tt := write(b)\n\tprint(len(t))": false,
	} {
		source := "package page; func write(b []byte) string {\n\n\n\n\treturn string(b)\n}\nfunc show(s *server, b []byte) {\n" + caller + "\n}\n"
		r := compiled(t, source, strings.ReplaceAll("L string(b) escapes to heap in write:\nL   flow: ~r0 ← &{storage for string(b)}:\nL     from string(b) (spill) at /src/page.go:5:15\nL     from return string(b) (return) at /src/page.go:5:2\nL string(b) escapes to heap\n", "L ", "/src/page.go:5:15: "),
			picture(column{"shop/page.show:/src/page.go:8 shop/page.write:/src/page.go:5", []int64{100_000, 100_000 << 12}}, column{"example.com/other.f:/src/other.go:9", []int64{5_000, 5_000 << 12}}))
		f := toldOf(t, r, "string(b)", tellConversion)
		if is := strings.Contains(f.Summary, "it goes into s.known at page.go:8"); is != kept || strings.Contains(f.Advice, "The result is kept") {
			t.Errorf("%s: %s %s", caller, f.Summary, f.Advice)
		}
		severity(t, caller, f, Info)
	}
}

// TestConversionPassedOn: a converted text that is passed on is kept where the source puts it into
// something, as the compiler says no more than that it is a parameter of append. To keep the bytes
// instead of it would be wrong where a scanner reads the next ones into them: it is a remark with that
// doubt, and nobody is told to use one type.
func TestConversionPassedOn(t *testing.T) {
	for statement, kept := range map[string]bool{
		"table = append(table, row{key: string(b)})":         true,
		"all := append(all, string(b)); use(all)":            true,
		"k := string(b); m[k] = 1":                           true,
		"k := string(b); table = append(table, row{key: k})": true,
		"out <- string(b)":                                   true,
		"r.key = string(b)":                                  true,
		"return string(b)":                                   true,
		"use(string(b))":                                     false,
		"k := string(b); use(k)":                             false,
		"if string(b) == name { use(b) }":                    false,
	} {
		source := "package page; func write(b []byte) string {\n\n\n\n\t" + statement + "\n}\n"
		flow := "L string(b) escapes to heap in write:\nL   flow: {heap} ← &{storage for string(b)}:\nL     from string(b) (spill) at /src/page.go:5:15\nL     from use(string(b)) (call parameter) at /src/page.go:5:2\nL string(b) escapes to heap\n"
		r := compiled(t, source, strings.ReplaceAll(flow, "L ", "/src/page.go:5:15: "),
			picture(column{"shop/page.write:/src/page.go:5", []int64{100_000, 100_000 << 12}}, column{"example.com/other.f:/src/other.go:9", []int64{5_000, 5_000 << 12}}))
		f := toldOf(t, r, "string(b)", tellConversion)
		if is := f.Severity == Info; is != kept || strings.Contains(f.Advice, "Use only one of the two types") == kept {
			t.Errorf("%s: %s: %s", statement, f.Severity, f.Advice)
		}
		if kept {
			doubted(t, f, "the copy is needed if it is kept while the bytes are used for something else")
		}
	}
}
