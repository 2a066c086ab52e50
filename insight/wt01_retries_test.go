package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
	"loupe/recording"
)

// TestWT01Retries: pauses between a bounded number of tries are a fault where the typical request has
// to try again, since then the call fails each time, and a remark where few requests do.
func TestWT01Retries(t *testing.T) {
	const asked, paused = "main.ask@main.go:40", "main.sleepCtx@main.go:30"
	const retries = "for n := 0; n < 4; n++ {\n\tif ask(k) == nil {\n\t\treturn nil\n\t}\n\n\tsleepCtx(ctx, d)\n}\n"
	for _, c := range []struct {
		name, loop string
		failing    int // of ten requests
		severity   Severity
		want       string // in the advice
		says       bool   // that it has failed
	}{
		{"each request tries again", retries, 10, Warning, "Find out why the call fails", true},
		{"some do", retries, 2, Info, "fail at once while the peer is known to be down", false},
		{"each asks until it is ready", "for n := 0; n < 4; n++ {\n\tif ask(k).ready {\n\t\treturn nil\n\t}\n\n\tsleepCtx(ctx, d)\n}\n", 10, Info, "let the producer signal it", false},
		{"a pause after each of several items", "for _, k := range keys {\n\task(k)\n\n\n\n\tsleepCtx(ctx, d)\n}\n", 10, Info, "", false},
	} {
		request := 0
		r := served(t, 20, func(p *accounttest.Program) {
			request++
			ask(p, 2*time.Millisecond, asked, "main.handle@main.go:5")
			if request%10 >= c.failing {
				return
			}
			for range 3 {
				p.Block("sleep", accounttest.In(paused, "main.handle@main.go:9"))
				p.Pass(40 * time.Millisecond)
				p.Wake(5, "")
				p.Start(5)
				ask(p, 2*time.Millisecond, asked, "main.handle@main.go:5")
			}
		})
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "main.go"}, []byte("package main\n\nfunc handle() error {\n"+c.loop+"\nreturn nil\n}\n"))
		f := answers(t, r, "WT01")[0]
		if f.State != Found || f.Severity != c.severity || !strings.Contains(f.Advice, c.want) || c.says != strings.Contains(f.Summary, "because it has failed") {
			t.Errorf("%s: %s %s: %s\n%s\n%q", c.name, f.State, f.Severity, f.Summary, f.Advice, f.Doubts)
		}
	}
}
