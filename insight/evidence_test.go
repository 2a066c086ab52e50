package insight

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"loupe/format/exectrace"
	"loupe/format/profile/profiletest"
	"loupe/recording"
	"loupe/recording/recordingtest"
)

// everything is a recording in which many rules find something, with the means
// to take parts of it away.
func everything(t *testing.T) *recordingtest.Recording {
	t.Helper()
	r := reasoned(t, boxing(540_000, 460_000))
	put := func(kind recording.Kind, path, drawn string, types ...string) {
		r.Put(recording.Entry{Path: path, Kind: kind}, profiletest.Encode(drawn, profiletest.Options{Types: types, Duration: 10e9, Period: 10e6}))
	}
	columns := []column{}
	for _, stack := range []string{
		"main.main:/src/m.go:3 fmt.Sprintf fmt.x", "main.main:/src/m.go:4 regexp.MustCompile regexp.compile", "main.main:/src/m.go:5 encoding/json.Marshal",
		"main.main:/src/m.go:6 os.(*File).Write syscall.Syscall", "main.main:/src/m.go:7 shop/search.find:/src/rss.go:7",
		"main.main:/src/m.go:8 encoding/xml.Unmarshal encoding/xml.(*Decoder).Token", "main.main:/src/m.go:9 time.Now",
	} {
		columns = append(columns, column{stack, []int64{500, 5e9}})
	}
	put(recording.CPU, "cpu.pb.gz", picture(columns...), "samples/count", "cpu/nanoseconds")
	return r
}

// TestNoFineOfCrippled goes over all rules: where the whole recording has a
// finding, no rule is fine of one of which a part is missing.
func TestNoFineOfCrippled(t *testing.T) {
	whole := map[string]bool{}
	for _, f := range examine(t, everything(t)) {
		if f.State == Found {
			whole[f.Rule] = true
		}
	}
	if len(whole) < 4 {
		t.Fatalf("only %v find something in the whole recording", whole)
	}
	for name, cripple := range map[string]func(r *recordingtest.Recording){
		"profiles cut off": func(r *recordingtest.Recording) {
			for i := range r.Manifest.Entries {
				r.Manifest.Entries[i].Partial = true
			}
		},
		"profiles half there": func(r *recordingtest.Recording) {
			for path, f := range r.Files {
				if strings.HasSuffix(path, ".pb.gz") {
					f.Data = f.Data[:len(f.Data)/2]
				}
			}
		},
		"empty profiles": func(r *recordingtest.Recording) {
			for _, e := range r.Manifest.Entries {
				if strings.HasPrefix(string(e.Kind), "pprof.") {
					types := []string{"samples/count", "cpu/nanoseconds"}
					if e.Kind == recording.Allocs {
						types = []string{"alloc_objects/count", "alloc_space/bytes"}
					}
					r.Files[e.Path].Data = profiletest.Encode("main.main\n= 0\n= 0\n", profiletest.Options{Types: types})
				}
			}
		},
		"no names": func(r *recordingtest.Recording) {
			for _, e := range r.Manifest.Entries {
				if e.Kind == recording.CPU {
					r.Files[e.Path].Data = profiletest.Encode("0x401000 \n= 3500\n= 35000000000\n", profiletest.Options{Types: []string{"samples/count", "cpu/nanoseconds"}})
				}
				if e.Kind == recording.Allocs {
					r.Files[e.Path].Data = profiletest.Encode("0x401000 \n= 1000000\n= 1024000000\n", profiletest.Options{Types: []string{"alloc_objects/count", "alloc_space/bytes"}, Period: 512 << 10})
				}
			}
		},
		"no answers of the compiler": func(r *recordingtest.Recording) {
			r.Manifest.Entries = without(r.Manifest.Entries, recording.Compiler)
		},
		"answers of the compiler cut": func(r *recordingtest.Recording) {
			for path, f := range r.Files {
				if strings.HasPrefix(path, "compiler/") {
					f.Data = f.Data[:len(f.Data)/2]
				}
			}
		},
		"failed phases": func(r *recordingtest.Recording) {
			for i := range r.Manifest.Entries {
				r.Manifest.Entries[i].Phase = "broken"
			}
			r.Manifest.Phases = append(r.Manifest.Phases, recording.Phase{Name: "broken", Error: "it ended"})
		},
	} {
		r := everything(t)
		cripple(r)
		for _, f := range examine(t, r) {
			if whole[f.Rule] && f.State == Fine {
				t.Errorf("%s: %s is fine (%s)", name, f.Rule, f.Summary)
			}
		}
	}
}

func without(all []recording.Entry, kind recording.Kind) (left []recording.Entry) {
	for _, e := range all {
		if e.Kind != kind {
			left = append(left, e)
		}
	}
	return left
}

// TestNoFineOfCutTrace: a trace of which a part is missing leaves no rule fine,
// and a finding of what is there stands.
func TestNoFineOfCutTrace(t *testing.T) {
	s := newScene(t)
	before := map[string]State{}
	for _, f := range Run(s.input()) {
		before[f.Rule] = f.State
	}
	s.Info.Problems = []*exectrace.Problem{{Offset: 9, Generation: 2, Text: "a batch is cut"}}
	for _, f := range Run(s.input()) {
		for _, id := range traceRules {
			if f.Rule == id && f.State == Fine {
				t.Errorf("%s is fine of a cut trace: %s", id, f.Summary)
			}
			if f.Rule == id && before[id] == Fine && !strings.Contains(f.Summary, "record the trace again") {
				t.Errorf("%s does not say what to record: %s", id, f.Summary)
			}
		}
	}
	in := s.input()
	if all := in.Incomplete(); len(all) != 1 || !strings.Contains(all[0], "a batch is cut") {
		t.Errorf("incomplete: %v", all)
	}
	at := s.stack("main.fan:/src/main.go:40")
	g := s.group("main.fan.func1", 200_000, 900, time.Second, 0)
	g.Creator, g.Created, g.Each, g.Life = at, 200_000, times(200_000, 300), times(200_000, ms)
	g.Exec = 60 * ms
	s.Creators = append(s.Creators, g)
	s.expect("SC02", Found)
}

// TestCutTraceFile holds the same against a real file: cut anywhere, no rule is
// fine that finds something in all of it.
func TestCutTraceFile(t *testing.T) {
	whole := takeTurns(11_000, 2*us, 8*us)
	found := map[string]bool{}
	data := whole.trace(t)
	judge := func(data []byte) []Finding {
		r := recordingtest.New("title x\ntarget package ./shop module=shop package=shop/cmd/shop\nphase trace 10s..12s profiler=trace\n")
		r.Put(recording.Entry{Path: "trace.out", Kind: recording.ExecTrace, Phase: "trace"}, data)
		return examine(t, r)
	}
	for _, f := range judge(data) {
		found[f.Rule] = f.State == Found || found[f.Rule]
	}
	if !found["SC03"] {
		t.Fatal("SC03 finds nothing in all of it")
	}
	for eighth := 1; eighth < 8; eighth++ {
		for _, f := range judge(bytes.Clone(data[:len(data)*eighth/8])) {
			if found[f.Rule] && f.State == Fine {
				t.Errorf("cut at %d/8: %s is fine (%s)", eighth, f.Rule, f.Summary)
			}
		}
	}
}

// TestOutside: memory that grows where Go does not look keeps GC08 and GC09 from
// being fine.
func TestOutside(t *testing.T) {
	r := func(rss int) *recordingtest.Recording {
		var b strings.Builder
		b.WriteString("title x\ntarget url shop module=shop\nphase bare 0s..30s\n-- metrics.ndjson metrics --\n" +
			"t_ns /memory/classes/heap/objects:bytes /gc/heap/live:bytes /gc/cycles/total:gc-cycles /memory/classes/total:bytes /memory/classes/heap/released:bytes\n")
		for s := range 30 {
			fmt.Fprintf(&b, "%ds %d %d %d %d %d\n", s, 3<<20, (3+s%5)<<20, s, 20<<20, 4<<20)
		}
		b.WriteString("-- os.ndjson os --\nt_ns pid rss\n")
		for s := range 30 {
			fmt.Fprintf(&b, "%ds 7 %d\n", s, (24+s*rss/29)<<20)
		}
		return recordingtest.New(b.String())
	}
	expect(t, "all within", r(4), "GC09", Fine, "did not grow")
	expect(t, "100 MB of C", r(100), "GC09", TooLittle, "the process grew from 24.0 MiB to 124 MiB resident, 100 MiB of which is outside the Go runtime", "heaptrack")
}

// TestHeadline: that nothing was found is worth as much as the rules that could
// look.
func TestHeadline(t *testing.T) {
	var all []Finding
	for _, r := range Rules() {
		all = append(all, Finding{Rule: r.ID, State: NotApplicable})
	}
	m := &recording.Manifest{}
	f := func(n int, state State, want ...string) {
		t.Helper()
		for i := range n {
			all[i].State = state
		}
		got := Judge(m, all).Headline()
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%d of %s: %q, want %q in it", n, state, got, w)
			}
		}
		if n < 40 && strings.HasPrefix(got, "Nothing was found") {
			t.Errorf("%d could judge: %q", n, got)
		}
	}
	f(0, Fine, "No rule could judge this", "Not recorded:")
	f(3, Fine, "Little could be judged: 3 of", "Not recorded:", "-phases")
	for i := range all {
		all[i].State = NotApplicable
	}
	m.Phases = []recording.Phase{{Name: "trace", Profiler: "trace", Error: "cannot keep trace.out: the agent does not answer"}}
	m.Missed = []recording.Missed{{Profiler: "cpu", Reason: "the agent does not answer"}}
	f(3, Fine, "Asked for, but not recorded: CPU profile, execution trace (the agent does not answer).", "Not recorded: allocs profile (record with -phases allocs)")
	m.Phases, m.Missed = nil, nil
	f(len(all)-5, Fine, "could be applied found nothing")
}
