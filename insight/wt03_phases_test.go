package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
	"loupe/format/exectrace/fixture"
	"loupe/recording"
	"loupe/recording/recordingtest"
)

// phaseSource has its calls at fixed lines: the callback is at 6 and 7, the second phase begins at 13.
const phaseSource = `package main

func run(s *source, k *peer) {
	var all []item
	queue := make(chan item)
	s.each(func(x item) {
		all = append(all, x)
	})
	k.start(queue)
	between()



	for _, x := range all {
		queue <- x
	}
	close(queue)
	k.wg.Wait()
}

type item struct{ size int }
type source struct{}
type peer struct{ wg sync.WaitGroup }

func (s *source) each(do func(item)) {
	for range 9 {
		do(item{})
	}
}

func (k *peer) start(queue chan item) {
	go func() {
		for x := range queue {
			k.send(x)
		}
	}()
}
`

// phased is a program whose main computes below one line, hands items over at another one, and waits for all in the end. Whom it
// waits for asks a peer, or computes.
func phased(computes, hands, ends time.Duration, first, leaf string) *accounttest.Program {
	const worker = "main.(*peer).send@main.go:40;main.(*peer).start.func1@main.go:34"
	p := accounttest.New()
	p.Create(7, "main.(*peer).start.func1", "main.(*peer).start@main.go:32;main.run@main.go:9;main.main@main.go:50")
	for range 10 {
		if strings.HasPrefix(first, readNet) {
			p.Block("network", first)
			p.Pass(computes / 10)
			p.Wake(1, "")
		} else {
			p.Pass(computes / 10)
			p.Preempt(first)
		}
		p.Start(1)
	}
	begun := false
	wait := func(d time.Duration, reason, stack, waker string) {
		p.Block(reason, stack)
		if begun && leaf != "" {
			p.Pass(d)
			p.Wake(7, "")
		}
		p.Start(7)
		if leaf == "" {
			p.Pass(d)
		}
		begun = true
		p.Wake(1, waker+";"+worker)
		if leaf == "" {
			p.Preempt(worker)
		} else {
			p.Block("network", leaf+";"+worker)
		}
		p.Start(1)
	}
	for range 11 {
		wait(hands/10, "chan send", "runtime.chansend1@chan.go:1;main.run@main.go:15;main.main@main.go:50", "runtime.chanrecv2@chan.go:1")
	}
	wait(ends, "sync", "sync.runtime_SemacquireWaitGroup@sema.go:1;sync.(*WaitGroup).Wait@wg.go:1;main.run@main.go:18;main.main@main.go:50", "sync.(*WaitGroup).Done@wg.go:2")
	return p
}

// TestWT03Phases: two phases of one function that use different things could overlap, where the source shows that the second
// one needs one item at a time.
func TestWT03Phases(t *testing.T) {
	const ms, below = time.Millisecond, "main.inspect@main.go:60;main.(*source).each@main.go:27;main.run@main.go:6;main.main@main.go:50"
	network := readNet
	for _, c := range []struct {
		name                  string
		computes, hands, ends time.Duration
		first, leaf, old, now string
		severity              Severity // "" is fine
	}{
		{"computes, then sends", 100 * ms, 100 * ms, 20 * ms, below, network, "", "", Warning},
		{"waits in the end alone", 100 * ms, 10 * ms, 100 * ms, below, network, "", "", Warning},
		{"starts a goroutine for each", 100 * ms, 10 * ms, 100 * ms, below, network, "queue <- x", "k.wg.Go(func() { k.send(x) })", Warning},
		{"asks a peer, then computes", 100 * ms, 100 * ms, 20 * ms, readNet + ";" + below, "", "", "", Warning},
		{"an error ends it before", 100 * ms, 100 * ms, 20 * ms, below, network, "between()", "if err := between(); err != nil { return err }", Info},
		{"closes something between", 100 * ms, 100 * ms, 20 * ms, below, network, "between()", "s.Close()", Info},

		{"the first one is short", 30 * ms, 140 * ms, 20 * ms, below, network, "", "", ""},
		{"the second one is short", 140 * ms, 10 * ms, 5 * ms, below, network, "", "", ""},
		{"both ask a peer", 100 * ms, 100 * ms, 20 * ms, readNet + ";" + below, network, "", "", ""},
		{"both compute", 100 * ms, 100 * ms, 20 * ms, below, "", "", "", ""},
		{"it computes elsewhere", 100 * ms, 100 * ms, 20 * ms, "main.between@main.go:60;main.run@main.go:10;main.main@main.go:50", network, "", "", ""},
		{"sorted between", 100 * ms, 100 * ms, 20 * ms, below, network, "between()", "sort.Slice(all, bySize)", ""},
		{"counted first", 100 * ms, 100 * ms, 20 * ms, below, network, "between()", "k.announce(len(all))", ""},
		{"the same are left out first", 100 * ms, 100 * ms, 20 * ms, below, network, "between()", "all = dedup(all)", ""},
		{"added up first", 100 * ms, 100 * ms, 20 * ms, below, network, "between()", "for _, x := range all { total += x.size }", ""},
		{"others have all of it", 100 * ms, 100 * ms, 20 * ms, below, network, "between()", "k.plan(all)", ""},
		{"it hands on something else", 100 * ms, 100 * ms, 20 * ms, below, network, "range all", "range k.rest", ""},
		{"handed on as it comes", 100 * ms, 100 * ms, 20 * ms, below, network, "all = append(all, x)", "queue <- x", ""},
	} {
		r := recordingtest.New("title x\ntarget package . module=main package=main\nrun 0s..2s pid=7 exit=0\nphase trace 0s..10s profiler=trace\n")
		r.Put(recording.Entry{Path: "trace.out", Kind: recording.ExecTrace, Phase: "trace"}, fixture.Trace(t, phased(c.computes, c.hands, c.ends, c.first, c.leaf).Text()))
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "main.go"}, []byte(strings.Replace(phaseSource, c.old, c.now, 1)))
		f := answers(t, r, "WT03")[0]
		state := Found
		if c.severity == "" {
			state = Fine
		}
		if f.State != state || f.Severity != c.severity || state == Found && (f.Title != phasesTitle || f.Evidence[0].Line != 7 || f.Evidence[1].Line != 14) {
			t.Errorf("%s: %s %s %q: %s\n%+v", c.name, f.State, f.Severity, f.Title, f.Summary, f.Evidence)
		}
	}
}
