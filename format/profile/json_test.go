package profile_test

import (
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"loupe/format/profile"
)

// folds are the stacks of a profile, root first, with their values.
func folds(p *profile.Profile) map[string]string {
	all := map[string]string{}
	for row, id := range p.StackIDs {
		var names []string
		for _, f := range p.Stacks.Frames(id) {
			frame := p.Stacks.Frame(f)
			name := frame.Func
			if name == "" {
				name = fmt.Sprintf("%#x", frame.Address)
			}
			if frame.File != "" {
				name += fmt.Sprintf(" %s:%d:%d", frame.File[strings.LastIndexByte(frame.File, '/')+1:], frame.Line, frame.Column)
			}
			names = append(names, name)
		}
		slices.Reverse(names)
		var values []string
		for _, column := range p.Values {
			values = append(values, fmt.Sprint(column[row]))
		}
		key := strings.Join(names, ";")
		for _, l := range p.Labels(p.SetOf(row)) {
			value := l.Str
			if l.Numeric {
				value = fmt.Sprint(l.Num)
			}
			key += " " + l.Key + "=" + value
		}
		all[key] = strings.Join(values, " ")
	}
	return all
}

func kinds(t testing.TB, name string) []byte {
	data, err := os.ReadFile("../../internal/cli/testdata/kinds/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestOtherProfiles holds the sums of small files against what a hand computes.
func TestOtherProfiles(t *testing.T) {
	f := func(data []byte, types string, want map[string]string) *profile.Profile {
		t.Helper()
		p, err := profile.Decode(data, profile.Options{})
		if err != nil {
			t.Error(err)
			return nil
		}
		if got := fmt.Sprint(p.SampleTypes); got != types {
			t.Errorf("types %s, want %s", got, types)
		}
		if got := folds(p); !maps.Equal(got, want) {
			t.Errorf("stacks\n%q, want\n%q", got, want)
		}
		return p
	}
	// A sample lasts until the next one, the last until the end: 200, 300 + 400, 500 µs.
	v8 := map[string]string{
		"main main.js:10:14":                          "1 200000",
		"main main.js:10:14;(anonymous) main.js:20:5": "2 700000",
		"(idle)": "1 500000",
	}
	if p := f(kinds(t, "app.cpuprofile"), "[samples/count time/nanoseconds]", v8); p != nil && p.Duration != 1500e3 {
		t.Errorf("duration %v", p.Duration)
	}
	// The same in chunks, in a trace that has durations, too.
	f(kinds(t, "chunks.trace.json"), "[samples/count time/nanoseconds]", v8)
	// Samples that come out of order, and nodes without samples but with hits.
	f([]byte(`{"nodes":[{"id":1,"callFrame":{"functionName":"a"}},{"id":2,"callFrame":{"functionName":"b"}}],"startTime":0,"endTime":60,"samples":[1,2,1],"timeDeltas":[10,30,-10]}`),
		"[samples/count time/nanoseconds]", map[string]string{"a": "2 30000", "b": "1 20000"})
	f([]byte(`{"nodes":[{"id":1,"callFrame":{"functionName":"a"},"hitCount":3,"children":[2]},{"id":2,"callFrame":{"functionName":"b"},"hitCount":4}]}`),
		"[samples/count]", map[string]string{"a": "3", "a;b": "4"})
	// Durations: each less those within it. The end of the array is not there.
	p := f(kinds(t, "spans.trace.json"), "[time/nanoseconds]", map[string]string{
		`build process=1 thread=1`: "50000", `build;compile process=1 thread=1`: "30000", `build;compile;parse process=1 thread=1`: "20000",
		`link process=1 thread=linker`: "2000", `link;read process=1 thread=linker`: "2000",
	})
	if p != nil && p.Duration != 100e3 {
		t.Errorf("duration %v", p.Duration)
	}
	// What is begun and not ended lasts to the end; what ends too late, ends with what
	// it is in; an end without a begin is nothing.
	f([]byte(`{"traceEvents":[{"ph":"E","ts":1},{"ph":"B","name":"a","ts":2},{"ph":"X","name":"b","ts":4,"dur":4},{"ph":"X","name":"c","ts":6,"dur":4}]}`),
		"[time/nanoseconds]", map[string]string{"a": "4000", "a;b": "2000", "a;b;c": "2000"})
	// Samples with stackFrames.
	f([]byte(`{"traceEvents":[],"stackFrames":{"5":{"name":"main","category":"app"},"7":{"name":"f","category":"lib.so","parent":5}},
		"samples":[{"cpu":0,"tid":1,"ts":1.5,"name":"cycles","sf":7,"weight":3},{"tid":1,"ts":2,"name":"cycles","sf":7},{"tid":1,"ts":3,"name":"cycles","sf":"5"}]}`),
		"[samples/count weight/count]", map[string]string{"main app:0:0": "1 1", "main app:0:0;f lib.so:0:0": "2 4"})
	// jemalloc: t* alone counts, scaled by 1/(1-exp(-average/period)), as jeprof does.
	scaled := func(n, size float64) string {
		by := 1 / (1 - math.Exp(-size/n/524288))
		return fmt.Sprintf("%d %d", int64(n*by), int64(size*by))
	}
	p = f(kinds(t, "jemalloc.heap"), "[objects/count space/bytes]", map[string]string{
		"0x401200;0x401100;0x401000 bytes=524288": scaled(2, 1048576), "0x401200;0x401010 bytes=557": scaled(12, 6688),
	})
	if p != nil && (len(p.Mappings) != 2 || p.Mappings[0].File != "/usr/bin/server" || p.Period != 524288) {
		t.Errorf("mappings %+v, period %d", p.Mappings, p.Period)
	}
	f([]byte("heap_v2/1\n  t*: 1: 8 [3: 24]\n@ 0x11 0x21\n  t*: 1: 8 [3: 24]\n"), "[alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes]",
		map[string]string{"0x20;0x10 bytes=8": "3 24 1 8"})
}

// TestOtherProfilesBad: what is wrong, and where.
func TestOtherProfilesBad(t *testing.T) {
	f := func(data, want string) {
		t.Helper()
		if _, err := profile.Decode([]byte(data), profile.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %q", data, err, want)
		}
	}
	whole := string(kinds(t, "app.cpuprofile"))
	f(whole[:len(whole)/2], "was the file cut?")
	f(`{"nodes":[{"id":1,"callFrame":{}}],"samples":[1,2],"timeDeltas":[1,1]}`, "sample 1: node 2 is none of the 1 nodes")
	f(`{"nodes":[{"id":1,"callFrame":{}}],"samples":[1],"timeDeltas":[]}`, "1 samples and 0 timeDeltas")
	f(`{"nodes":[{"id":1,"callFrame":{},"children":[3]}]}`, "its child 3 is none of the 1 nodes")
	f(`{"nodes":[{"id":1,"callFrame":{},"hitCount":1,"children":[2]},{"id":2,"callFrame":{},"hitCount":1,"children":[1]}]}`, "a node is below itself")
	f(`{"nodes":[{"id":1,"callFrame":{}}],"samples":[1],"timeDeltas":[1],"endTime":1e300}`, "is too long")
	f(`{"traceEvents":[{"ph":"X","ts":1e300}]}`, "event 1, \"\": a time of")
	f(`{"traceEvents":[{"ph":"X","name":"a","ts":1,"dur":2},`, "was the file cut?")
	f(`{"traceEvents":[{"ph":"i","ts":1}]}`, "none of its 1 events")
	f(`{"traceEvents":{}}`, "want an array")
	f(`{"traceEvents":[],"stackFrames":{"5":{"name":"a","parent":5}},"samples":[{"sf":5}]}`, "a frame is below itself")
	f(`{"traceEvents":[],"samples":[{"sf":5}]}`, `frame "5" is none of the 0 stackFrames`)
	f("heap_v2/x\n", "line 1")
	f("heap_v2/524288\n@ 0x1\n t*: 1: 2\n", "line 3")
	f("heap_v2/524288\n@ 0x1\n t*: 0: 2 [0: 0]\n", "2 bytes in no objects")
	f("heap_v2/524288\nnonsense\n", "line 2")
	f("heap_v2/524288\n@ 0x1\n t*: 1: 2 [0: 0]\nMAPPED_LIBRARIES\n", "line 4")
	f(`{"some":"thing"}`, "none of the kinds that are read")
}

func FuzzV8(f *testing.F) {
	f.Add(kinds(f, "app.cpuprofile"))
	f.Add([]byte(`{"nodes":[{"id":1,"callFrame":{},"hitCount":1,"children":[2]},{"id":2,"callFrame":{},"hitCount":1,"children":[1]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) { within(t, data, profile.Options{}) })
}

func FuzzChrome(f *testing.F) {
	f.Add(kinds(f, "chunks.trace.json"))
	f.Add(kinds(f, "spans.trace.json"))
	f.Add([]byte(`{"traceEvents":[],"stackFrames":{"5":{"name":"main"},"7":{"name":"f","parent":5}},"samples":[{"tid":1,"ts":1.5,"name":"cycles","sf":7,"weight":3}]}`))
	f.Fuzz(func(t *testing.T, data []byte) { within(t, data, profile.Options{}) })
}

func FuzzJemalloc(f *testing.F) {
	f.Add(kinds(f, "jemalloc.heap"))
	f.Add([]byte("heap_v2/1\n  t*: 1: 8 [3: 24]\n@ 0x11 0x21\n  t*: 1: 8 [3: 24]\n"))
	f.Fuzz(func(t *testing.T, data []byte) { within(t, data, profile.Options{}) })
}
