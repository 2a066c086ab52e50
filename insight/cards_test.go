package insight

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"loupe/format/profile/profiletest"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
)

// working is a recording whose CPU time goes, in 100 samples, into strings.ToLower at
// search.go:5 (60), into another line of the same function (10), into the making of a map
// at page.go:9 (10) and into the collector (20).
func working(seconds string) *recordingtest.Recording {
	r := recordingtest.New("title x\ntarget package ./shop module=shop\nphase bare 0s.." + seconds + "\nphase cpu 10s..11s profiler=cpu\n")
	data := profiletest.Encode(`
shop.search:/src/search.go:5    shop.search:/src/search.go:8    shop.page:/src/page.go:9        runtime.gcBgMarkWorker
strings.ToLower                 strings.Contains                runtime.mallocgc                runtime.scanobject
= 60 10 10 20
`[1:], profiletest.Options{})
	return r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "cpu"}, data)
}

// seenAt is a finding at a line.
func seenAt(rule string, severity Severity, score int, file string, line int) Finding {
	return Finding{Rule: rule, State: Found, Severity: severity, Score: score, Evidence: []Evidence{{File: file, Line: line}}}
}

// bytesOf makes a finding about a line's part of all bytes.
func (f Finding) bytesOf(share float64) Finding {
	f.Impact = &Impact{Value: share, Unit: "share of allocated bytes"}
	return f
}

// costing gives a finding costs that its advice saves.
func (f Finding) costing(costs ...cost) Finding {
	f.costs, f.saves = costs, true
	return f
}

// drawn shows cards: "AL09(CP01 GC03) SC07".
func drawn(all []Finding, cards []Card) string {
	var words []string
	for _, c := range cards {
		word := all[c.Finding].Rule
		var with []string
		for _, i := range c.Symptoms {
			with = append(with, all[i].Rule)
		}
		if len(with) > 0 {
			slices.Sort(with)
			word += "(" + strings.Join(with, " ") + ")"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func TestCards(t *testing.T) {
	lower := seenAt("AL09", Warning, 60, "/src/search.go", 5).bytesOf(0.5).costing(cost{file: "/src/search.go", line: 5, callee: "strings.ToLower"})
	hot := seenAt("CP01", Info, 80, "/src/search.go", 5)
	hot.costs = []cost{{function: "shop.search"}}
	bounds := seenAt("CP07", Info, 80, "/src/search.go", 5)
	bounds.costs = []cost{{file: "/src/search.go", line: 5}}
	making := seenAt("AL16", Warning, 60, "/src/page.go", 9).bytesOf(0.1).costing(cost{file: "/src/page.go", line: 9, allocating: true})
	collector := seenAt("GC03", Warning, 50, "", 0)
	forCollection := seenAt("WT01", Warning, 90, "/src/db.go", 3)
	forCollection.waitsFor = "collector"
	pause, leak := seenAt("WT01", Warning, 90, "/src/room.go", 3), seenAt("GC08", Warning, 40, "/src/room.go", 9)
	pause.waitsFor, pause.Impact = "sleep", &Impact{Value: 0.9, Unit: "share of the time of requests"}
	plain, many := pause, pause
	plain.waitsFor, plain.Advice, many.waitsFor, many.Advice = "network", peersOfOthers, "network", "It makes one call after another (N+1 queries)"
	files, again := pause, seenAt("CP26", Warning, 40, "/src/config.go", 46)
	files.waitsFor, files.Advice = "file_call", fileMakes.advice()
	again.saves, again.Impact = true, &Impact{Value: 0.4, Unit: "share of the time of main"}
	shakes, kept := seenAt("WT06", Warning, 50, "/src/client.go", 30), seenAt("LD06", Warning, 30, "/src/client.go", 30)
	madeElsewhere := seenAt("LD06", Warning, 30, "/src/make.go", 9)
	madeElsewhere.Evidence = append(madeElsewhere.Evidence, kept.Evidence...)
	shakes.connects = true
	queued := pause
	queued.waitsFor = "lock"
	queue := seenAt("LK01", Warning, 20, "/src/log.go", 3)
	queue.felt = 0.97
	tail := seenAt("GC16", Warning, 50, "/src/pods.go", 30)
	tail.Title, tail.Evidence = tailTitle, append(tail.Evidence, Evidence{File: "/src/event.go", Line: 50})
	copies, some := seenAt("AL02", Warning, 90, "/src/pods.go", 34).bytesOf(0.98), seenAt("AL02", Warning, 90, "/src/pods.go", 34).bytesOf(0.3)
	noted := seenAt("AL02", Info, 90, "/src/pods.go", 34).bytesOf(0.98)
	limited, small := seenAt("GC06", Warning, 60, "", 0), seenAt("GC06", Critical, 60, "", 0)
	for _, c := range []struct {
		name string
		all  []Finding
		want string
	}{
		{"a collector that does not keep up with who allocates most", []Finding{limited, copies}, "AL02(GC06)"},
		{"nobody allocates most", []Finding{limited, some}, "AL02 GC06"},
		{"it is no warning that a line allocates most", []Finding{limited, noted}, "GC06 AL02"},
		{"a limit that is too small costs however little is allocated", []Finding{small, copies}, "GC06 AL02"},
		{"a heap that grows by what a list has left out", []Finding{seenAt("GC08", Warning, 80, "/src/event.go", 50), tail}, "GC16(GC08)"},
		{"one that grows by something else", []Finding{seenAt("GC08", Warning, 80, "/src/index.go", 7), tail}, "GC08 GC16"},
		{"what grows without end comes before a pause", []Finding{pause, leak}, "GC08 WT01"},
		{"and before work of which only the line is known", []Finding{func() Finding {
			f := seenAt("CP03", Warning, 90, "/src/page.go", 5).costing(cost{file: "/src/page.go", line: 5})
			f.unexplained = true
			return f
		}(), leak}, "GC08 CP03"},
		{"and not before work of which the fault is named", []Finding{seenAt("CP20", Warning, 90, "/src/page.go", 5).costing(cost{file: "/src/page.go", line: 5}), leak}, "CP20 GC08"},
		{"and before a wait of which no fault is named", []Finding{plain, leak}, "GC08 WT01"},
		{"work that need not be done before files that may have to be written", []Finding{files, again}, "CP26 WT01"},
		{"handshakes, and why connections are not kept", []Finding{shakes, kept}, "LD06(WT06)"},
		{"handshakes, and what makes the Transport", []Finding{shakes, madeElsewhere}, "LD06(WT06)"},
		{"a text that grows, and what is held at the peak", []Finding{seenAt("AL08", Warning, 80, "/src/text.go", 39), seenAt("GC16", Info, 30, "/src/text.go", 39)}, "AL08(GC16)"},
		{"what is held elsewhere", []Finding{seenAt("AL08", Warning, 80, "/src/text.go", 39), seenAt("GC16", Info, 30, "/src/text.go", 7)}, "AL08 GC16"},
		{"much that one line holds", []Finding{seenAt("AL08", Warning, 30, "/src/text.go", 39), seenAt("GC16", Warning, 80, "/src/text.go", 39)}, "GC16 AL08"},
		{"handshakes at another line", []Finding{shakes, seenAt("LD06", Warning, 30, "/src/other.go", 3)}, "WT06 LD06"},
		{"descriptors that leak, and a remark about goroutines", []Finding{seenAt("LD07", Warning, 30, "", 0), seenAt("SC10", Info, 30, "/src/client.go", 105)}, "LD07 SC10"},
		{"and not before calls that are too many, either", []Finding{many, again}, "WT01 CP26"},
		{"and not before calls that are too many", []Finding{many, leak}, "WT01 GC08"},
		{"and not before a queue", []Finding{queued, leak}, "WT01 GC08"},
		{"the same samples", []Finding{hot, lower}, "AL09(CP01)"},
		{"a hint stands under what is done there", []Finding{bounds, lower}, "AL09(CP07)"},
		{"a hint alone stands by itself", []Finding{bounds}, "CP07"},
		{"a hint stands under the function", []Finding{bounds, hot}, "CP01(CP07)"},
		{"other samples are another cause", []Finding{making, lower}, "AL09 AL16"},
		{"a part of a function does not explain it, and what is known to be saved goes before what is hot", []Finding{hot, making}, "AL16 CP01"},
		{"the collector works for those who allocate half of all", []Finding{collector, lower, making}, "AL09(GC03) AL16"},
		{"and not for who allocates little", []Finding{collector, making}, "AL16 GC03"},
		{"a chain ends at its begin", []Finding{seenAt("LK04", Warning, 90, "", 0), seenAt("LK01", Warning, 80, "", 0), seenAt("LK02", Warning, 10, "", 0)}, "LK02(LK01 LK04)"},
		{"what is broken goes first", []Finding{lower, seenAt("FA01", Critical, 10, "", 0)}, "FA01 AL09"},
		{"a grave warning goes before a small gain", []Finding{making, seenAt("SC10", Warning, 90, "", 0)}, "SC10 AL16"},
		{"a gain goes before a remark", []Finding{seenAt("SC15", Info, 90, "", 0), making}, "AL16 SC15"},
		{"locks at one line", []Finding{seenAt("LK06", Warning, 50, "/src/db.go", 3), seenAt("LK08", Warning, 40, "/src/db.go", 3)}, "LK06(LK08)"},
		{"a wait stands under what it is for", []Finding{seenAt("WT01", Warning, 90, "/src/db.go", 3), seenAt("LK02", Warning, 40, "/src/db.go", 3)}, "LK02(WT01)"},
		{"but not under a remark", []Finding{seenAt("WT01", Warning, 90, "/src/db.go", 3), seenAt("LK02", Info, 40, "/src/db.go", 3)}, "WT01 LK02"},
		{"what the program asks of the runtime explains stops", []Finding{seenAt("GC01", Info, 90, "", 0), seenAt("GC12", Warning, 20, "", 0), seenAt("GC03", Info, 90, "", 0)}, "GC12(GC01 GC03)"},
		{"a wait for the collector is for who makes it work", []Finding{forCollection, seenAt("GC12", Warning, 20, "", 0)}, "GC12(WT01)"},
		{"and stands by itself where nobody is seen to", []Finding{forCollection, seenAt("GC12", Info, 20, "", 0)}, "WT01 GC12"},
		{"allocating goes under what it costs", []Finding{seenAt("AL01", Info, 90, "/src/page.go", 9), collector}, "GC03(AL01)"},
		{"what requests wait for goes before work under it", []Finding{lower, queue}, "LK01 AL09"},
		{"a remark about it does not", []Finding{seenAt("GC12", Info, 20, "", 0), seenAt("GC01", Warning, 90, "", 0)}, "GC01 GC12"},
		{"the line of a lock and of work are two things", []Finding{lower, seenAt("LK06", Warning, 50, "/src/search.go", 5)}, "AL09 LK06"},
		{"the measurement is no cause", []Finding{seenAt("BE06", Info, 90, "", 0), seenAt("LD04", Warning, 90, "", 0)}, ""},
		{"what is fine is no cause", []Finding{{Rule: "CP01", State: Fine}}, ""},
	} {
		cards := Cards(NewInput(session.New(working("10s").Open())), c.all)
		if got := drawn(c.all, cards); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestByWorth: a warning about work that certainly costs next to nothing is a remark.
func TestByWorth(t *testing.T) {
	in := NewInput(session.New(working("10s").Open()))
	all := []Finding{
		seenAt("AL11", Warning, 90, "/src/page.go", 3).bytesOf(0.01).costing(cost{file: "/src/page.go", line: 9}),
		seenAt("AL11", Warning, 90, "/src/search.go", 5).bytesOf(0.9).costing(cost{file: "/src/search.go", line: 5}),
		seenAt("AL11", Warning, 90, "/src/page.go", 30).bytesOf(0.9).costing(cost{file: "/src/page.go", line: 30}),
		seenAt("LK01", Warning, 90, "/src/page.go", 3),
	}
	byWorth(in, all)
	for i, f := range all {
		if f.Severity != Warning { // of the third no sample is known: it may be worth anything
			t.Errorf("%d: %s, %v", i, f.Severity, f.Doubts)
		}
	}
	r := recordingtest.New("title x\ntarget package ./shop module=shop\nphase bare 0s..10s\nphase cpu 10s..11s profiler=cpu\n")
	r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "cpu"}, profiletest.Encode(`
shop.search:/src/search.go:5    shop.page:/src/page.go:9
strings.ToLower                 runtime.mallocgc
= 390 10
`[1:], profiletest.Options{}))
	few := []Finding{
		seenAt("AL11", Warning, 90, "/src/page.go", 9).bytesOf(0.9).costing(cost{file: "/src/page.go", line: 9, allocating: true}),
		seenAt("AL09", Warning, 90, "/src/search.go", 5).costing(cost{file: "/src/search.go", line: 5}),
	}
	byWorth(NewInput(session.New(r.Open())), few)
	if few[0].Severity != Info || len(few[0].Doubts) != 1 || !strings.Contains(few[0].Doubts[0], "2.50% of the CPU time") || few[1].Severity != Warning {
		t.Errorf("of 400 samples: %+v", few)
	}
	waits := []Finding{seenAt("CP26", Warning, 90, "/src/page.go", 9).costing(cost{file: "/src/page.go", line: 9})}
	waits[0].waitsInside = true
	if byWorth(NewInput(session.New(r.Open())), waits); waits[0].Severity != Warning || len(waits[0].Doubts) != 1 || !strings.Contains(waits[0].Doubts[0], "for most of its time it waits") {
		t.Errorf("calls that wait for a goroutine: %+v", waits)
	}
}

// TestByWorthUnseen: a warning about what is allocated, of which no sample of many is, is a remark where its part of what the
// collector takes is little, unless its line has most of a large heap.
func TestByWorthUnseen(t *testing.T) {
	line := func(rule string, share float64) Finding {
		return seenAt(rule, Warning, 90, "/src/page.go", 30).bytesOf(share).costing(cost{file: "/src/page.go", line: 30, callee: "encoding/json.(*Decoder).refill"})
	}
	holds := func(severity Severity, line int) Finding { return seenAt("GC16", severity, 90, "/src/page.go", line) }
	for _, row := range []struct {
		name      string
		collector int64 // samples of it
		samples   int64
		all       []Finding
		want      Severity
	}{
		{"the collector takes next to nothing", 3, 200, []Finding{line("AL22", 0.9)}, Info},
		{"it takes much", 40, 200, []Finding{line("AL22", 0.9)}, Warning},
		{"it takes much, little of which is for the line", 40, 200, []Finding{line("AL22", 0.2)}, Info},
		{"few samples", 1, 50, []Finding{line("AL22", 0.9)}, Warning},
		{"no share of what is allocated", 3, 200, []Finding{seenAt("CP03", Warning, 90, "/src/page.go", 30).costing(cost{file: "/src/page.go", line: 30})}, Warning},
		{"the line has most of the heap", 3, 200, []Finding{line("AL22", 0.9), holds(Warning, 30)}, Warning},
		{"it has most of a small heap", 3, 200, []Finding{line("AL22", 0.9), holds(Info, 30)}, Info},
		{"another line has", 3, 200, []Finding{line("AL22", 0.9), holds(Warning, 31)}, Info},
	} {
		r := recordingtest.New("title x\ntarget package ./shop module=shop\nphase bare 0s..10s\nphase cpu 10s..11s profiler=cpu\n")
		withProfile(r, recording.CPU, "cpu", column{"runtime.gcBgMarkWorker runtime.gcDrain", []int64{row.collector}}, column{"main.main:/src/main.go:5", []int64{row.samples - row.collector}})
		byWorth(NewInput(session.New(r.Open())), row.all)
		if f := row.all[0]; f.Severity != row.want || f.Severity == Info && (len(f.Doubts) != 1 || !strings.Contains(f.Doubts[0], "there is little to gain")) {
			t.Errorf("%s: %s, want %s: %v", row.name, f.Severity, row.want, f.Doubts)
		}
	}
}

// TestByWorthCollector: without CPU samples the collector tells whether it is worth while to
// allocate less for a reason without a name; other rules know what their line costs.
func TestByWorthCollector(t *testing.T) {
	much := func() []Finding {
		return []Finding{seenAt("AL02", Warning, 90, "/src/page.go", 9).bytesOf(0.9).costing(cost{file: "/src/page.go", line: 9}), seenAt("AL11", Warning, 90, "/src/page.go", 9).bytesOf(0.9).costing(cost{file: "/src/page.go", line: 9})}
	}
	for what, c := range map[string]struct {
		cycles int
		pace   time.Duration
		want   Severity
	}{"a collection a second": {10, time.Second, Info}, "one in ten milliseconds": {1000, 10 * time.Millisecond, Warning}} {
		all := much()
		byWorth(NewInput(session.New(collecting(c.cycles, c.pace, func(_ int, y *recordingtest.Cycle) { y.Background = 2 * time.Millisecond }).Open())), all)
		if all[0].Severity != c.want || all[1].Severity != Warning {
			t.Errorf("%s: %s and %s, want %s and warning: %v", what, all[0].Severity, all[1].Severity, c.want, all[0].Doubts)
		}
		alone := []Finding{seenAt("AL05", Warning, 90, "/src/page.go", 9).bytesOf(0.9).costing(cost{file: "/src/page.go", line: 9, allocating: true}),
			seenAt("CP03", Warning, 90, "/src/page.go", 9).costing(cost{file: "/src/page.go", line: 9, allocating: true})}
		byWorth(NewInput(session.New(collecting(c.cycles, c.pace, func(_ int, y *recordingtest.Cycle) { y.Background = 2 * time.Millisecond }).Open())), alone)
		if alone[0].Severity != c.want || alone[1].Severity != Warning {
			t.Errorf("%s: a line that only allocates is %s, want %s; %s", what, alone[0].Severity, c.want, alone[1].Severity)
		}
	}
}

// TestCardsGain: what a line calls goes, and its part of what the collector takes; what
// only says where the time goes promises nothing.
func TestCardsGain(t *testing.T) {
	r := working("10s")
	lower := seenAt("AL09", Warning, 60, "/src/search.go", 5).bytesOf(0.5).costing(cost{file: "/src/search.go", line: 5, callee: "strings.ToLower"})
	whole := seenAt("CP13", Warning, 60, "/src/search.go", 8).costing(cost{file: "/src/search.go", line: 8, callee: "strings.Contains"})
	hot := seenAt("CP01", Info, 80, "/src/page.go", 9)
	hot.costs = []cost{{function: "shop.page"}}
	waits := seenAt("WT01", Warning, 80, "/src/db.go", 3)
	waits.Impact = exactly(0.9, "share of the time of requests")
	held := seenAt("LK02", Warning, 80, "/src/db.go", 3)
	forced := seenAt("GC12", Warning, 80, "/src/gc.go", 3)
	forced.Impact, forced.more = exactly(0.1, "share of the busy time"), true
	all := []Finding{lower, whole, hot, waits, held, forced}
	gains := map[string]string{}
	for _, c := range Cards(NewInput(session.New(r.Open())), all) {
		text := "none"
		if c.Gain != nil {
			text = fmt.Sprintf("%.2f of %s, %v", c.Gain.Share, c.Gain.Of, c.Gain.Low < c.Gain.Share && c.Gain.Share < c.Gain.High)
			if c.Gain.More {
				text += ", or more"
			}
		}
		gains[all[c.Finding].Rule] = text
	}
	for rule, want := range map[string]string{"AL09": "0.70 of CPU time, true, or more", "CP13": "0.10 of CPU time, true", "CP01": "none", "LK02": "0.90 of time of requests, false", "GC12": "0.10 of busy time, false, or more"} {
		if gains[rule] != want {
			t.Errorf("%s gains %s, want %s", rule, gains[rule], want)
		}
	}
}

// TestGainOfGarbage: work that allocates is worth its part of what the collector takes, and is then no bound; of arguments all that is
// made for them counts. A smaller finding's worth is not that of the hot function around it.
func TestGainOfGarbage(t *testing.T) {
	in := NewInput(session.New(working("10s").Open()))
	whole := seenAt("CP13", Warning, 60, "/src/search.go", 8).costing(cost{file: "/src/search.go", line: 8, callee: "strings.Contains"})
	hot := seenAt("CP01", Info, 80, "/src/search.go", 8)
	hot.costs = []cost{{function: "shop.search"}}
	c := newCausal(in, []Finding{whole, hot})
	plain := *c.gain(in, 0)
	line := firstLine(&whole)
	c.bytes, c.below = map[string]float64{line: 0.5}, map[string]float64{line: 1}
	if c.spent.collector <= 0.02 || plain.More {
		t.Fatalf("the collector takes %v, and without allocations the gain is %+v", c.spent.collector, plain)
	}
	for _, arguments := range []bool{false, true} {
		c.all[0].arguments = arguments
		want := plain.Share + 0.5*c.spent.collector
		if arguments {
			want = plain.Share + c.spent.collector
		}
		if g := c.gain(in, 0); math.Abs(g.Share-want) > 1e-9 || !g.More || g.Beyond != garbageBeyond {
			t.Errorf("arguments %v: %+v, want %v", arguments, g, want)
		}
	}
	c.spent.unforced = 0 // each collection is forced, and comes all the same
	if g := c.gain(in, 0); math.Abs(g.Share-plain.Share) > 1e-9 {
		t.Errorf("where all collections are forced: %+v, want %v", g, plain.Share)
	}
	if c.mostOf(1, 0) || !c.mostOf(0, 1) {
		t.Errorf("a seventh is most of the function: %v, %v", c.spent.within(c.marks[1], c.marks[0]), c.spent.within(c.marks[0], c.marks[1]))
	}
}

// TestCardsAllRules makes a card of every two rules: none is lost, and none is twice.
func TestCardsAllRules(t *testing.T) {
	in := NewInput(session.New(working("10s").Open()))
	for _, a := range Rules() {
		for _, b := range Rules() {
			all := []Finding{seenAt(a.ID, Warning, 50, "/src/search.go", 5), seenAt(b.ID, Info, 50, "/src/search.go", 5)}
			seen := 0
			for _, c := range Cards(in, all) {
				seen += 1 + len(c.Symptoms)
			}
			want := 0
			for _, f := range all {
				if !beside(f.Rule) {
					want++
				}
			}
			if seen != want {
				t.Fatalf("%s and %s: %d findings on cards, want %d", a.ID, b.ID, seen, want)
			}
		}
	}
}

// TestNeedlessWork: that one P works is told under a warning which says that most of the work need
// not be done, and beside any other.
func TestNeedlessWork(t *testing.T) {
	in := newScene(t).input()
	alone := Finding{Rule: "SC01", State: Found, Severity: Info, Score: 50}
	fault := seenAt("LD06", Warning, 50, "/src/ask.go", 3)
	for _, c := range []struct {
		name  string
		share float64
		saves bool
		own   Severity
		want  string
	}{
		{"most of it", 0.8, true, Info, "LD06(SC01)"},
		{"a part of it", 0.2, true, Info, "LD06 SC01"},
		{"nothing that goes", 0.8, false, Info, "LD06 SC01"},
		{"goroutines that take turns", 0.8, true, Warning, "LD06 SC01"},
	} {
		f, one := fault, alone
		f.Impact, f.saves, one.Severity = exactly(c.share, cpuSamples), c.saves, c.own
		all := []Finding{f, one}
		if got := drawn(all, Cards(in, all)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
