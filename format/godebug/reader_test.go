package godebug

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

var update = flag.Bool("update", false, "rewrite testdata/*.golden")

// sample reads a file of testdata.
func sample(name string) []byte {
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		panic(err)
	}
	return data
}

func sampleNames(t testing.TB) (names []string) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	for _, f := range files {
		names = append(names, filepath.Base(f))
	}
	// Go 1.4 first: an Assembler that has seen a later version does not
	// look out for it any more.
	slices.SortStableFunc(names, func(a, b string) int {
		later := func(s string) int {
			if strings.HasPrefix(s, "go1.4.") || strings.HasPrefix(s, "historic") {
				return 0
			}
			return 1
		}
		return later(a) - later(b)
	})
	return names
}

// TestSamples counts the runtime's lines in every sample with independent
// and simple expressions, and demands that the Reader finds as many.
func TestSamples(t *testing.T) {
	// The tail of each expression is what only a whole line has.
	cycles := regexp.MustCompile(`gc \d+ @.* P( \(forced\))?\n|gc\d+\(\d+\): .* yields\n`)
	scheds := regexp.MustCompile(`SCHED \d+ms:`)
	details := regexp.MustCompile(`(?m)^  [PMG]\d+: (status|p)=`)
	inits := regexp.MustCompile(`init \S+ @`)
	scavs := regexp.MustCompile(`scav \d|scvg.*:`)
	pacers := regexp.MustCompile(`pacer: `)
	scans := regexp.MustCompile(`scan: `)
	for _, name := range sampleNames(t) {
		data := sample(name)
		l := Parse(data)
		f := func(what string, re *regexp.Regexp, got int) {
			t.Helper()
			if want := len(re.FindAll(data, -1)); got != want {
				t.Errorf("%s: %d %s, want %d", name, got, what, want)
			}
		}
		f("cycles", cycles, len(l.Cycles))
		f("samples", scheds, len(l.Samples))
		f("init tasks", inits, len(l.Inits))
		f("scavenger lines", scavs, len(l.Scavenges))
		f("pacer lines", pacers, len(l.Pacers))
		f("scan lines", scans, len(l.Scans))
		n := 0
		for _, s := range l.Samples {
			n += len(s.Ps) + len(s.Ms) + len(s.Gs)
			if s.Detail && (len(s.Ps) != s.Procs || len(s.Local) != s.Procs) {
				t.Errorf("%s: %d P lines and %d queues for %d Ps", name, len(s.Ps), len(s.Local), s.Procs)
			}
			if !s.Detail && len(s.Local) != s.Procs {
				t.Errorf("%s: %d run queues for %d Ps", name, len(s.Local), s.Procs)
			}
		}
		f("detail lines", details, n)
		want := 0
		if strings.HasPrefix(name, "torn") {
			want = 2 // the debris " ms clock, " and " ms cpu, "
		}
		if l.Stats.Malformed != want || len(l.Unrecognised) != want {
			t.Errorf("%s: %d malformed, want %d: %+v", name, l.Stats.Malformed, want, l.Unrecognised)
		}
		if l.Stats.Bytes != int64(len(data)) {
			t.Errorf("%s: %d bytes of %d read", name, l.Stats.Bytes, len(data))
		}
	}
}

// TestGolden compares a summary of every sample with the reviewed one.
func TestGolden(t *testing.T) {
	var b bytes.Buffer
	for _, name := range sampleNames(t) {
		fmt.Fprintf(&b, "== %s\n", name)
		l := Parse(sample(name))
		fmt.Fprintf(&b, "%+v\n", l.Stats)
		for _, y := range l.Cycles {
			fmt.Fprintf(&b, "cycle %d.%d @%v %d%% go%v stw %v mark %v stw %v cpu %v+%v/%v/%v+%v heap %d %d %d goal %d stacks %d globals %d P %d forced %v leaks %v stale %v\n",
				y.Run, y.N, y.At, y.Percent, y.Dialect, y.STW1, y.Mark, y.STW2, y.CPUSTW1, y.Assist, y.Background, y.Idle, y.CPUSTW2,
				y.HeapStart>>20, y.HeapEnd>>20, y.HeapLive>>20, y.Goal>>20, y.Stacks>>20, y.Globals>>20, y.Procs, y.Forced, y.Leaks, y.Stale)
		}
		for _, s := range l.Samples {
			fmt.Fprintf(&b, "sched %d @%v procs %d idle %d threads %d spinning %d need %d idle %d queue %d %v ticks %v detail %v: %d P %d M %d G\n",
				s.Run, s.At, s.Procs, s.IdleProcs, s.Threads, s.SpinningThreads, s.NeedSpinning, s.IdleThreads, s.RunQueue, s.Local, s.Ticks, s.Detail, len(s.Ps), len(s.Ms), len(s.Gs))
		}
		for _, s := range l.Scavenges {
			fmt.Fprintf(&b, "scavenge %d %d: n %d work %d eager %d released %d inuse %d idle %d sys %d consumed %d util %d forced %v\n",
				s.Line, s.Form, s.N, s.Background, s.Eager, s.Released, s.InUse, s.HeapIdle, s.Sys, s.Consumed, s.Util, s.Forced)
		}
		for _, p := range l.Pacers {
			fmt.Fprintf(&b, "pacer %d %d: heap %d %d goal %d miss %d workers %d+%.3g ratio %.4g use %.3g of %.3g work %d %d %d of %d cons/mark %.4g sweep %d %d %.4g\n",
				p.Line, p.Form, p.HeapStart, p.HeapEnd, p.Goal, p.GoalMiss, p.DedicatedWorkers, p.FractionalWorkers, p.AssistRatio, p.Utilisation, p.TargetUtilisation,
				p.HeapWork, p.StackWork, p.GlobalsWork, p.ExpectedWork, p.ConsMark, p.Allocated, p.PagesSwept, p.PagesPerByte)
		}
		for _, n := range l.Notices {
			fmt.Fprintf(&b, "notice %+v\n", n)
		}
		for _, m := range l.Unrecognised {
			fmt.Fprintf(&b, "malformed %+v like %v: %q\n", m.Position, m.Like, m.Text)
		}
	}
	const file = "testdata/samples.golden"
	if *update {
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(b.String(), "\n")
	for i, line := range strings.Split(string(want), "\n") {
		if i >= len(got) || got[i] != line {
			t.Fatalf("line %d of %s differs (run with -update after review):\n got %s\nwant %s", i+1, file, got[min(i, len(got)-1)], line)
		}
	}
}

// only parses text that must hold one record.
func only(t *testing.T, text string) Record {
	t.Helper()
	r := NewBytesReader([]byte(text))
	if !r.Next() {
		t.Fatalf("no record in %q", text)
	}
	rec := r.Record()
	if r.Next() {
		t.Fatalf("a second record in %q: %v", text, r.Record())
	}
	return rec
}

const (
	us = time.Microsecond
	ms = time.Millisecond
	mb = 1 << 20
)

func TestCycleDialects(t *testing.T) {
	f := func(line string, want Cycle) {
		t.Helper()
		got := *only(t, line+"\n").(*Cycle)
		want.Line = 1
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s\n got %+v\nwant %+v", line, got, want)
		}
	}
	f("gc10(1): 2+1+18066+1 us, 2 -> 4 MB, 108282 (108317-35) objects, 54 goroutines, 711/1/0 sweeps, 0(0) handoff, 0(0) steal, 0/0/0 yields",
		Cycle{N: 10, Procs: 1, STW1: 3 * us, STW2: 18067 * us, HeapStart: 2 * mb, HeapEnd: 4 * mb, HeapLive: 4 * mb,
			Objects: 108282, Goroutines: 54, Dialect: Go14})
	f("gc 554 @65.900s 14%: 8.5+72+17+18+9.7 ms clock, 68+72+0+35/0.41/0+78 ms cpu, 944->1825->1293 MB, 1294 MB goal, 8 P",
		Cycle{N: 554, At: 65900 * ms, Percent: 14, STW1: 8500 * us, Scan: 72 * ms, Sync: 17 * ms, Mark: 107 * ms, STW2: 9700 * us,
			CPUSTW1: 68 * ms, CPUScan: 72 * ms, Assist: 35 * ms, Background: 410 * us, CPUSTW2: 78 * ms,
			HeapStart: 944 * mb, HeapEnd: 1825 * mb, HeapLive: 1293 * mb, Goal: 1294 * mb, Procs: 8, Dialect: Go15})
	f("gc 8 @1.151s 38%: 21+0+65 ms clock, 43+59/70/41+131 ms cpu, 24->24->24 MB, 24 MB goal, 2 P (forced)",
		Cycle{N: 8, At: 1151 * ms, Percent: 38, STW1: 21 * ms, STW2: 65 * ms, CPUSTW1: 43 * ms, CPUSTW2: 131 * ms,
			HeapStart: 24 * mb, HeapEnd: 24 * mb, HeapLive: 24 * mb, Goal: 24 * mb, Procs: 2, Forced: true, Stale: true, Dialect: Go16})
	f("gc 2553 @8.452s 14%: 0.004+0.33+0.051 ms clock, 0.056+0.12/0.56/0.94+0.61 ms cpu, 4->4->2 MB, 5 MB goal, 12 P",
		Cycle{N: 2553, At: 8452 * ms, Percent: 14, STW1: 4 * us, Mark: 330 * us, STW2: 51 * us, CPUSTW1: 56 * us,
			Assist: 120 * us, Background: 560 * us, Idle: 940 * us, CPUSTW2: 610 * us,
			HeapStart: 4 * mb, HeapEnd: 4 * mb, HeapLive: 2 * mb, Goal: 5 * mb, Procs: 12, Dialect: Go16})
	f("gc 1 @0.355s 0% (checking for goroutine leaks): 0.21+1.2+0.081 ms clock, 0.43+0/0.19/0.13+0.16 ms cpu, 0->0->0 MB, 4 MB goal, 3 MB stacks, 1 MB globals, 2 P (forced)",
		Cycle{N: 1, At: 355 * ms, STW1: 210 * us, Mark: 1200 * us, STW2: 81 * us, CPUSTW1: 430 * us, Background: 190 * us, Idle: 130 * us,
			CPUSTW2: 160 * us, Goal: 4 * mb, Stacks: 3 * mb, Globals: mb, Procs: 2, Forced: true, Leaks: true, Dialect: Go118})
}

func TestCycleSums(t *testing.T) {
	y := only(t, "gc 554 @65.900s 14%: 8.5+72+17+18+9.7 ms clock, 68+72+0+35/0.41/1+78 ms cpu, 944->1825->1293 MB, 1294 MB goal, 8 P\n").(*Cycle)
	f := func(what string, got, want time.Duration) {
		t.Helper()
		if got != want {
			t.Errorf("%s = %v, want %v", what, got, want)
		}
	}
	f("clock", y.Clock(), 125200*us)
	f("pause", y.Pause(), 18200*us)
	f("cpu", y.CPU(), 253410*us)
	f("mark cpu", y.MarkCPU(), 108410*us)
}

func TestSchedDialects(t *testing.T) {
	f := func(text string, want SchedSample) {
		t.Helper()
		got := *only(t, text).(*SchedSample)
		want.Line = 1
		if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
			t.Errorf("%s\n got %+v\nwant %+v", text, got, want)
		}
	}
	f("SCHED 16097ms: gomaxprocs=1 idleprocs=0 threads=4 spinningthreads=0 idlethreads=1 runqueue=129 [225]\n",
		SchedSample{At: 16097 * ms, Procs: 1, Threads: 4, IdleThreads: 1, RunQueue: 129, Local: []int{225}})
	f("SCHED 3ms: gomaxprocs=2 idleprocs=1 threads=5 spinningthreads=1 needspinning=1 idlethreads=2 runqueue=0 [2 0]\n",
		SchedSample{At: 3 * ms, Procs: 2, IdleProcs: 1, Threads: 5, SpinningThreads: 1, NeedSpinning: 1, IdleThreads: 2, Local: []int{2, 0}})
	f("SCHED 210ms: gomaxprocs=2 idleprocs=0 threads=5 spinningthreads=0 needspinning=1 idlethreads=2 runqueue=1 [ 1 0 ] schedticks=[ 24 76 ]\n",
		SchedSample{At: 210 * ms, Procs: 2, Threads: 5, NeedSpinning: 1, IdleThreads: 2, RunQueue: 1, Local: []int{1, 0}, Ticks: []int64{24, 76}})
	f(`SCHED 209ms: gomaxprocs=1 idleprocs=0 threads=4 spinningthreads=0 idlethreads=1 runqueue=0 gcwaiting=1 nmidlelocked=-1 stopwait=2 sysmonwait=0
  P0: status=1 schedtick=60 syscalltick=3 m=2 runqsize=7 gfreecnt=1
  M2: p=0 curg=-1 mallocing=0 throwing=0 preemptoff=GC worker init locks=1 dying=0 helpgc=0 spinning=false blocked=true lockedg=-1
  G2: status=4(force gc (idle)) m=-1 lockedm=-1
`, SchedSample{At: 209 * ms, Procs: 1, Threads: 4, IdleThreads: 1, Detail: true, GCWaiting: true, IdleLocked: -1, StopWait: 2,
		Local: []int{7}, Ticks: []int64{60},
		Ps: []ProcDetail{{Status: 1, SchedTick: 60, SyscallTick: 3, M: 2, RunQueue: 7, FreeGs: 1}},
		Ms: []ThreadDetail{{ID: 2, CurG: -1, LockedG: -1, Locks: 1, Blocked: true, PreemptOff: "GC worker init"}},
		Gs: []GoroutineDetail{{ID: 2, Status: 4, M: -1, LockedM: -1, Reason: "force gc (idle)"}}})
	f(`SCHED 211ms: gomaxprocs=1 idleprocs=0 threads=4 spinningthreads=0 needspinning=1 idlethreads=1 runqueue=0 gcwaiting=false nmidlelocked=0 stopwait=0 sysmonwait=true
  P0: status=1 schedtick=65 syscalltick=0 m=nil runqsize=0 gfreecnt=0 timerslen=3
  M0: p=nil curg=1 mallocing=0 throwing=0 preemptoff= locks=0 dying=0 spinning=true blocked=false lockedg=nil
  G1: status=4098() m=0 lockedm=nil`+"\n",
		SchedSample{At: 211 * ms, Procs: 1, Threads: 4, NeedSpinning: 1, IdleThreads: 1, Detail: true, SysmonWait: true,
			Local: []int{0}, Ticks: []int64{65},
			Ps: []ProcDetail{{Status: 1, SchedTick: 65, M: -1, Timers: 3}},
			Ms: []ThreadDetail{{P: -1, CurG: 1, LockedG: -1, Spinning: true}},
			Gs: []GoroutineDetail{{ID: 1, Status: 4098, LockedM: -1}}})
}

func TestOtherDialects(t *testing.T) {
	f := func(line string, want Record) {
		t.Helper()
		got := only(t, line+"\n")
		reflect.ValueOf(want).Elem().FieldByName("Line").SetInt(1)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s\n got %+v\nwant %+v", line, got, want)
		}
	}
	f("scvg-1: 23 MB released", &Scavenge{Form: ScvgReleased, N: -1, Background: 23 * mb, Forced: true})
	f("scvg0: inuse: 26, idle: 23, sys: 50, released: 22, consumed: 27 (MB)",
		&Scavenge{Form: ScvgHeap, InUse: 26 * mb, HeapIdle: 23 * mb, Sys: 50 * mb, Released: 22 * mb, Consumed: 27 * mb})
	f("scvg: 2 MB released", &Scavenge{Form: ScvgReleased, N: -1, Background: 2 * mb})
	f("forced scvg: 23 MB released", &Scavenge{Form: ScvgReleased, N: -1, Background: 23 * mb, Forced: true})
	f("scav 16 KiB work, 32 KiB total, 98% util", &Scavenge{Form: ScavTotal, Background: 16 << 10, Released: 32 << 10, Util: 98})
	f("scav 9 40680 KiB work, 104728 KiB total, 97% util (forced)",
		&Scavenge{Form: ScavTotal, N: 9, Background: 40680 << 10, Released: 104728 << 10, Util: 97, Forced: true})
	f("scav 1 KiB work (bg), 2 KiB work (eager), 3 KiB now, 4% util [controller reset]",
		&Scavenge{Form: ScavNow, Background: 1 << 10, Eager: 2 << 10, Released: 3 << 10, Util: 4, Reset: true})
	f("init internal/bytealg @0.044 ms, 1.5 ms clock, 23528 bytes, 25 allocs",
		&InitTask{Package: "internal/bytealg", At: 44 * us, Clock: 1500 * us, Bytes: 23528, Allocs: 25})
	f("scan: total 934+9311+63908=74153 objs, 1581+1343=2924 spans",
		&Scan{Total: true, Objects: 74153, Sparse: 934, SpanSparse: 9311, SpanDense: 63908, Spans: 2924, SparseSpans: 1581, DenseSpans: 1343})
	f("scan: class 48B 7 objs", &Scan{ClassSize: 48, Objects: 7})
	f("scan: class L 1+2+3=6 objs, 4+5=9 spans", &Scan{Objects: 6, Sparse: 1, SpanSparse: 2, SpanDense: 3, Spans: 9, SparseSpans: 4, DenseSpans: 5})
	f("GC forced", &Notice{What: GCForced})
	f("checkfinalizers: queue: 3 finalizers + 4 cleanups", &Notice{What: QueueLength, Finalizers: 3, Cleanups: 4})
	f("pacer: assist ratio=+1.399017e+000 (scan 1 MB in 4->5 MB) workers=0++2.500000e-001",
		&Pacer{Form: PacerStart, AssistRatio: 1.399017, Scannable: mb, HeapStart: 4 * mb, Goal: 5 * mb, FractionalWorkers: 0.25})
	f("pacer: assist ratio=6.676768909801137 (scan 1 MB in 3->4 MB) workers=2+0.25",
		&Pacer{Form: PacerStart, AssistRatio: 6.676768909801137, Scannable: mb, HeapStart: 3 * mb, Goal: 4 * mb, DedicatedWorkers: 2, FractionalWorkers: 0.25})
	f("pacer: assist ratio=+1.399017e+000 (scan 1 MB in 4->4 MB) workers=0+1",
		&Pacer{Form: PacerStart, AssistRatio: 1.399017, Scannable: mb, HeapStart: 4 * mb, Goal: 4 * mb, FractionalWorkers: 1})
	f("pacer: 47% CPU (25 exp.) for 10+20+30 B work (50 B exp.) in 60 B -> 70 B (∆goal -68410, cons/mark 0.435802736288386)",
		&Pacer{Form: PacerEnd, Utilisation: 0.47, TargetUtilisation: 0.25, HeapWork: 10, StackWork: 20, GlobalsWork: 30, ExpectedWork: 50,
			HeapStart: 60, HeapEnd: 70, GoalMiss: -68410, ConsMark: 0.435802736288386})
	f("pacer: sweep done at heap size 4MB; allocated 1MB of spans; swept 642 pages",
		&Pacer{Form: PacerSweep, HeapEnd: 4 * mb, Allocated: mb, PagesSwept: 642})
	f("pacer: sweep done at heap size 9MB; allocated 2MB during sweep; swept 947 pages at 0.5 pages/byte",
		&Pacer{Form: PacerSweep, HeapEnd: 9 * mb, Allocated: 2 * mb, PagesSwept: 947, PagesPerByte: 0.5})
	f("pacer: H_m_prev=30488736 h_t=+2.334071e-001 H_T=37605024 h_a=+1.409842e+000 H_a=73473040 h_g=+1.000000e+000 H_g=60977472 u_a=+2.500000e-001 u_g=+2.500000e-001 W_a=308200 goalΔ=+7.665929e-001 actualΔ=+1.176435e+000 u_a/u_g=+1.000000e+000",
		&Pacer{Form: PacerEndOld, HeapStart: 37605024, HeapEnd: 73473040, Goal: 60977472, Utilisation: 0.25, TargetUtilisation: 0.25, HeapWork: 308200})
}

const gcLine = "gc 4 @0.385s 21%: 0.23+96+0.040 ms clock, 0.47+0.98/59/40+0.080 ms cpu, 57->69->35 MB, 67 MB goal, 0 MB stacks, 1 MB globals, 2 P"

func TestFoundInsideLines(t *testing.T) {
	f := func(text string, kind Kind) {
		t.Helper()
		l := Parse([]byte(text))
		n := map[Kind]int{KindCycle: len(l.Cycles), KindSched: len(l.Samples), KindNotice: len(l.Notices), KindInit: len(l.Inits),
			KindPacer: len(l.Pacers), KindScavenge: len(l.Scavenges), KindScan: len(l.Scans), KindMalformed: l.Stats.Malformed}
		want := map[Kind]int{kind: 1}
		for k := range n {
			if n[k] != want[k] {
				t.Errorf("%q: %d records of kind %v, want %d", text, n[k], k, want[k])
			}
		}
	}
	f(gcLine+"\r\n", KindCycle)
	f(gcLine, KindCycle) // the log's last line
	f("partial line; "+gcLine+"\n", KindCycle)
	f("gc 1 @ me@example.com, count="+gcLine+" (forced)\n", KindCycle)
	f("2025-01-01T12:00:00.1Z stderr F "+gcLine+"\n", KindCycle)
	f(`{"log":"`+strings.ReplaceAll(gcLine, ">", `\u003e`)+`\n","stream":"stderr"}`+"\n", KindCycle)
	f(`{"msg":"`+gcLine+` (forced)"}`+"\n", KindCycle)
	f("\x1b[31m"+gcLine+"\x1b[0m\n", KindCycle)
	f("x gc7(2): 0+0+0+1000 us, 0 -> 0 MB, 1 (2-1) objects, 8 goroutines, 1/0/0 sweeps, 8(66) handoff, 1(38) steal, 3/4/0 yields\n", KindCycle)
	f(`{"log":"SCHED 1ms: gomaxprocs=1 idleprocs=0 threads=2 spinningthreads=0 idlethreads=0 runqueue=0 [11]\n"}`+"\n", KindSched)
	f("x SCHED 1ms: gomaxprocs=1 idleprocs=0 threads=2 spinningthreads=0 idlethreads=0 runqueue=0 [11]\n", KindSched)
	f("x init fmt @0.4 ms, 0 ms clock, 32 bytes, 2 allocs\n", KindInit)
	f("x scav 0 KiB work, 54768 KiB total, 100% util\n", KindScavenge)
	f("x forced scvg: 23 MB released\n", KindScavenge)
	f("x pacer: sweep done at heap size 4MB; allocated 1MB of spans; swept 642 pages\n", KindPacer)
	f("x scan: total 3 objs\n", KindScan)
	f("x checkfinalizers: queue: 0 finalizers + 0 cleanups\n", KindNotice)
	f("2025-01-01T12:00:00.1Z stderr F GC forced\n", KindNotice)

	// Near misses.
	f(gcLine[:60]+"\n", KindMalformed)
	f(gcLine+"2025/01/01 a line of the log\n", KindMalformed)
	f("gc 5 @1.2s 3%: 1+2+3+4 ms clock, 1+2/3/4+5 ms cpu, 4->4->4 MB, 5 MB goal, 2 P\n", KindMalformed)
	f("19+0/1.0/0+0.19 ms cpu, 3->3->0 MB, 4 MB goal, 2 P\n", KindMalformed)
	f("SCHED 100ms: gomaxprocs=2 idleprocs=x\n", KindMalformed)
	f("SCHED 1ms: gomaxprocs=2 idleprocs=0 threads=2 spinningthreads=0 idlethreads=0 runqueue=0 [11 ", KindMalformed)
	f("scav 12 KiB work, 5\n", KindMalformed)
	f("pacer: a form of the future\n", KindMalformed)
	f("gc 18446744073709551615 @0.1s 0%: 0+0+0 ms clock, 0+0/0/0+0 ms cpu, 0->0->0 MB, 4 MB goal, 2 P\n", KindMalformed)
	f("gc 1 @0.1s 0%: 0+18446744073709551615+0 ms clock, 0+0/0/0+0 ms cpu, 0->0->0 MB, 4 MB goal, 2 P\n", KindMalformed)

	// Program text.
	for _, text := range []string{"", "\n", "gc 12 objects\n", "gc\n", "GC forced us to think\n", "we saw GC forced.\n", "init done\n",
		"SCHEDULE 3\n", "scvg\n", "  P0: status=1 schedtick=0\n", "user@1.example.com: hi\n", "mail: gc @home\n", strings.Repeat("x", 3*MaxLine) + "\n"} {
		f(text, KindNone)
	}
}

// TestCutNumber checks that a log that ends within a number gives no figure.
func TestCutNumber(t *testing.T) {
	r := NewBytesReader([]byte("pacer: sweep done at heap size 4MB; allocated 1MB of spans; swept 642 pages\npacer: assist ratio=1.5 (scan 1 MB in 3->4 MB) workers=2+0.2"))
	for n := 0; r.Next(); n++ {
		if m, ok := r.Record().(*Malformed); n == 1 && (!ok || !m.Cut) {
			t.Errorf("the cut line is %+v, want Malformed and Cut", r.Record())
		}
	}
}

// TestText checks that the Text records are the log without the runtime's
// lines, and the positions of what was found.
func TestText(t *testing.T) {
	log := "hello\npartial; " + gcLine + "\nGC forced\nworld, no newline"
	for _, r := range []*Reader{NewBytesReader([]byte(log)), NewReader(iotest.OneByteReader(strings.NewReader(log)))} {
		r.KeepText = true
		var text []byte
		for r.Next() {
			switch rec := r.Record().(type) {
			case *Text:
				text = append(text, rec.Bytes...)
			case *Cycle:
				if rec.Offset != 15 || rec.Line != 2 {
					t.Errorf("the cycle is at %+v, want offset 15, line 2", rec.Position)
				}
			}
		}
		if want := "hello\npartial; world, no newline"; string(text) != want {
			t.Errorf("text %q, want %q", text, want)
		}
		if s := r.Stats(); s.TextBytes != 32 || s.TextLines != 2 || s.Lines != 4 {
			t.Errorf("stats %+v", s)
		}
	}
}

// TestStreaming demands the same records however the log arrives.
func TestStreaming(t *testing.T) {
	var all []byte
	for _, name := range sampleNames(t) {
		all = append(all, sample(name)...)
		all = append(all, '\n')
	}
	all = append(all, bytes.Repeat([]byte("long "), 40000)...)
	all = append(all, "\n"+gcLine+"\n"...)
	want := Parse(all)
	for name, src := range map[string]io.Reader{
		"one byte": iotest.OneByteReader(bytes.NewReader(all)),
		"halves":   iotest.HalfReader(bytes.NewReader(all)),
		"data+err": iotest.DataErrReader(bytes.NewReader(all)),
	} {
		got, err := Collect(src)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the log differs: %+v, want %+v", name, got.Stats, want.Stats)
		}
	}
	if _, err := Collect(iotest.ErrReader(errors.New("gone"))); err == nil {
		t.Error("no error from a failing source")
	}
}

func TestRuns(t *testing.T) {
	line := func(n, at int) string {
		return fmt.Sprintf("gc %d @%d.000s 0%%: 0+1+0 ms clock, 0+0/0/0+0 ms cpu, 4->4->2 MB, 5 MB goal, 2 P\n", n, at)
	}
	sched := func(at int) string {
		return fmt.Sprintf("SCHED %dms: gomaxprocs=1 idleprocs=0 threads=2 spinningthreads=0 idlethreads=0 runqueue=0 [1]\n", at)
	}
	f := func(text string, want ...int) {
		t.Helper()
		var got []int
		for r := NewBytesReader([]byte(text)); r.Next(); {
			got = append(got, r.Record().Pos().Run)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("runs %v, want %v of\n%s", got, want, text)
		}
	}
	f(line(1, 1)+line(2, 2)+line(3, 3), 0, 0, 0)
	f(line(1, 1)+line(2, 2)+line(2, 2)+line(3, 3), 0, 0, 0, 0)            // a line twice
	f(line(1, 1)+line(2, 2)+line(1, 1)+line(2, 2), 0, 0, 1, 1)            // a restart
	f(line(1, 1)+line(9, 9)+line(10, 3), 0, 0, 1)                         // time went back
	f(sched(0)+line(1, 1)+sched(2000)+sched(0)+line(1, 1), 0, 0, 0, 1, 1) // restart seen by SCHED first
	f(line(100, 9)+line(1, 1)+line(101, 9)+line(2, 1)+line(102, 9), 0, 1, 0, 1, 0)
	f(line(1, 1)+line(5, 2)+line(20, 3), 0, 0, 0) // lines lost
	f("init a @0.1 ms, 0 ms clock, 0 bytes, 0 allocs\ninit b @0.2 ms, 0 ms clock, 0 bytes, 0 allocs\n"+line(1, 1)+
		"init a @0.1 ms, 0 ms clock, 0 bytes, 0 allocs\n"+line(1, 1), 0, 0, 0, 1, 1)
}

// TestRunsSideBySide: lines of processes that run at the same time are told apart
// by their numbers and heaps, and counted where neither tells.
func TestRunsSideBySide(t *testing.T) {
	line := func(n, at, start, live int) string {
		return fmt.Sprintf("gc %d @%d.000s 0%%: 0+1+0 ms clock, 0+0/0/0+0 ms cpu, %d->%d->%d MB, 99 MB goal, 2 P\n", n, at, start, start, live)
	}
	f := func(doubtful int, text string, want ...int) {
		t.Helper()
		l := Parse([]byte(text))
		var got []int
		for _, y := range l.Cycles {
			got = append(got, y.Run)
		}
		if !reflect.DeepEqual(got, want) || l.Stats.Doubtful != doubtful {
			t.Errorf("runs %v, %d in doubt, want %v and %d of\n%s", got, l.Stats.Doubtful, want, doubtful, text)
		}
	}
	// The next number of the first run is no gap of the second.
	f(0, line(1, 1, 4, 2)+line(2, 2, 4, 2)+line(1, 1, 4, 2)+line(3, 3, 4, 2)+line(2, 3, 4, 2), 0, 0, 1, 0, 1)
	// A heap of 80 MB does not become one of 4 without a collection.
	f(0, line(1, 1, 100, 80)+line(1, 1, 4, 2)+line(2, 2, 90, 80)+line(2, 2, 4, 2), 0, 1, 0, 1)
	// Of the two that may be next of three, and of the two that are left then.
	f(2, line(1, 1, 4, 2)+line(1, 1, 5, 2)+line(1, 1, 6, 2)+line(2, 2, 4, 2)+line(2, 2, 5, 2), 0, 1, 2, 0, 1)
}

// TestDetailAcrossRecords has other records between the lines of a sample.
func TestDetailAcrossRecords(t *testing.T) {
	head := "SCHED %dms: gomaxprocs=1 idleprocs=0 threads=1 spinningthreads=0 idlethreads=0 runqueue=0 gcwaiting=0 nmidlelocked=0 stopwait=0 sysmonwait=0\n"
	p := "  P0: status=1 schedtick=1 syscalltick=0 m=0 runqsize=5 gfreecnt=0\n"
	log := fmt.Sprintf(head, 1) + "log line\n" + p + gcLine + "\n  G1: status=2() m=0 lockedm=-1\n" + fmt.Sprintf(head, 2) + p +
		"SCHED 3ms: gomaxprocs=garbage\n" + p
	var got []string
	for r := NewBytesReader([]byte(log)); r.Next(); {
		s, ok := r.Record().(*SchedSample)
		if !ok {
			got = append(got, r.Record().Kind().String())
			continue
		}
		got = append(got, fmt.Sprintf("%v %v G%d", s.At, s.Local, len(s.Gs)))
	}
	want := []string{"gctrace", "1ms [5] G1", "2ms [5] G0", "malformed"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestReaderAllocations(t *testing.T) {
	var log []byte
	for _, name := range sampleNames(t) {
		log = append(log, sample(name)...)
	}
	log = bytes.Repeat(log, 20)
	r := NewBytesReader(log)
	for r.Stats().Bytes < int64(len(log)/20) && r.Next() { // fill the pools
	}
	if n := testing.AllocsPerRun(1000, func() { r.Next() }); n != 0 {
		t.Errorf("Next allocates %v times, want 0", n)
	}
}

// TestEndsWithinLine: a program may end while the runtime prints, and a log may
// be read while it is written. That is no torn line.
func TestEndsWithinLine(t *testing.T) {
	const whole = "gc 1 @0.001s 2%: 0.01+0.2+0.03 ms clock, 0.02+0.1/0.2/0.3+0.06 ms cpu, 4->4->1 MB, 5 MB goal, 0 MB stacks, 0 MB globals, 2 P\n"
	f := func(text string, torn int) {
		t.Helper()
		if l := Parse([]byte(text)); len(l.Cycles) != 1 || l.Torn != torn || len(l.Unrecognised) != torn {
			t.Errorf("%q: %d cycles, %d torn (%d kept); want 1 and %d", text, len(l.Cycles), l.Torn, len(l.Unrecognised), torn)
		}
	}
	f(whole+whole[:60], 0)
	f(whole+whole[:60]+"\n", 1)
	f(whole[:60]+"\n"+whole, 1)
	f(whole+"2025/01/01 12:00:00 listening", 0)
}
