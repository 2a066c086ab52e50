package insight

import (
	"testing"

	"loupe/value/stack"
)

// TestPollsWith: a loop that ends with what it learns, and pauses for the same time in each turn, polls. What goes through
// items, ends by an error, a context or the time, pauses for longer each time, or waits for no timer, does not.
func TestPollsWith(t *testing.T) {
	for text, want := range map[string]bool{
		"for !ready(id) {\ntime.Sleep(d)\n}":                     true,
		"for {\ntime.Sleep(d)\nif ready(id) {\nreturn nil\n}\n}": true,
		"for {\nselect {\ncase <-time.After(o.Every):\ncase <-ctx.Done():\nreturn ctx.Err()\n}\nif p.Done() {\nbreak\n}\n}":         true,
		"for {\nselect {\ncase <-ticker.C:\ncase <-ctx.Done():\nreturn ctx.Err()\n}\nif p.Done() {\nbreak\n}\n}":                    true,
		"for {\nselect {\ncase <-changed:\ncase <-ctx.Done():\nreturn ctx.Err()\n}\nif p.Done() {\nbreak\n}\n}":                     false,
		"for {\nselect {\ncase <-time.After(wait):\ncase <-ctx.Done():\nreturn ctx.Err()\n}\nwait *= 2\nif p.Done() {\nbreak\n}\n}": false,
		"for {\ntime.Sleep(d)\nd *= 2\nif ready(id) {\nreturn nil\n}\n}":                                                            false,
		"for {\ntime.Sleep(d)\nif err := report(id); err != nil {\nreturn err\n}\n}":                                                false,
		"for {\ntime.Sleep(d)\nif ctx.Err() != nil {\nreturn nil\n}\nreport(id)\n}":                                                 false,
		"for {\ntime.Sleep(d)\nif time.Now().After(end) {\nreturn nil\n}\nreport(id)\n}":                                            false,
		"for _, id := range ids {\ntime.Sleep(d)\nif find(id) {\nreturn nil\n}\n}":                                                  false,
		"for time.Now().Before(end) {\ntime.Sleep(d)\nreport(id)\n}":                                                                false,
		"if !ready(id) {\ntime.Sleep(d)\n}":                                                                                         false,
	} {
		c, at := lineFive(text)
		if _, _, got := pollsWith(c, []stack.Frame{at}, func(stack.Frame) bool { return true }); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
