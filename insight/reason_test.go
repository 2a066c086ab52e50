package insight

import (
	"bytes"
	"fmt"
	"go/parser"
	"go/token"
	"strings"
	"testing"
	"time"

	"loupe/format/compiler"
	"loupe/format/loadlog/loadlogtest"
	"loupe/format/profile/profiletest"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/value/timeline"
)

// page is a source of which the compiler has said something.
const page = `package page; func write(items []item) { // profiles of tests say that functions begin in line 1


	for n, it := range items {
		log.Printf("%d", n) // line 5
		out = append(out, &it.text) // line 6
	}
}
`

// pageAnswer is what the compiler says about it, as text.
const pageAnswer = `/src/page.go:5:20: n escapes to heap in write:
/src/page.go:5:20:   flow: {storage for ... argument} ← &{storage for n}:
/src/page.go:5:20:     from n (spill) at /src/page.go:5:20
/src/page.go:5:20:   flow: {heap} ← {storage for ... argument}:
/src/page.go:5:20:     from log.Printf("%d", ... argument...) (call parameter) at /src/page.go:5:13
/src/page.go:5:20: n escapes to heap
`

// reasoned is a recording with an allocs profile, its reasons and its source.
func reasoned(t *testing.T, picture string) *recordingtest.Recording {
	t.Helper()
	r := recordingtest.New("title x\ntarget package ./shop module=shop\nphase bare 0s..10s\nphase allocs 10s..11s profiler=allocs\n" +
		"-- source/page.go source from=/src/page.go --\n" + page)
	data := profiletest.Encode(picture, profiletest.Options{Types: []string{"alloc_objects/count", "alloc_space/bytes"}, Period: 512 << 10})
	r.Put(recording.Entry{Path: "allocs.pb.gz", Kind: recording.Allocs, Phase: "allocs"}, data)
	var b bytes.Buffer
	a := compiler.Answer{Package: "shop/page", Dir: "/src", Flows: []byte(pageAnswer), Lost: []string{"/src/page.go"}}
	if err := a.Encode(&b); err != nil {
		t.Fatal(err)
	}
	return r.Put(recording.Entry{Path: "compiler/shop/page.gz", Kind: recording.Compiler}, b.Bytes())
}

// boxing is a picture of numbers that are boxed on line 5 beside the objects of
// a library, both of 1 KiB.
func boxing(boxed, other int64) string {
	return fmt.Sprintf("shop/page.write:/src/page.go:5  example.com/other.f:/src/other.go:9\n= %d %d\n= %d %d\n", boxed, other, boxed<<10, other<<10)
}

// TestLoadUnseen: a profile that has nothing of the load, as too few collections have ended in it, says nothing of a service.
func TestLoadUnseen(t *testing.T) {
	const head = "title x\nphase bare 2s..10s\n"
	for _, c := range []struct {
		name   string
		loaded bool
		cycles string // at 1, 3, 6, 9 and 20 s
		want   State
	}{
		{"none", true, "9 9 9 9 30", TooLittle},
		{"one that began before", true, "9 10 10 10 12", TooLittle},
		{"two", true, "9 10 11 11 11", Found},
		{"many", true, "9 40 90 200 300", Found},
		{"no load", false, "9 9 9 9 9", Found},
	} {
		r := reasoned(t, boxing(540_000, 460_000))
		at := strings.Fields(c.cycles)
		text := head + "-- metrics.ndjson metrics --\nt_ns /gc/cycles/total:gc-cycles\n"
		for i, when := range []string{"1s", "3s", "6s", "9s", "20s"} {
			text += when + " " + at[i] + "\n"
		}
		other := recordingtest.New(text)
		r.Manifest.Phases[0].Span.Start = other.Manifest.Phases[0].Span.Start
		for _, e := range other.Manifest.Entries {
			r.Put(e, other.Files[e.Path].Data)
		}
		if c.loaded {
			r.Clock("load.requests", 2*time.Second).Put(recording.Entry{Path: "load.requests", Kind: recording.Load, Phase: "bare"}, loadlogtest.Encode(loadlogtest.Steady(2000, 8*time.Second, time.Millisecond)))
		}
		for i := range r.Manifest.Entries {
			if e := &r.Manifest.Entries[i]; e.Kind == recording.Allocs {
				e.Span = timeline.Span{Start: timeline.Time(10500 * time.Millisecond), End: timeline.Time(10600 * time.Millisecond)}
			}
		}
		expect(t, c.name, r, "AL03", c.want)
	}
}

func TestReasonedLine(t *testing.T) {
	f := expect(t, "boxing", reasoned(t, boxing(540_000, 460_000)), "AL03", Found, "54.0% of the allocated objects", "527 MiB", "page.go:5", "page.write",
		"n is boxed into an interface", "log.Printf")
	severity(t, "boxing", f, Warning)
	near(t, "boxing", f, 0.54)
	if e := f.Evidence[0]; e.Line != 5 || !strings.HasPrefix(e.Source, "log.Printf") || !strings.Contains(e.Text, "exact") || !strings.Contains(e.Text, "1054 of 1952 samples") || e.Path != "allocs.pb.gz" {
		t.Errorf("evidence = %+v", e)
	}
	severity(t, "a small share", expect(t, "a small share", reasoned(t, boxing(80_000, 920_000)), "AL03", Found, "8"), Info)
	expect(t, "below the limit", reasoned(t, boxing(49_000, 951_000)), "AL03", Fine, "4.90%", "the reason is known for 4.90%")
	expect(t, "within the noise of the limit", reasoned(t, boxing(55_000, 945_000)), "AL03", Fine, "5.50%")
	expect(t, "few samples", reasoned(t, boxing(12_000, 10_000)), "AL03", TooLittle, "43 allocation samples", "50 are needed")
	expect(t, "one rule a line", reasoned(t, boxing(540_000, 460_000)), "AL02", Fine)
	r := reasoned(t, boxing(540_000, 460_000))
	delete(r.Files, "compiler/shop/page.gz")
	expect(t, "listed but gone", r, "AL03", NotApplicable, "cannot be read")
	expect(t, "not asked", allocating(boxing(540_000, 460_000)), "AL03", NotApplicable, "words of the compiler")
	expect(t, "not asked", allocating(boxing(540_000, 460_000)), "AL06", NotApplicable, "words of the compiler")
	expect(t, "no profile", recordingtest.New("title x"), "AL03", NotApplicable, "allocs profile")
}

// TestReasonedUnknown: where the reason of a line is not known that is large
// enough to be any rule's, no rule is fine.
func TestReasonedUnknown(t *testing.T) {
	unknown := strings.NewReplacer("example.com/other", "shop/other")
	r := reasoned(t, unknown.Replace(boxing(80_000, 920_000)))
	expect(t, "a finding stands", r, "AL03", Found, "8")
	for _, id := range []string{"AL04", "AL05", "AL06", "AL07", "AL08", "AL10", "AL19"} {
		expect(t, "most is unknown", r, id, TooLittle, "it is not known why other.go:9 in other.f allocates, which is 92", "loupe run within the module")
		expect(t, "little is unknown", reasoned(t, unknown.Replace(boxing(980_000, 20_000))), id, Fine, "the reason is known for 98.0%")
	}
}

// TestReasonedRate has the same shares of next to nothing: 977 MiB in an hour.
func TestReasonedRate(t *testing.T) {
	r := reasoned(t, boxing(540_000, 460_000))
	r.Manifest.Target.Runs = []recording.Run{{Span: timeline.Span{End: timeline.Time(time.Hour)}}}
	r.Manifest.Phases[1].Span = timeline.Span{Start: timeline.Time(59 * time.Minute), End: timeline.Time(time.Hour)}
	expect(t, "an hour", r, "AL03", Fine, "278 KiB a second", "no line of it matters")
}

// TestLargeObject: the share of one object of 500 MB is an accident, however
// many other samples there are.
func TestLargeObject(t *testing.T) {
	picture := fmt.Sprintf("shop/page.write:/src/page.go:5  example.com/other.f:/src/other.go:9\n= 1 500000\n= 500000000 %d\n", 500_000<<10)
	expect(t, "one large object", reasoned(t, picture), "AL02", Fine)
}

func TestEffectiveSize(t *testing.T) {
	f := func(want float64, weights, counts []int64) {
		t.Helper()
		if got := effectiveSize(weights, counts); got != want {
			t.Errorf("effectiveSize(%v, %v) = %v, want %v", weights, counts, got, want)
		}
	}
	f(30, []int64{100, 200}, []int64{10, 20})
	f(2, []int64{500, 500}, []int64{1, 1})
	f(0, nil, nil)
	f(1, []int64{500, 0, -3}, []int64{1, 1, 1})
	// One observation of half the weight, and ten of the other half.
	f(1/0.275, []int64{500, 500}, []int64{1, 10})
}

// TestStatements reads loops, defers and go statements out of source.
func TestStatements(t *testing.T) {
	const text = `package x

func f(words []string) string {
	s := ""
	for _, w := range words {
		s += w // 6: grows
		t := ""
		t += w // 8: new in every turn
		o.text = o.text + w // 9: grows
		s = w + s // 10: grows
		n = w + w // 11
		defer func() { // 12: in the loop
			s += w // 13: no loop of its own
			defer g() // 14
		}()
		go func() { // 16: go
			h()
		}()
		func() {
			defer g() // 20: at the end of each turn
		}()
		b[0] += w // 22: grows
	}
	s += "." // 24
	defer g() // 25
	return s
}
`
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	s := &syntax{fset: fset, file: file}
	grows := map[int]string{6: "s", 9: "o.text", 10: "s", 22: "b[0]"}
	for line := 1; line <= strings.Count(text, "\n"); line++ {
		if got := s.growsText(line); got != grows[line] {
			t.Errorf("growsText(%d) = %q, want %q", line, got, grows[line])
		}
		if got := s.deferInLoop(line); got != (line == 12) {
			t.Errorf("deferInLoop(%d) = %v", line, got)
		}
		if got := s.startsGoroutine(line); got != (line == 16) {
			t.Errorf("startsGoroutine(%d) = %v", line, got)
		}
	}
	var none *syntax
	if none.growsText(1) != "" || none.deferInLoop(1) || none.startsGoroutine(1) {
		t.Error("no source says something")
	}
}

// TestOutgrown: of ten slices that are doubled to 512 bytes all smaller steps
// are thrown away; slices of any length that are made at once leave nothing.
func TestOutgrown(t *testing.T) {
	f := func(want int64, sizes map[int64]int64) {
		t.Helper()
		list := map[int64]allocated{}
		for size, n := range sizes {
			list[size] = allocated{bytes: size * n, objects: n}
		}
		if got := outgrown(list); got != want {
			t.Errorf("outgrown(%v) = %d, want %d", sizes, got, want)
		}
	}
	f(10*(64+128+256), map[int64]int64{64: 10, 128: 10, 256: 10, 512: 10})
	f(4*64+2*128, map[int64]int64{64: 10, 128: 4, 256: 2})
	f(0, map[int64]int64{16: 10, 64: 10, 1024: 10})
	f(0, nil)
}

func TestReaderCalls(t *testing.T) {
	f := func(want bool, calls ...string) {
		t.Helper()
		for _, call := range calls {
			if readerCall.MatchString(call) != want {
				t.Errorf("%q is a call of a reader: %v", call, !want)
			}
		}
	}
	f(true, "io.ReadFull(input, buf[:])", "io.Copy(w, r)", "r.Read(buf)", "c.rwc.Write(b)", "w.WriteString(s)")
	f(false, "bufio.NewReader(r)", "io.MultiReader(a, b)", "fmt.Fprintf(w, ... argument...)", "d.readAll(buf)", "r.Reader(buf)", "strings.NewReader(s)")
}

// TestFold: AL02 does not repeat what another rule has found, and AL01 points
// at what explains it.
func TestFold(t *testing.T) {
	at := func(rule string, line int) Finding {
		return Finding{Rule: rule, Title: "Title of " + rule, State: Found, Evidence: []Evidence{{File: "/src/page.go", Line: line}}}
	}
	all := fold([]Finding{at("AL01", 1), at("AL02", 5), at("AL02", 6), at("AL13", 5), {Rule: "AL03", State: Fine}})
	var got []string
	for _, f := range all {
		got = append(got, fmt.Sprintf("%s:%d", f.Rule, len(f.Evidence)))
	}
	if want := "AL01:3 AL02:1 AL13:1 AL03:0"; strings.Join(got, " ") != want {
		t.Errorf("fold = %v, want %s", got, want)
	}
	if e := all[0].Evidence[2]; e.Text != "see AL13: Title of AL13" || e.Line != 5 {
		t.Errorf("AL01 points at %+v", e)
	}
	all = fold([]Finding{at("AL02", 5), at("AL13", 5)})
	if len(all) != 2 || all[1].Rule != "AL02" || all[1].State != Fine || !strings.Contains(all[1].Summary, "AL13") {
		t.Errorf("a rule is silent: %+v", all)
	}
}
