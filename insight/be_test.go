package insight

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"loupe/format/profile/profiletest"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
)

// built is a program with settings of its build, and a CPU profile.
func built(version string, settings map[string]string, picture string) *recordingtest.Recording {
	r := recordingtest.New("title x\ntarget package ./shop module=shop go=" + version + "\nphase bare 0s..10s\nphase cpu 10s..15s profiler=cpu\n" +
		"-- source/search/rss.go source from=/src/rss.go --\n" + rss)
	r.Manifest.Target.BuildSettings = map[string]string{"-compiler": "gc"}
	for k, v := range settings {
		r.Manifest.Target.BuildSettings[k] = v
	}
	return r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "cpu"}, profiletest.Profile(picture))
}

const busyPicture = "shop/search.find:/src/rss.go:5 runtime.mallocgc\n= 90 10"

func TestBE01(t *testing.T) {
	trimmed := map[string]string{"-trimpath": "true", "-ldflags": "-s -w"}
	const nameless = "shop/search.find:/src/rss.go:5 shop/search.find:/src/rss.go:8\n0x4711\n= 40 60"
	f := expect(t, "C without names", built("go1.26.1", trimmed, nameless), "BE01", Found, "stripped", "40.0% of cpu.pb.gz", "without a name")
	severity(t, "C without names", f, Info)
	expect(t, "not stripped", built("go1.26.1", nil, nameless), "BE01", Fine)
	expect(t, "all has names", built("go1.26.1", trimmed, busyPicture), "BE01", Fine, "stripped and built with -trimpath", "nothing is missing")
	f = expect(t, "no sources", built("go1.26.1", trimmed, "shop/search.find:shop/other.go:5 runtime.mallocgc\n= 90 10"), "BE01", Found, "-trimpath", "100% of the time in its own code")
	if strings.Contains(f.Advice, "-s") || !strings.Contains(f.Advice, "without -trimpath") {
		t.Errorf("advice %q", f.Advice)
	}
	expect(t, "sources of others alone", built("go1.26.1", trimmed, "github.com/lib/x.f:lib/x.go:5\n= 90"), "BE01", Fine)
	r := built("go1.26.1", nil, nameless)
	r.Manifest.Target.Stripped = true
	expect(t, "by strip", r, "BE01", Found, "stripped")
}

func TestBE02(t *testing.T) {
	with := func(ids ...string) *recordingtest.Recording {
		r := recordingtest.New("title x\ntarget package ./shop module=shop\nphase bare 0s..10s\n")
		for i, id := range ids {
			kind := []recording.Kind{recording.CPU, recording.Allocs, recording.Heap}[i]
			r.Put(recording.Entry{Path: string(kind), Kind: kind}, profiletest.Encode("main\n= 100", profiletest.Options{BuildID: id}))
		}
		return r
	}
	f := expect(t, "replaced", with("new", "new", "old"), "BE02", Found, "pprof.heap: it is from another build", "build id is old, that of the others new")
	severity(t, "replaced", f, Warning)
	expect(t, "one build", with("new", "new", "new"), "BE02", Fine)
	expect(t, "some do not say", with("new", "", "new"), "BE02", Fine)
	expect(t, "none says", with("", ""), "BE02", TooLittle)
	expect(t, "no profile", recordingtest.New("title x"), "BE02", NotApplicable)
}

func TestBE03(t *testing.T) {
	f := func(flag, value string, state State, words ...string) Finding {
		t.Helper()
		return expect(t, flag+"="+value, built("go1.26.1", map[string]string{flag: value}, busyPicture), "BE03", state, words...)
	}
	severity(t, "-race", f("-race", "true", Found, "built with -race"), Warning)
	severity(t, "-asan", f("-asan", "true", Found, "-asan"), Warning)
	severity(t, "-cover", f("-cover", "true", Found, "-cover", "short functions"), Info)
	severity(t, "not optimised", f("-gcflags", `"all=-N -l"`, Found, "all=-N -l"), Warning)
	f("-gcflags", "-l", Found)
	f("-gcflags", "shop/...=-N", Found)
	f("-gcflags", "-m -json=0,/tmp/-N", Fine, "go1.26.1")
	f("-gcflags", "all=-lang=go1.20", Fine)
	f("-tags", "race", Fine)

	// Shares of the CPU are those of the detector: no card, no warning, and a doubt.
	race := built("go1.26.1", map[string]string{"-race": "true"}, busyPicture)
	hot := answers(t, race, "CP01")[0]
	severity(t, "a hot function with -race", hot, Info)
	if !strings.HasPrefix(hot.Advice, "See BE03 first") {
		t.Errorf("advice %q", hot.Advice)
	}
	if doubts := NewInput(session.New(race.Open())).doubts(); len(doubts) != 1 || !strings.Contains(doubts[0], "built with -race") {
		t.Errorf("doubts %q", doubts)
	}

	expect(t, "unknown", recordingtest.New("title x\nphase bare 0s..10s"), "BE03", NotApplicable, "build information")
	r := recordingtest.New("title x\n-- buildinfo.txt buildinfo --\ngo\tgo1.25.1\npath\tshop\nbuild\t-race=true\n")
	expect(t, "by the file", r, "BE03", Found, "-race")
}

func TestBE04(t *testing.T) {
	with := func(profiler int) string {
		return fmt.Sprintf(`
			shop/a.f  shop/a.g               shop/a.g
			runtime.mallocgc runtime.mallocgc runtime.chanrecv1
			runtime.memclr   runtime.profilealloc runtime.blockevent
			= %d %d %d`, 100-profiler, profiler/2, profiler-profiler/2)
	}
	f := expect(t, "two besides", computing(with(40)), "BE04", Found, "the memory profiler took 20.0%", "the block or mutex profiler took 20.0%")
	severity(t, "two besides", f, Info)
	near(t, "two besides", f, 0.4)
	expect(t, "the usual rate", computing(with(4)), "BE04", Fine)
	expect(t, "few samples", computing("shop/a.f runtime.profilealloc\n= 5 5"), "BE04", TooLittle)
	expect(t, "no profile", recordingtest.New("title x"), "BE04", NotApplicable)
}

func TestBE05(t *testing.T) {
	sampled := func(period int64, profiler int) *recordingtest.Recording {
		r := computing(fmt.Sprintf("shop/a.f shop/a.g\nruntime.mallocgc runtime.mallocgc\nruntime.memclr runtime.profilealloc\n= %d %d", 100-profiler, profiler))
		return r.Put(recording.Entry{Path: "allocs.pb.gz", Kind: recording.Allocs},
			profiletest.Encode("shop/a.f\n= 1000\n= 512000", profiletest.Options{Types: []string{"alloc_objects/count", "alloc_space/bytes"}, Period: period}))
	}
	f := expect(t, "each", sampled(1, 40), "BE05", Found, "for each 1 B", "40.0% of the CPU time")
	severity(t, "each", f, Warning)
	near(t, "each", f, 0.4)
	severity(t, "often, at little cost", expect(t, "often, at little cost", sampled(4096, 2), "BE05", Found, "4.00 KiB"), Info)
	expect(t, "the default", sampled(512<<10, 2), "BE05", Fine, "512 KiB")
	expect(t, "at the limit", sampled(64<<10, 2), "BE05", Fine)
	r := sampled(1, 40)
	r.Put(recording.Entry{Path: "source/m.go", Kind: recording.Source, Source: "/src/m.go"}, []byte("package m\nimport \"runtime\"\nfunc init() {\n\truntime.MemProfileRate = 1\n}\n"))
	if f := expect(t, "set in the source", r, "BE05", Found); len(f.Evidence) < 2 || f.Evidence[1].File != "/src/m.go" || f.Evidence[1].Line != 4 {
		t.Errorf("evidence %+v", f.Evidence)
	}
}

func TestBE08(t *testing.T) {
	deep := func(frames, samples int) string {
		return strings.Repeat("shop/a.walk\n", frames) + fmt.Sprintf("= %d", samples)
	}
	// Samples of 10 ms, of 5 s.
	of := func(picture string, length time.Duration) *recordingtest.Recording {
		r := recordingtest.New("title x\ntarget package ./shop module=shop\nphase cpu 0s..5s profiler=cpu\n")
		return r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "cpu"}, profiletest.Encode(picture, profiletest.Options{Types: []string{"samples/count", "cpu/nanoseconds"}, Duration: length}))
	}
	f := expect(t, "a short profile", of("shop/a.f\n= 30\n= 300000000", 300*time.Millisecond), "BE08", Found, "30 samples of a program that used 1.00 CPUs")
	severity(t, "a short profile", f, Info)
	expect(t, "a program at rest", of("shop/a.f\n= 30\n= 300000000", 5*time.Second), "BE08", Fine, "30 CPU samples")
	run := "0s..5s"
	used := func(user, system, samples, from string) *recordingtest.Recording {
		r := recordingtest.New("title x\ntarget package ./shop module=shop\nrun " + run + " pid=7\nphase cpu 0s..5s profiler=cpu run=0\n-- os.ndjson os --\nt_ns pid user_ns system_ns\n" + from + "5s 7 " + user + " " + system + "\n")
		return r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "cpu"}, profiletest.Encode("shop/a.f\n= "+samples+"\n= "+samples+"0000000", profiletest.Options{Types: []string{"samples/count", "cpu/nanoseconds"}, Duration: 5 * time.Second}))
	}
	const zero = "0s 7 0 0\n"
	expect(t, "long system calls", used("100000000", "3900000000", "200", zero), "BE08", Found, "cpu.pb.gz has 2.00 s of about 4.00 s of CPU time that the program used meanwhile (100 ms in the program, 3.90 s in the kernel)", "at least 1.90 s is in the kernel: a long system call")
	expect(t, "threads that are not seen", used("3900000000", "100000000", "200", zero), "BE08", Found, "at least 1.90 s is no system call, but in the program: it may be of threads that the profiler does not see")
	expect(t, "one or the other", used("2000000000", "2000000000", "200", zero), "BE08", Found, "It may lack long system calls")
	expect(t, "few samples of much CPU time", used("100000000", "2600000000", "34", zero), "BE08", Found, "34 samples of a program that used 0.54 CPUs", "cpu.pb.gz has 340 ms of about 2.70 s")
	expect(t, "a look that began late", used("1600000000", "1600000000", "200", "1200ms 7 300000000 300000000\n"), "BE08", Found, "cpu.pb.gz has 2.00 s of about 3.20 s")
	expect(t, "nearly all", used("2500000000", "0", "200", zero), "BE08", Fine)
	run = "0s..0s"
	expect(t, "a process that was there before", used("9600000000", "0", "200", "1200ms 7 9000000000 0\n"), "BE08", Fine)
	expect(t, "cut stacks", computing(deep(64, 500)), "BE08", Found, "100% of cpu.pb.gz", "limit of 64 frames")
	expect(t, "nearly as deep", computing(deep(63, 500)), "BE08", Fine)
	expect(t, "deeper than the limit", computing(deep(80, 500)), "BE08", Fine) // another profiler's
	expect(t, "few are cut", computing(strings.Replace(deep(64, 500), "shop/a.walk\n", "shop/a.walk shop/a.f\n", 1)+" 9500"), "BE08", Fine)
	expect(t, "lost", computing("shop/a.f runtime._LostExternalCode\n= 90 10"), "BE08", Found, "10.0% of the samples", "could not be attributed")
	expect(t, "hardly any lost", computing("shop/a.f runtime._LostExternalCode\n= 980 20"), "BE08", Fine)
}

func TestBE09(t *testing.T) {
	const maps = "shop/a.f shop/a.f runtime.gcBgMarkWorker\nruntime.mapaccess1\n= 30 50 20"
	f := expect(t, "old", built("go1.23.4", nil, maps), "BE09", Found, "built by go1.23.4", "maps take 30.0%", "collector's own goroutines take 20.0%")
	severity(t, "old", f, Info)
	near(t, "old", f, 0.3)
	f = expect(t, "maps are new", built("go1.25.1", nil, maps), "BE09", Found, "20.0%")
	if strings.Contains(f.Summary, "maps") {
		t.Errorf("summary %q", f.Summary)
	}
	expect(t, "new", built("go1.26.1", nil, maps), "BE09", Fine)
	expect(t, "switched off", built("go1.26.1", map[string]string{"GOEXPERIMENT": "nogreenteagc"}, maps), "BE09", Found, "GOEXPERIMENT=nogreenteagc", "20.0%")
	expect(t, "old, but elsewhere", built("go1.20", nil, busyPicture), "BE09", Fine)
	expect(t, "in development", built("devel", nil, maps), "BE09", TooLittle)
	in := NewInput(session.New(built("go1.23.4", nil, "runtime.mapaccess1\n= 500").Open()))
	all := Run(in)
	if cards := Cards(in, all); len(cards) != 0 {
		t.Errorf("cards %s of a hint", drawn(all, cards))
	}
}

func TestBE10(t *testing.T) {
	with := func(env string, more ...string) *recordingtest.Recording {
		return recordingtest.New("title x\ntarget package ./shop module=shop go=go1.26.1 env=\"" + env + "\"\nhost cpus=4\nphase bare 0s..10s user=20s\n" + strings.Join(more, ""))
	}
	cycles := func(stop time.Duration) string {
		return "-- stderr.log stderr --\n" + recordingtest.Cycles(30, 10*time.Millisecond, 100*time.Millisecond, func(_ int, c *recordingtest.Cycle) { c.STW1 = stop })
	}
	f := expect(t, "no preemption", with("GODEBUG=gctrace=1,schedtrace=1000,asyncpreemptoff=1", cycles(5*time.Millisecond)), "BE10", Found, "asyncpreemptoff=1", "5.00 ms")
	severity(t, "no preemption", f, Warning)
	if strings.Contains(f.Advice, "gctrace") {
		t.Errorf("advice %q is about what loupe has set", f.Advice)
	}
	expect(t, "no preemption, and nobody minds", with("GODEBUG=gctrace=1,schedtrace=1000,asyncpreemptoff=1", cycles(50*time.Microsecond)), "BE10", Fine, "asyncpreemptoff=1")
	expect(t, "loupe's own", with("GODEBUG=gctrace=1,schedtrace=1000", cycles(5*time.Millisecond)), "BE10", Fine, "no setting of the user")
	expect(t, "switched off again", with("GODEBUG=gctrace=1,asyncpreemptoff=1,asyncpreemptoff=0", cycles(5*time.Millisecond)), "BE10", Fine)
	expect(t, "the collector stops all", with("GODEBUG=gctrace=1,gcstoptheworld=1", cycles(time.Millisecond)), "BE10", Found, "30 collections")
	expect(t, "harmless", with("GODEBUG=http2client=0"), "BE10", Fine, "http2client=0")
	expect(t, "unknown", recordingtest.New("title x\nphase bare 0s..10s"), "BE10", NotApplicable)
}
