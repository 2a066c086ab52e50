package profile_test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	httppprof "net/http/pprof"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	google "github.com/google/pprof/profile"

	"loupe/format/profile"
	"loupe/format/profile/profiletest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestTexts reads outputs of real programs, of Go 1.8 to 1.26 and of perf, and
// compares what came of them with the golden files next to them.
func TestTexts(t *testing.T) {
	files, _ := filepath.Glob("testdata/text/*.txt")
	if len(files) == 0 {
		t.Fatal("there are no files")
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := describe(mustDecode(t, data))
			golden := strings.TrimSuffix(file, ".txt") + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("-got +want:\n%s", diff(got, string(want)))
			}
			if again := mustDecode(t, profiletest.Gzip(data)); describe(again) != got {
				t.Error("packed with gzip, it is another profile")
			}
			if _, err := google.ParseData(data); err == nil {
				compareLegacy(t, data)
			}
		})
	}
}

// describe writes a profile for people: for each sample its values and labels,
// then its frames, the leaf first.
func describe(p *profile.Profile) string {
	var b strings.Builder
	fmt.Fprintln(&b, p.SampleTypes, "period", p.Period, p.PeriodType, p.Duration)
	for _, m := range p.Mappings {
		fmt.Fprintf(&b, "mapping %x-%x %s %v\n", m.Start, m.Limit, m.File, m.HasFunctions)
	}
	for i, id := range p.StackIDs {
		b.WriteByte('\n')
		for _, column := range p.Values {
			fmt.Fprint(&b, column[i], " ")
		}
		if p.LabelSets != nil {
			for _, l := range p.Labels(p.LabelSets[i]) {
				if l.Numeric {
					fmt.Fprintf(&b, " %s=%d%s", l.Key, l.Num, l.Unit)
				} else {
					fmt.Fprintf(&b, " %s=%q", l.Key, l.Str)
				}
			}
		}
		b.WriteByte('\n')
		for _, f := range p.Stacks.Frames(id) {
			f := p.Stacks.Frame(f)
			fmt.Fprintf(&b, "  %s", f.Func)
			if f.System != f.Func {
				fmt.Fprintf(&b, " (%s)", f.System)
			}
			if f.File != "" || f.Line != 0 {
				fmt.Fprintf(&b, " %s:%d", f.File, f.Line)
			}
			if f.Module != "" {
				fmt.Fprintf(&b, " in %s", f.Module)
			}
			if f.Address != 0 {
				fmt.Fprintf(&b, " at %#x", f.Address)
			}
			if f.Inlined {
				b.WriteString(" inlined")
			}
			b.WriteByte('\n')
		}
	}
	if m := p.MemStats; m != nil {
		pauses, ends := m.PauseNs, m.PauseEnd
		rest := *m
		rest.PauseNs, rest.PauseEnd = nil, nil
		fmt.Fprintf(&b, "\n%+v\npauses %v\nends %v\n", rest, pauses, ends)
	}
	return b.String()
}

// fetch takes a profile from a server.
func fetch(t testing.TB, url string) []byte {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	data, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != 200 {
		t.Fatal(r.Status, err)
	}
	return data
}

// TestLive takes every kind of profile from a server of net/http/pprof, as text
// and as profile.proto: the functions and lines must be the same, and in the
// compatible form, what pprof reads.
func TestLive(t *testing.T) {
	if _, err := profiletest.Runtime(); err != nil { // makes work to be seen
		t.Fatal(err)
	}
	defer runtime.SetBlockProfileRate(0)
	server := httptest.NewServer(http.HandlerFunc(httppprof.Index))
	defer server.Close()
	for _, kind := range []string{"heap", "allocs", "block", "mutex", "goroutine", "threadcreate"} {
		t.Run(kind, func(t *testing.T) {
			data := fetch(t, server.URL+"/debug/pprof/"+kind+"?debug=1")
			compareLegacy(t, data)
			text := mustDecode(t, data)
			binary := mustDecode(t, fetch(t, server.URL+"/debug/pprof/"+kind))
			if a, b := fmt.Sprint(text.SampleTypes), fmt.Sprint(binary.SampleTypes); a != b {
				t.Errorf("sample types %s, want %s", a, b)
			}
			// The process goes on between the two, so only most must be equal.
			stacks := map[string]bool{}
			for i := range binary.Len() {
				stacks[framesOf(binary, i, kind)] = true
			}
			same, all := 0, 0
			for i := range text.Len() {
				if s := framesOf(text, i, kind); s != "" {
					all++
					if stacks[s] {
						same++
					} else if all-same < 3 {
						t.Logf("only in the text:\n%s", s)
					}
				}
			}
			if same*2 < all && all-same > 3 {
				t.Errorf("%d of %d stacks are those of the profile.proto", same, all)
			}
			if (kind == "heap" || kind == "allocs") && (text.MemStats == nil || text.MemStats.Sys == 0 || text.MemStats.HeapSys == 0) {
				t.Errorf("runtime.MemStats = %+v", text.MemStats)
			}
		})
	}
	t.Run("dump", func(t *testing.T) {
		p := mustDecode(t, fetch(t, server.URL+"/debug/pprof/goroutine?debug=2"))
		d := describe(p)
		if !strings.Contains(d, "TestLive") || !strings.Contains(d, "created by testing.(*T).Run (testing.(*T).Run)") ||
			!strings.Contains(d, `state="running"`) {
			t.Error(d)
		}
		if n := p.Total(0); n < 2 { // how many, the other tests decide
			t.Errorf("%d goroutines", n)
		}
	})
}

// framesOf is a stack without what the text form does not show: frames of the
// runtime at the leaf.
func framesOf(p *profile.Profile, row int, kind string) string {
	var b strings.Builder
	for _, id := range p.Stacks.Frames(p.StackIDs[row]) {
		f := p.Stacks.Frame(id)
		if b.Len() == 0 && (strings.HasPrefix(f.Func, "runtime.") || strings.HasPrefix(f.Func, "internal/runtime/")) {
			continue
		}
		fmt.Fprintln(&b, f.Func, f.File, f.Line)
	}
	return b.String()
}

func TestGoLabels(t *testing.T) {
	f := func(list, want string) {
		t.Helper()
		text := "goroutine profile: total 1\n1 @ 0x400011\n# labels: " + list + "\n#\t0x400010\tmain.f+0x10\t\t/src/main.go:12\n"
		p, err := profile.Decode([]byte(text), profile.Options{})
		if err != nil {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", list, err, want)
			}
			return
		}
		var labels []profile.Label
		if p.LabelSets != nil {
			labels = p.Labels(p.LabelSets[0])
		}
		if got := fmt.Sprint(labels); got != want {
			t.Errorf("%s: %s, want %s", list, got, want)
		}
		compat, err := profile.Decode([]byte(text), profile.Options{Compat: true})
		if err != nil || compat.LabelSets != nil || compat.Stacks.Frame(0).Func != "" {
			t.Errorf("%s: the compatible form has names or labels: %v", list, err)
		}
	}
	f(`{}`, "[]")
	f(`{"a":"b"}`, "[{a b 0  false}]")
	f(`{"a":"b, \"c\"}", "d":"é\n"}`, "[{a b, \"c\"} 0  false} {d é\n 0  false}]")
	f(`{"a":"b"`, `count profile in text form: line 3: "# labels: {\"a\":\"b\"": want labels as`)
	f(`{"a" "b"}`, "want labels as")
	f(`{"a":"b" "c":"d"}`, "want labels as")
}

func TestMemStats(t *testing.T) {
	f := func(n int, ring, want string) {
		t.Helper()
		p := mustDecode(t, fmt.Appendf(nil, "heap profile: 0: 0 [0: 0] @ heap/1048576\n\n# runtime.MemStats\n# Alloc = 12\n# Stack = 3 / 4\n# PauseNs = %s\n# NumGC = %d\n# DebugGC = true\n# MaxRSS = 7\n", ring, n))
		m := p.MemStats
		if m == nil || m.Alloc != 12 || m.StackInuse != 3 || m.StackSys != 4 || !m.DebugGC || m.MaxRSS != 7 {
			t.Fatalf("%+v", m)
		}
		if got := fmt.Sprint(m.PauseNs); got != want {
			t.Errorf("%d collections: pauses %s, want %s", n, got, want)
		}
	}
	f(0, "[0 0 0 0]", "[]")
	f(2, "[10 20 0 0]", "[10 20]")
	f(4, "[10 20 30 40]", "[10 20 30 40]")
	f(6, "[50 60 30 40]", "[30 40 50 60]")
	f(3, "[]", "[]")
	_, err := profile.Decode([]byte("heap profile: 0: 0 [0: 0] @ heap/2\n# runtime.MemStats\n# Sys = x\n"), profile.Options{})
	if err == nil || !strings.Contains(err.Error(), "line 3") {
		t.Error(err)
	}
}

func TestDump(t *testing.T) {
	p := mustDecode(t, []byte(`listening on :8080
goroutine 1 is not one
goroutine 7 [chan receive, 5 minutes, locked to thread]:
main.recv[...](0xc000, {0x1, 0x2, ...})
	C:/src/a b/main.go:12 +0x65
main.(*T).run(...)
	/src/t.go:7
main.main()
	/src/main.go:3 +0x1
2026/01/02 a log line in the middle
created by main.start in goroutine 1
	/src/main.go:9 +0x5
[originating from goroutine 1]:
main.start(...)
	/src/main.go:9 +0x5

goroutine 8 gp=0xc00 m=nil mp=0x5 [select (no cases) (durable), synctest bubble 3 labels:{"a": "]:", "b": "c"}]:
...100 frames elided...
add
	/src/add.c:5 pc=0x1234
non-Go function at pc=12ab

goroutine 9 [running]:
	goroutine running on other thread; stack unavailable
created by main.start
	/src/main.go:9 +0x5

goroutine 7 [chan receive, 5 minutes, locked to thread]:
main.again()
	/src/main.go:3 +0x1

goroutine 0 [idle]:
runtime.futex()
	/src/sys.s:1 +0x1
exit status 2
`))
	const want = `[goroutine/count] period 1 goroutine/count 0s

1  state="chan receive" wait=5minutes locked to thread="true"
  main.recv[...] C:/src/a b/main.go:12
  main.(*T).run /src/t.go:7 inlined
  main.main /src/main.go:3
  created by main.start (main.start) /src/main.go:9

1  state="select (no cases)" durable="true" synctest bubble="3" a="]:" b="c"
  [frames elided]
  add /src/add.c:5
  non-Go function

1  state="running"
  [stack unavailable]
  created by main.start (main.start) /src/main.go:9
`
	if got := describe(p); got != want {
		t.Errorf("-got +want:\n%s", diff(got, want))
	}
}

// TestForeignErrors holds that an error says the format, the line and what is
// wrong.
func TestForeignErrors(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		_, err := profile.Decode([]byte(text), profile.Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: error %q, want %q", text, err, want)
		}
	}
	f("goroutine profile: total 1\n\nx @ 0x1\n", `count profile in text form: line 3: "x @ 0x1": want a number`)
	f("heap profile: 1: 1 [1: 1] @ heap/2\n0: 5 [0: 0] @ 0x1\n", "heap profile in text form: line 2: \"0: 5 [0: 0] @ 0x1\": 5 bytes in no objects")
	f("heap profile: 1: 1 [1: 1] @ heapx\n", `the kind "heapx" is unknown`)
	f("heap profile:\n", "want \"heap profile: 1")
	f("heap profile: 1: 1 [1: 1] @ heap/2\nrubbish\n", "want objects: bytes")
	f("heap profile: 1: 1 [1: 1] @ heap/2\n1: 1 [1: 1] @ 0x12345678901234567\n", "not an address of 64 bits")
	f("--- mutex:\nx=5\n", "contention profile in text form: line 2")
	f("--- mutex:\ncycles/second=x\n", "line 2")
	f("--- mutex:\nrubbish\n", "want cycles, a number")
	f("--- threadz 1 ---\n--- rubbish\n", "threadz: line 2")
	f("--- heapz 1 ---\nformat = java\n 1 1 @ 0x1\n", "Java profile: line 3")
	f("--- heapz 1 ---\nformat = c\n", `the format "c" is unknown`)
	f("--- contentionz 1 ---\nformat = java\nx = y\n", `the attribute "x" is unknown`)
	f("--- heapz 1 ---\nresolution = bytes\n 1 0 @ 0x1\n", "bytes in no objects")
	growing := "heap profile: 0: 0 [0: 0] @ heap/2\nMAPPED_LIBRARIES:\nx=0123456789\n"
	for c := 'x'; c > 'k'; c-- {
		growing += string(c-1) + "=" + strings.Repeat("$"+string(c), 9) + "\n"
	}
	f(growing, "names")
	cpu := make([]byte, 60)
	cpu[4], cpu[12] = 3, 100
	cpu[20], cpu[24] = 1, 200
	f(string(cpu), "binary CPU profile: byte 20: a sample with a stack of 200 addresses does not fit")
	f(string(cpu[:23]), "half a word")
	f("a;b 1\nc\n", `folded stacks: line 2: "c": want frames`)
	f("sh 1 [000] 1.5: cycles: \n\t12 a (b)\nrubbish\n", `perf script: line 3: "rubbish": want a sample`)
	f(`{"shared":{"frames":[]},"profiles":[`, "speedscope file: line 1, byte")
	f(`{"shared":{"frames":[]},"profiles":[]}`, "no profiles in it")
	f(`{"shared":{"frames":[]},"profiles":[{"unit":"x"}]}`, `profile 0, "": the unit "x"`)
	f(`{"shared":{"frames":[]},"profiles":[{"unit":"none","type":"x"}]}`, `the type "x"`)
	f(`{"shared":{"frames":[]},"profiles":[{"unit":"none","type":"sampled","samples":[[3]],"weights":[1]}]}`, "frame 3 is not in the table of 0")
	f(`{"shared":{"frames":[]},"profiles":[{"unit":"none","type":"sampled","samples":[[]],"weights":[1e300]}]}`, "too large")
	f(`{"shared":{"frames":[{"name":"a"}]},"profiles":[{"unit":"none","type":"evented","events":[{"type":"C","frame":0,"at":1}]}]}`, "not the innermost")
	f(`{"shared":{"frames":[{"name":"a"}]},"profiles":[{"unit":"none","type":"evented","events":[{"type":"O","frame":0,"at":1},{"type":"O","frame":0,"at":0}]}]}`, "is before")
}

func TestFolded(t *testing.T) {
	p := mustDecode(t, []byte("# made by hand\nmain;f;g 3\nmain;f 1.6\n\nsh;do_it;inl_[i];inl2_[i];sys_[k] 4\nmain;f;g 2\n;a b;;c\t7\r\n"))
	const want = `[samples/count] period 1 samples/count 0s
mapping 0-0 [kernel] true

5 
  g
  f
  main

2 
  f
  main

4 
  sys in [kernel]
  inl2 inlined
  inl inlined
  do_it
  sh

7 
  c
  a b
`
	if got := describe(p); got != want {
		t.Errorf("-got +want:\n%s", diff(got, want))
	}
	var b bytes.Buffer
	if err := p.WriteFolded(&b, 0); err != nil {
		t.Fatal(err)
	}
	const folded = "main;f;g 5\nmain;f 2\nsh;do_it;inl;inl2;sys_[k] 4\na b;c 7\n"
	if b.String() != folded {
		t.Errorf("written: %s", b.String())
	}
}

func TestSpeedscope(t *testing.T) {
	const file = `{"$schema": "https://www.speedscope.app/file-format-schema.json",
	"shared": {"frames": [{"name": "main", "file": "main.c", "line": 3}, {"name": "f"}, {"name": "g", "col": 4}]},
	"profiles": [
		{"type": "evented", "name": "one", "unit": "milliseconds", "startValue": 0, "endValue": 10, "events": [
			{"type": "O", "frame": 0, "at": 0}, {"type": "O", "frame": 1, "at": 1}, {"type": "C", "frame": 1, "at": 3},
			{"type": "O", "frame": 1, "at": 3.5}, {"type": "C", "frame": 1, "at": 4}, {"type": "C", "frame": 0, "at": 10}]},
		{"type": "sampled", "name": "two", "unit": "bytes", "startValue": 0, "endValue": 5, "samples": [[0, 2], [0, 2], []], "weights": [2, 3, 1]}]}`
	p := mustDecode(t, []byte(file))
	const want = `[time/nanoseconds space/bytes] period 0 space/bytes 0s

7500000 0  profile="one"
  main main.c:3

2500000 0  profile="one"
  f
  main main.c:3

0 5  profile="two"
  g
  main main.c:3

0 1  profile="two"
`
	if got := describe(p); got != want {
		t.Errorf("-got +want:\n%s", diff(got, want))
	}
}

// TestRoundTrip writes real profiles as folded stacks and as speedscope files,
// and reads them again: every stack keeps its weight.
func TestRoundTrip(t *testing.T) {
	own, err := profiletest.Runtime()
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range own {
		if name == "threadcreate" {
			continue // it has no names
		}
		p := mustDecode(t, data)
		for i := range p.SampleTypes {
			want := weights(p, i)
			if len(want) == 0 {
				continue
			}
			var folded, speedscope bytes.Buffer
			if err := p.WriteFolded(&folded, i); err != nil {
				t.Fatal(err)
			}
			if err := p.WriteSpeedscope(&speedscope, i); err != nil {
				t.Fatal(err)
			}
			for kind, b := range map[string]*bytes.Buffer{"folded": &folded, "speedscope": &speedscope} {
				got := weights(mustDecode(t, b.Bytes()), 0)
				if !maps.Equal(got, want) {
					t.Errorf("%s, %s as %s: %.2000v\nwant %.2000v", name, p.SampleTypes[i], kind, got, want)
				}
			}
		}
	}
	p := mustDecode(t, []byte("a;b -3\n"))
	if err := p.WriteSpeedscope(io.Discard, 0); err == nil {
		t.Error("a negative weight was written as a speedscope file")
	}
}

// weights sums a sample type by the names of the frames.
func weights(p *profile.Profile, index int) map[string]int64 {
	sums := map[string]int64{}
	for id, v := range p.Samples(index) {
		var names []string
		for _, f := range p.Stacks.Frames(id) {
			names = append(names, strings.ReplaceAll(p.Stacks.Frame(f).Func, ";", ":")) // as in folded stacks
		}
		slices.Reverse(names)
		sums[strings.Join(names, ";")] += v
	}
	for k, v := range sums {
		if v == 0 {
			delete(sums, k)
		}
	}
	return sums
}

func TestPerf(t *testing.T) {
	p := mustDecode(t, []byte("# captured on: today\n"+
		"Web Content 42/43 [007] 100.000000001: 250000 cycles:u: \n\t  7f10 foo(int, char)+0x5 (/tmp/a b (deleted))\n\t  7f11 bar (inlined)\n  b.c:7\n\t  7f11 main+0x10 (/bin/x)\n\t  20 [unknown] ([unknown])\n\n"+
		"sh 42/43 101.5: sched:sched_switch: prev_comm=x [120] S ==> y\n"))
	const want = `[cycles/count sched:sched_switch/count] period 0 sched:sched_switch/count 1.499999999s
mapping 0-0 /tmp/a b true
mapping 0-0 /bin/x true

250000 0  comm="Web Content" pid="42" tid="43" cpu="7" event="cycles"
  foo(int, char) in /tmp/a b
  bar b.c:7 in /bin/x inlined
  main in /bin/x
   at 0x20

0 1  comm="sh" pid="42" tid="43" event="sched:sched_switch"
`
	if got := describe(p); got != want {
		t.Errorf("-got +want:\n%s", diff(got, want))
	}
	if p.Duration != 1499999999*time.Nanosecond {
		t.Error(p.Duration)
	}
}
