package insight

import (
	"fmt"
	"strings"
	"testing"

	"loupe/format/profile/profiletest"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
)

// spentIn is a recording of package shop whose CPU profile is text-art.
func spentIn(profile string) *recordingtest.Recording {
	r := recordingtest.New("title x\ntarget package ./shop module=shop go=go1.26.1\nphase cpu 0s..5s profiler=cpu")
	return r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "cpu"}, profiletest.Profile(profile))
}

// TestFilled: what an append copies outside of the allocator is of the line that allocates; what the line calls besides is not.
func TestFilled(t *testing.T) {
	s := spentOf(NewInput(session.New(spentIn(`
shop.f:/src/a.go:5     shop.f:/src/a.go:5  shop.f:/src/a.go:5  shop.f:/src/a.go:5  shop.f:/src/a.go:5
runtime.typedslicecopy runtime.growslice   shop.g:/src/a.go:9  slices.Clone        runtime.chansend1
runtime.memmove        runtime.mallocgc    runtime.memmove     runtime.memmove     runtime.memmove
= 30                   20                  10                  5                   35
`[1:]).Open())))
	line := cost{file: "/src/a.go", line: 5, allocating: true}
	clone := line
	clone.maker = "slices.Clone"
	for _, c := range []struct {
		of   cost
		want float64
	}{{line, 0.5}, {clone, 0.55}, {cost{allocating: true}, 0.2}} {
		if got := s.share(s.mark([]cost{c.of})); got != c.want {
			t.Errorf("%+v: %v, want %v", c.of, got, c.want)
		}
	}
}

// TestLineOfHotFunction: the samples of a line are those of all that it calls.
func TestLineOfHotFunction(t *testing.T) {
	f := expect(t, "two callees", spentIn("shop.f:/src/a.go:5 shop.f:/src/a.go:5 shop.f:/src/a.go:7 shop.g:/src/a.go:20\nruntime.efaceeq    runtime.mapaccess1\n= 40 20 30 10\n"), "CP01", Found,
		"90.0% of the CPU time is spent in shop.f, with the libraries that it calls; the heaviest line is a.go:5 with 60.0%, 40.0% calling runtime.efaceeq")
	if want := "90 of 100 samples, 60 of them through this line"; f.Evidence[0].Text != want {
		t.Errorf("%q, want %q", f.Evidence[0].Text, want)
	}
	expect(t, "one callee", spentIn("shop.f:/src/a.go:5 shop.g:/src/a.go:20\nruntime.efaceeq\n= 90 10\n"), "CP01", Found, "a.go:5 with 90.0% calling runtime.efaceeq")
}

// TestGainOfScheduler: what a finding about the scheduler accounts for is what it says goes there, without what the channel does besides,
// and without the program's own profiler.
func TestGainOfScheduler(t *testing.T) {
	r := spentIn(`
shop.f:/src/a.go:5  shop.f:/src/a.go:5   shop.f:/src/a.go:5         shop.g:/src/a.go:20
runtime.chansend1   runtime.chansend1    runtime.chansend1
runtime.goready     runtime.memmove      runtime.blockevent
runtime.ready                            runtime.goready
= 300 300 200 200
`[1:])
	in := NewInput(session.New(r.Open()))
	f := expect(t, "channels", r, "CP05", Found, "30.0% of the CPU time went into the scheduler: a.go:5 in shop.f, calling runtime.chansend1")
	all := []Finding{f}
	if g := Cards(in, all)[0].Gain; g == nil || g.Share != 0.3 {
		t.Errorf("%+v", g)
	}
	if !strings.Contains(f.Advice, "hand over batches") {
		t.Errorf("%q", f.Advice)
	}
	// Channels of a library, and stacks without a line, are nothing that the program's lines could save.
	library := expect(t, "a library", spentIn("shop.f:/src/a.go:5 shop.g:/src/a.go:20\nnet/http.(*Client).Do\nnet/http.(*persistConn).roundTrip\nruntime.chansend1\nruntime.goready\n= 300 700\n"), "CP05", Found, "30.0%")
	if strings.Contains(library.Advice, "batches") || !strings.Contains(library.Advice, "net/http") || library.saves {
		t.Errorf("%q, saves %v", library.Advice, library.saves)
	}
	nobody := expect(t, "nobody", spentIn("shop.f:/src/a.go:5 runtime.mcall    shop.g:/src/a.go:20\nruntime.chansend1  runtime.park_m\nruntime.goready    runtime.schedule\n= 2 298 700\n"), "CP05", Found, "30.0% of the CPU time went into the scheduler")
	if strings.Contains(nobody.Summary, "a.go") || nobody.saves || nobody.Evidence[0].File != "" {
		t.Errorf("%q, saves %v, %+v", nobody.Summary, nobody.saves, nobody.Evidence)
	}
}

// TestLinesOfGain: what several lines take is not said of the first.
func TestLinesOfGain(t *testing.T) {
	in := NewInput(session.New(spentIn("shop.f:/src/a.go:5 shop.f:/src/a.go:7 shop.g:/src/a.go:20\nregexp.MustCompile regexp.MustCompile\n= 40 20 40\n").Open()))
	two := seenAt("AL14", Warning, 60, "/src/a.go", 5).costing(cost{file: "/src/a.go", line: 5, callee: "regexp.MustCompile"}, cost{file: "/src/a.go", line: 7, callee: "regexp.MustCompile"})
	one := seenAt("AL14", Warning, 60, "/src/a.go", 5).costing(cost{file: "/src/a.go", line: 5, callee: "regexp.MustCompile"}, cost{file: "/src/a.go", line: 9, callee: "regexp.MustCompile"})
	for want, f := range map[string]Finding{"2 0.4 0.6": two, "0 0 0.4": one} {
		g := Cards(in, []Finding{f})[0].Gain
		if got := fmt.Sprint(g.Lines, g.Line, g.Share); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// sourceIn adds a source file to a recording.
func sourceIn(r *recordingtest.Recording, file, text string) {
	r.Put(recording.Entry{Path: "source" + file, Kind: recording.Source, Source: file}, []byte(text))
}
