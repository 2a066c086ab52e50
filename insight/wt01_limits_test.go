package insight

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/format/loadlog/loadlogtest"
	"loupe/recording"
	"loupe/recording/recordingtest"
)

// endsLate is a call of a client of net/http, which is sent, and which its time limit ends.
func endsLate(p *accounttest.Program, i int, wait string, d time.Duration) {
	at := accounttest.In("runtime.selectgo@select.go:1", wait, "net/http.(*Client).Do@client.go:1", "main.ask@a.go:9", "main.handle@a.go:20")
	if i == 0 {
		p.Create(19, "net/http.(*Transport).dialConn.gowrap2", "main.init@a.go:1")
	}
	p.Block("select", at)
	if i == 0 {
		p.Start(19)
	} else {
		p.Wake(19, "")
		p.Start(19)
	}
	if wait == sent {
		p.Wake(5, "runtime.chansend1@chan.go:1;net/http.(*persistConn).writeLoop@transport.go:2")
	}
	p.Block("select", "runtime.selectgo@select.go:1;net/http.(*persistConn).writeLoop@transport.go:1")
	if wait == sent {
		p.Start(5)
		p.Block("select", at)
	}
	p.Pass(d)
	p.Create(100+i, "context.WithDeadlineCause.func2", "")
	p.Start(100 + i)
	p.Wake(5, "runtime.closechan@chan.go:1;context.(*cancelCtx).cancel@context.go:2;context.WithDeadlineCause.func2@context.go:1")
	p.End()
	p.Start(5)
	// Until the writer is done, the connection is not given up.
	p.Block("chan receive", accounttest.In("runtime.chanrecv1@chan.go:1", "net/http.(*persistConn).mapRoundTripError@transport.go:3", sent, "net/http.(*Client).Do@client.go:1", "main.ask@a.go:9", "main.handle@a.go:20"))
	p.Wake(19, "")
	p.Start(19)
	p.Wake(5, "runtime.closechan@chan.go:1;net/http.(*persistConn).writeLoop@transport.go:2")
	p.Block("select", "runtime.selectgo@select.go:1;net/http.(*persistConn).writeLoop@transport.go:1")
	p.Start(5)
}

const sent = "net/http.(*persistConn).roundTrip@transport.go:2"

// timeLimitSource sets a time limit for what endsLate calls.
const timeLimitSource = "package main\n\nvar client = &http.Client{%s}\n\n\nfunc ask(ctx context.Context) (*http.Response, error) {\n\t%s\n\tdefer cancel()\n\treturn client.Do(req.WithContext(ctx))\n}\n"

// TestWT01Limits: a call of a peer that its time limit ends is told as one without an answer, with
// the line that sets the limit where the source has it, and not as a wait for a timer.
func TestWT01Limits(t *testing.T) {
	for _, c := range []struct{ name, wait, field, stmt, says, limit string }{
		{"a context", sent, "", "ctx, cancel := context.WithTimeout(ctx, g.timeout)", "20 of 20 calls got no answer in time", "sets the limit at a.go:7."},
		{"a client", sent, "Timeout: 40 * time.Millisecond", "", "20 of 20 calls got no answer in time", "sets the limit at a.go:3."},
		{"no connection", "net/http.(*Transport).getConn@transport.go:4", "", "", "; 20 calls got no answer in time", "each wait shorter."},
	} {
		i := 0
		r := served(t, 20, func(p *accounttest.Program) {
			p.Pass(time.Millisecond)
			endsLate(p, i, c.wait, 50*time.Millisecond)
			i++
		})
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"}, fmt.Appendf(nil, timeLimitSource, c.field, c.stmt))
		f := answers(t, r, "WT01")[0]
		if f.State != Found || f.Severity != Warning || !strings.Contains(f.Summary, "waiting for an answer until the call's time limit ends in main.ask at a.go:9") || !strings.Contains(f.Summary, c.says) {
			t.Errorf("%s: %s %s: %s", c.name, f.State, f.Severity, f.Summary)
		}
		if !strings.Contains(f.Advice, "circuit breaker") || !strings.HasSuffix(f.Advice, c.limit) {
			t.Errorf("%s: %s", c.name, f.Advice)
		}
	}
}

// TestLD06Limits: where new connections follow from calls that ended without an answer, these are the
// cause; calls that were answered are not.
func TestLD06Limits(t *testing.T) {
	for _, c := range []struct {
		late     int
		by       string
		source   string // of what asks
		severity Severity
		says     string
		advises  string
	}{
		{300, "context.WithDeadlineCause.func2", "", Info, "for 300 answers; 300 calls ended before an answer came", "circuit breaker"},
		{300, "context.WithDeadlineCause.func2", "_, err := client.Do(req)\n\tif errors.Is(err, context.DeadlineExceeded) {\n\t\treturn nil\n\t}\n\treturn err", Info, "300 calls ended before an answer came", "Each of these calls costs its connection. Where the end of the limit is a normal answer"},
		{300, "net/http.(*connReader).handleReadErrorLocked", "", Info, "whose clients had gone", "why the clients do not wait"},
		{300, "main.refuse:/src/a.go:20", "", Info, "for 300 answers; 300 calls were cancelled by the program before an answer came", "Cancel fewer"},
		{300, "golang.org/x/sync/errgroup.(*Group).Go.func1", "", Info, "300 calls were cancelled by the program before an answer came", "Cancel fewer"},
		{50, "context.WithDeadlineCause.func2", "", Warning, "for 550 answers", "MaxIdleConnsPerHost"},
	} {
		s := newScene(t)
		s.manifest = "clock load-trace.requests 10s\nclock load-bare.requests 1s\n"
		s.with(func(r *recordingtest.Recording) {
			if c.source != "" {
				r.Put(recording.Entry{Path: "source/src/a.go", Kind: recording.Source, Source: "/src/a.go"}, []byte("package main\n\n\n\n\n\n\nfunc ask() error {\n\t"+c.source+"\n}\n"))
			}
			for _, phase := range []string{"bare", "trace"} {
				r.Put(recording.Entry{Path: "load-" + phase + ".requests", Kind: recording.Load, Phase: phase}, loadlogtest.Encode(loadlogtest.Steady(300, time.Second, ms)))
			}
		})
		s.group(readLoop, 300, 300, ms, ms).Created = 300
		ask := s.stack("runtime.selectgo", roundTrip, "main.ask:/src/a.go:9")
		writes, ends := s.stack("runtime.chansend1", writeLoop), s.stack("runtime.closechan", "context.(*cancelCtx).cancel", c.by)
		b := s.block("main.serve", exectrace.NameSelect, 600+c.late, ms, ask, 0)
		b.Wakers = []sched.Waker{{Stack: writes, Count: 600}, {Stack: ends, Count: int64(c.late)}}
		// The rest of net/http's waits are for no answer.
		s.block("main.serve", exectrace.NameSync, 300, ms, s.stack("sync.(*Mutex).Lock", roundTrip, "main.ask:/src/a.go:9"), s.stack("sync.(*Mutex).Unlock", roundTrip))
		f := s.expect("LD06", Found, c.says)
		if f.Severity != c.severity || !strings.Contains(f.Advice, c.advises) {
			t.Errorf("%d of 600 ended late: %s: %s", c.late, f.Severity, f.Advice)
		}
	}
}
