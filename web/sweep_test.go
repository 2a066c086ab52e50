package web

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"loupe/format/exectrace/fixture"
	"loupe/insight"
	"loupe/session"
)

// manyGenerations is a trace that takes a second in each of some generations.
func manyGenerations(t *testing.T, n int) []byte {
	t.Helper()
	var b strings.Builder
	b.WriteString("Trace Go1.22\n")
	for gen := 1; gen <= n; gen++ {
		fmt.Fprintf(&b, "EventBatch gen=%d m=0 time=%d\n", gen, gen*1_000_000_000)
		b.WriteString("ProcStatus dt=0 p=0 pstatus=running\nGoStatus dt=0 g=1 m=0 gstatus=running\n")
		for i := range 20 {
			b.WriteString("GoStop dt=10000000 reason_string=preempted stack=main.main@m.go:13\n")
			fmt.Fprintf(&b, "GoStart dt=10000000 g=1 g_seq=%d\n", i+1)
		}
	}
	return fixture.Trace(t, b.String())
}

// TestOnePass: all pages of a trace together read it hardly more often than the
// rules alone, which is what the text of a report costs.
func TestOnePass(t *testing.T) {
	const generations = 40
	rec := recordingOf(manyGenerations(t, generations))
	reads := func(s *session.Session) (readers, read int64) {
		trace, _, err := s.Trace()
		if err != nil {
			t.Fatal(err)
		}
		return trace.Reads()
	}
	text := session.New(rec.Open())
	insight.Run(insight.NewInput(text))
	_, least := reads(text)
	if least < generations || least > generations+2 {
		t.Errorf("the rules read %d generations of %d", least, generations)
	}

	html := session.New(rec.Open())
	open := func(context.Context) (*Opened, error) { return &Opened{Session: html}, nil }
	var b bytes.Buffer
	if _, err := Export(t.Context(), &b, Options{Version: "v1", Sources: []Source{{Name: "x", Kind: "recording", Open: open}}}); err != nil {
		t.Fatal(err)
	}
	readers, read := reads(html)
	if float64(read) > 1.3*float64(least) || readers > 7 {
		t.Errorf("an export makes %d readers, which read %d generations; the rules alone %d", readers, read, least)
	}

	live := session.New(rec.Open())
	p := pagesFrom(t, Source{Name: "x", Kind: "recording", Open: func(context.Context) (*Opened, error) { return &Opened{Session: live}, nil }})
	for _, q := range []string{"findings", "overview/figures", "overview/top", "overview/time", "timeline/lanes", "sched/trace"} {
		p.ask(t.Context(), q+"?s=1", nil)
	}
	if readers, read = reads(live); read > generations+8 {
		t.Errorf("the first pages make %d readers, which read %d generations of %d", readers, read, generations)
	}
}
