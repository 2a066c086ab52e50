package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/analysis/account"
	"loupe/analysis/facts"
	"loupe/analysis/sched"
	"loupe/value/stack"
)

// TestFallsWith: the figure that should fall with a wait is the median where most requests wait, and else the mean and the
// percentiles of those that do.
func TestFallsWith(t *testing.T) {
	const ms = time.Millisecond
	site := account.Site{Frame: stack.Frame{Func: "main.handle", File: "main.go", Line: 7}}
	row := func(units int64, d time.Duration) account.Row {
		return account.Row{Kind: account.Lock, Site: site, Units: units, Time: d}
	}
	group := func(kind account.Unit, name string, n int64) *account.Group {
		return &account.Group{Unit: kind, Name: name, Wall: sched.Histogram{Count: n}, Seen: sched.Histogram{Count: n}}
	}
	for _, x := range []struct {
		name            string
		unit            account.Unit
		count, nameless int64
		waits           int64         // that wait
		typical         time.Duration // of 100 ms of the typical ones
		want            string
	}{
		{"all wait", account.Request, 100, 0, 100, 80 * ms, "the median should fall with it"},
		{"a tenth waits", account.Request, 100, 0, 10, 0, "the mean, and the latency from p90 on, should fall with it: at most 10 of 100 requests wait here"},
		{"very few wait", account.Request, 1000, 0, 3, 0, "the mean should fall with it: at most 3 of 1,000 requests wait here"},
		{"most are of no handler", account.Request, 29, 657, 29, 80 * ms, "the mean, and the latency from p96 on, should fall with it: at most 29 of 686 requests wait here"},
		{"few are of no handler", account.Request, 100, 20, 100, 80 * ms, "the median should fall with it"},
		{"most wait briefly", account.Request, 100, 0, 90, ms, "the mean and the high percentiles should fall with it, more than the median"},
		{"a job", account.Job, 100, 0, 10, 0, "the median should fall with it"},
	} {
		g := group(x.unit, "main.handle", x.count)
		g.All = account.Part{Units: x.count, Wall: 200 * ms, Rows: []account.Row{row(x.waits, 150*ms)}}
		g.Typical = account.Part{Units: x.count / 2, Wall: 100 * ms}
		if x.typical > 0 {
			g.Typical.Rows = []account.Row{row(x.waits/2, x.typical)}
		}
		u := &facts.Units{Account: &account.Account{Groups: []*account.Group{g}}}
		if x.nameless > 0 {
			u.Groups = append(u.Groups, group(x.unit, "", x.nameless))
		}
		w := mostly(g)
		if w == nil {
			t.Fatalf("%s: no wait", x.name)
		}
		if got := fallsWith(w, u); got != x.want {
			t.Errorf("%s: %q", x.name, got)
		}
	}
}

// TestWithArticle: what a request overlapped stands in a sentence with one article.
func TestWithArticle(t *testing.T) {
	for name, want := range map[string]string{
		"a mark assist of any goroutine": "a mark assist of any goroutine", "a sweep": "a sweep", "GC mark phase": "a GC mark phase",
		"stop the world": "a stop of the world", "assist": "an assist",
	} {
		if got := withArticle(name); got != want {
			t.Errorf("%q: %q", name, got)
		}
		if strings.Contains(withArticle(name), "a a") {
			t.Errorf("%q has two", name)
		}
	}
}
