package insight

import (
	"bytes"
	"fmt"
	"runtime/pprof"
	"runtime/trace"
	"strings"
	"testing"

	"loupe/format/profile"
	"loupe/format/profile/profiletest"
	"loupe/recording"
	"loupe/recording/recordingtest"
)

// rss is a source of which profiles know lines.
const rss = `package search

func find(term string) {
	for _, item := range items {
		if strings.Contains(strings.ToLower(item.Text), term) { // line 5
			use(item)
		}
		match(item, term) // line 8
	}
}

func match(item Item, term string) bool {
	return contains(item.Text, term) // line 13
}

func contains(text, term string) bool {
	return strings.Contains(strings.ToLower(text), term) // line 17
}

func store(text string) {
	cache = strings.ToLower(text) // line 21
}

func order() {
	sort.Slice(items, func(i, j int) bool {
		return strings.ToLower(items[i].Title) < strings.ToLower(items[j].Title) // line 26
	})
}

func wait() {
	for strings.ToLower(read()) != "stop" { // line 31
	}
}
`

// allocating is a recording with an allocs profile and the source above. The
// values of the picture are objects and bytes; the period is 512 KiB.
func allocating(picture string) *recordingtest.Recording {
	r := recordingtest.New("title x\ntarget package ./shop module=shop\nphase bare 0s..10s\nphase allocs 10s..11s profiler=allocs\n" +
		"-- source/search/rss.go source from=/src/rss.go --\n" + rss)
	data := profiletest.Encode(picture, profiletest.Options{Types: []string{"alloc_objects/count", "alloc_space/bytes"}, Period: 512 << 10})
	return r.Put(recording.Entry{Path: "allocs.pb.gz", Kind: recording.Allocs, Phase: "allocs"}, data)
}

// lowering is a picture of two stacks: the first lower-cases through the given
// frames, the other writes. Both are of objects of 1 KiB.
func lowering(lowered, written int64, frames ...string) string {
	var b strings.Builder
	row := func(left, right string) { fmt.Fprintf(&b, "%-60s %s\n", left, right) }
	row("net/http.(*conn).serve", "net/http.(*conn).serve")
	for i, f := range append(frames, "strings.ToLower", "strings.(*Builder).grow") {
		right := ""
		if i == 0 {
			right = "shop/page.write:/src/page.go:9"
		}
		row(f, right)
	}
	fmt.Fprintf(&b, "= %d %d\n= %d %d\n", lowered, written, lowered<<10, written<<10)
	return b.String()
}

func TestAL09(t *testing.T) {
	const find = "shop/search.find:/src/rss.go:5"
	// 540,000 of 1,000,000 KiB: 54% of them, about 1,055 of 1,953 samples.
	f := expect(t, "in a loop", allocating(lowering(540_000, 460_000, find)), "AL09", Found, "54.0%", "527 MiB", "strings.ToLower", "rss.go:5", "search.find", "in a loop")
	severity(t, "in a loop", f, Warning)
	near(t, "in a loop", f, 0.54)
	if f.Impact.Low < 0.51 || f.Impact.High > 0.57 {
		t.Errorf("impact = %+v, want an interval of ±2%%", f.Impact)
	}
	e := f.Evidence[0]
	if e.File != "/src/rss.go" || e.Short != "search/rss.go" || e.Line != 5 || e.Function != "shop/search.find" || e.Path != "allocs.pb.gz" ||
		!strings.HasPrefix(e.Source, "if strings.Contains(") || e.Text != "1054 of 1952 samples" {
		t.Errorf("evidence = %+v", e)
	}
	severity(t, "a small share", expect(t, "a small share", allocating(lowering(80_000, 920_000, find)), "AL09", Found, "8"), Info)
	expect(t, "below the limit", allocating(lowering(29_000, 971_000, find)), "AL09", Fine, "2.90%")
	expect(t, "within the noise of the limit", allocating(lowering(33_000, 967_000, find)), "AL09", Fine)
	expect(t, "few samples", allocating(lowering(12_000, 10_000, find)), "AL09", TooLittle, "43 allocation samples", "50 are needed")
	expect(t, "no case is changed", allocating("shop/search.find:/src/rss.go:5  shop/page.write\n= 500000 500000\n= 512000000 512000000"), "AL09", Fine, "0%")
	expect(t, "no profile", recordingtest.New("title x"), "AL09", NotApplicable, "allocs profile")
	r := recordingtest.New("title x")
	r.Put(recording.Entry{Path: "allocs.pb.gz", Kind: recording.Allocs}, profiletest.Profile("main.main"))
	expect(t, "no bytes", r, "AL09", TooLittle, "allocs.pb.gz")
}

// TestAL09Loops knows a loop around the call from one that calls the function,
// and a callback of a sort from a call that runs once.
func TestAL09Loops(t *testing.T) {
	f := func(what string, state State, words string, frames ...string) Finding {
		t.Helper()
		return expect(t, what, allocating(lowering(540_000, 460_000, frames...)), "AL09", state, words)
	}
	f("the condition of a loop", Found, "in a loop", "shop/search.wait:/src/rss.go:31")
	f("once", Fine, "54.0%", "shop/search.store:/src/rss.go:21")
	f("once, called once", Fine, "54.0%", "shop/search.order:/src/rss.go:24", "shop/search.store:/src/rss.go:21")
	f("a helper called in a loop", Found, "called in a loop of search.find at rss.go:8", "shop/search.find:/src/rss.go:8", "shop/search.contains:/src/rss.go:17")
	f("a helper of a helper", Found, "called in a loop of search.find at rss.go:8",
		"shop/search.find:/src/rss.go:8", "shop/search.match:/src/rss.go:13", "shop/search.contains:/src/rss.go:17")
	f("far above", Fine, "54.0%", "shop/search.find:/src/rss.go:8", "shop/search.match:/src/rss.go:13", "shop/search.match:/src/rss.go:13",
		"shop/search.contains:/src/rss.go:17")
	f("a callback", Found, "called back for every element by sort.Slice", "shop/search.order:/src/rss.go:25", "sort.Slice", "shop/search.order.func1:/src/rss.go:26")
	severity(t, "no source", f("no source", Found, "without its source it is not known", "shop/other.find:/src/other.go:5"), Info)
	f("no code of the user", Fine, "54.0%", "net/textproto.canonical")
}

// TestAL09Large has one object of 100 MB beside little else: a share of 99%
// that rests on a single sample.
func TestAL09Large(t *testing.T) {
	picture := "shop/search.find:/src/rss.go:5  shop/page.write\nstrings.ToLower\n= 1 1000\n= 100000000 1024000"
	expect(t, "one large object", allocating(picture), "AL09", TooLittle, "3 allocation samples")
}

// computing is a recording with a CPU profile of 10 ms samples.
func computing(picture string) *recordingtest.Recording {
	r := recordingtest.New("title x\ntarget package ./shop module=shop\nphase bare 0s..10s\nphase cpu 10s..15s profiler=cpu\n" +
		"-- source/search/rss.go source from=/src/rss.go --\n" + rss)
	return r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "cpu"}, profiletest.Profile(picture))
}

func TestCP01(t *testing.T) {
	f := expect(t, "hot", computing(`
		net/http.(*conn).serve          net/http.(*conn).serve          net/http.(*conn).serve   runtime.gcBgMarkWorker
		shop/search.find:/src/rss.go:5  shop/search.find:/src/rss.go:8  shop/page.(*View).write
		strings.ToLower
		= 50 20 25 5`), "CP01", Found, "70.0%", "search.find", "rss.go:5", "50.0%", "calling strings.ToLower")
	severity(t, "hot", f, Info)
	near(t, "hot", f, 0.7)
	e := f.Evidence[0]
	if e.Text != "70 of 100 samples, 50 of them through this line" || e.Line != 5 || e.Function != "shop/search.find" || !strings.HasPrefix(e.Source, "if strings.Contains") || *e.Span != [2]int64{10e9, 15e9} {
		t.Errorf("evidence = %+v", e)
	}
	all := answers(t, computing("shop/a.f shop/b.(*T).g main.h\n= 40 40 20"), "CP01")
	if len(all) != 3 || !strings.Contains(all[0].Summary, "a.f") || !strings.Contains(all[1].Summary, "b.(*T).g") || !strings.Contains(all[2].Summary, "main.h") {
		t.Errorf("answers = %+v, want three by weight and name", all)
	}
	if want := `loupe pprof -list 'b\.\(\*T\)\.g$' RECORDING/cpu.pb.gz`; !strings.Contains(all[1].Advice, want) {
		t.Errorf("advice = %s, want %s", all[1].Advice, want)
	}
	expect(t, "many small", computing("shop/a.a shop/a.b shop/a.c shop/a.d shop/a.e shop/a.f shop/a.g shop/a.h shop/a.i shop/a.j\n= 10 10 10 10 10 10 10 10 10 10"), "CP01", Fine, "no function", "10.0%")
	expect(t, "above the limit by chance", computing("shop/a.f runtime.mallocgc\n= 9 51"), "CP01", Fine, "15.0%")
	expect(t, "few samples", computing("shop/a.f\n= 19"), "CP01", TooLittle, "19 samples", "20 are needed")
	expect(t, "no code of the user", computing("runtime.gcBgMarkWorker github.com/lib/x.f\n= 500 500"), "CP01", Fine, "0%")
	expect(t, "no profile", recordingtest.New("title x"), "CP01", NotApplicable, "CPU profile")
}

// TestHostileNames puts a command and control characters where a profile has
// names: no advice may repeat them as something to type.
func TestHostileNames(t *testing.T) {
	for _, name := range []string{"main.x';reboot;'", "main.`reboot`", "main.$(reboot)", "main.\x1b[31mred", "main.\u202egnp.exe"} {
		f := expect(t, name, computing(name+"\n= 100"), "CP01", Found)
		if strings.Contains(f.Advice, "reboot") || strings.ContainsAny(f.Advice, "\x1b\u202e`$") || !strings.Contains(f.Advice, "-list NAME") {
			t.Errorf("advice for %q = %q", name, f.Advice)
		}
	}
	for name, want := range map[string]string{
		"main.run": `'main\.run$'`, "a/b.(*T[...]).M": `'b\.\(\*T\[.*\]\)\.M$'`, "main.run.func1": `'main\.run\.func1$'`,
		"main.Grüße": `'main\.Grüße$'`, "gopkg.in/yaml%2ev3.Marshal": `'yaml%2ev3\.Marshal$'`,
	} {
		if got := Pattern(name); got != want {
			t.Errorf("Pattern(%q) = %s, want %s", name, got, want)
		}
	}
}

// FuzzLoop reads any source that a recording may hold.
func FuzzLoop(f *testing.F) {
	f.Add([]byte(rss), 5)
	f.Add([]byte("package x\nfunc f() { for { \n g() \n } }"), 3)
	f.Add([]byte("for"), -1)
	f.Fuzz(func(t *testing.T, source []byte, line int) {
		r := allocating(lowering(54, 46, fmt.Sprintf("shop/search.find:/src/rss.go:%d", max(line, 0))))
		r.Files["source/search/rss.go"].Data = source
		examine(t, r)
	})
}

// TestProfiledTrace: the CPU samples in an execution trace answer like a CPU profile, and
// a trace without any does not.
func TestProfiledTrace(t *testing.T) {
	var plain, sampled, prof bytes.Buffer
	if err := trace.Start(&plain); err != nil {
		t.Fatal(err)
	}
	trace.Stop()
	for n := 1 << 20; ; n *= 2 { // until there are enough samples on any machine
		sampled.Reset()
		prof.Reset()
		if err := trace.Start(&sampled); err != nil {
			t.Fatal(err)
		}
		if err := pprof.StartCPUProfile(&prof); err != nil {
			t.Fatal(err)
		}
		sum := 0
		for i := range n {
			sum += strings.Count(strings.Repeat("a", i%500), "aa")
		}
		pprof.StopCPUProfile()
		trace.Stop()
		if p, err := profile.Decode(prof.Bytes(), profile.Options{}); err != nil || sum == 0 {
			t.Fatal(err)
		} else if p.Total(0) >= 100 {
			break
		}
	}
	with := func(kind recording.Kind, path string, data []byte) map[string][]Finding {
		by := map[string][]Finding{}
		for _, f := range examine(t, recordingtest.New("title x\ntarget package ./insight module=loupe\n").Put(recording.Entry{Path: path, Kind: kind}, data)) {
			by[f.Rule] = append(by[f.Rule], f)
		}
		return by
	}
	traced, profiled, without := with(recording.ExecTrace, "t.trace", sampled.Bytes()), with(recording.CPU, "cpu.pb.gz", prof.Bytes()), with(recording.ExecTrace, "t.trace", plain.Bytes())
	for _, rule := range []string{"CP01", "CP02", "CP15", "CP17"} {
		a, b := traced[rule], profiled[rule]
		if len(a) == 0 || len(b) == 0 || a[0].State != b[0].State {
			t.Errorf("%s says %+v of the trace, %+v of the profile", rule, a, b)
		}
		if w := without[rule]; len(w) != 1 || w[0].State != NotApplicable || !strings.Contains(w[0].Summary, "no CPU profile") {
			t.Errorf("%s says %+v of a trace without samples", rule, w)
		}
	}
	f := traced["CP01"][0]
	if f.State != Found || !strings.Contains(f.Summary, "TestProfiledTrace") || !strings.Contains(f.Advice, "loupe trace profile -kind cpu") || f.Evidence[0].Path != "t.trace" {
		t.Errorf("CP01 says %+v", f)
	}
}

// TestCP01Library: in a profile of which nothing says what the program is, functions of
// the standard library may be it: then their silence is no praise.
func TestCP01Library(t *testing.T) {
	r := recordingtest.New("title x\nphase cpu 0s..10s\n")
	r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "cpu"}, profiletest.Profile("encoding/json.(*decodeState).object\n= 500"))
	expect(t, "a test of the standard library", r, "CP01", TooLittle, "500 samples", "loupe pprof -top -cum")
	r = recordingtest.New("title x\ntarget package ./shop module=shop\nphase cpu 0s..10s\n")
	r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "cpu"}, profiletest.Profile("encoding/json.(*decodeState).object\n= 500"))
	expect(t, "a program that is known", r, "CP01", Fine, "0%")
}

// TestDifference: a profile with values below 0 is a difference of two, and no rule takes
// a share of it.
func TestDifference(t *testing.T) {
	p, err := profile.Decode(profiletest.Profile("shop/a.f shop/b.g runtime.mallocgc\n= 500 400 300"), profile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p.Values[0][1] = -900
	var data bytes.Buffer
	if err := p.Encode(&data); err != nil {
		t.Fatal(err)
	}
	r := recordingtest.New("title x\ntarget package ./shop module=shop\nphase cpu 0s..10s\n").Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "cpu"}, data.Bytes())
	for _, rule := range []string{"AL01", "CP01", "CP05"} {
		expect(t, rule, r, rule, TooLittle, "difference of two profiles")
	}
}
