package insight

import (
	"strings"
	"testing"

	"loupe/value/stack"
)

// TestTickAdvice: the channel of a ticker or a timer is not closed when that is stopped. A select with another way out, a channel of the
// program and a field of another type are none.
func TestTickAdvice(t *testing.T) {
	const fields = "type c struct {\n\tevery *time.Ticker\n\tother *clock\n}\n\n"
	for text, want := range map[string]string{
		"tick := time.NewTicker(d)\n\tgo func() {\n\t\tfor range tick.C { // wait\n\t\t\tcount()\n\t\t}\n\t}()\n\treturn tick.Stop": "Ticker.Stop does not close it",
		"tick := time.NewTicker(d)\n\tgo func() {\n\t\tfor {\n\t\t\t<-tick.C // wait\n\t\t\tcount()\n\t\t}\n\t}()":                  "Ticker.Stop does not close it",
		"timer := time.NewTimer(d)\n\tgo func() {\n\t\tselect { // wait\n\t\tcase <-timer.C:\n\t\t}\n\t}()":                         "Timer.Stop does not close it",
		"for now := range x.every.C { // wait\n\t\tuse(now)\n\t}":                                                                   "Ticker.Stop does not close it",
		"for range time.Tick(d) { // wait\n\t\tcount()\n\t}":                                                                        "which never ends",
		"ticks := time.NewTicker(d).C\n\tfor range ticks { // wait\n\t\tcount()\n\t}":                                               "Ticker.Stop does not close it",
		"tick := time.NewTicker(d)\n\tfor {\n\t\tselect { // wait\n\t\tcase <-tick.C:\n\t\tcase <-done:\n\t\t\treturn\n\t\t}\n\t}":  "",
		"tick := time.NewTicker(d)\n\tfor {\n\t\tselect { // wait\n\t\tcase <-tick.C:\n\t\tdefault:\n\t\t}\n\t}":                    "",
		"for range x.other.C { // wait\n\t\tcount()\n\t}":                                                                           "",
		"tick := newClock(d)\n\tfor range tick.C { // wait\n\t\tcount()\n\t}":                                                       "",
		"jobs := make(chan int)\n\tfor range jobs { // wait\n\t\tcount()\n\t}":                                                      "",
		"tick := time.NewTicker(d)\n\tch <- 1 // wait\n\t<-tick.C":                                                                  "",
	} {
		text = "package main\n\n" + fields + "func run() {\n\t" + text + "\n}\n"
		at := stack.Frame{Func: "main.run", File: "a.go", Line: 1 + strings.Count(text[:strings.Index(text, "// wait")], "\n")}
		if got := tickAdvice(sourceOf(text), at); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q", text, got)
		}
	}
}
