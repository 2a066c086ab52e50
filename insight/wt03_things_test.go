package insight

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
)

// TestWT03Things: calls of which one uses the result of another are one, or the finding says what comes after what.
func TestWT03Things(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name, body string
		calls      int // from line 3 on, of 5 ms each
		says       string
		doubts     string
	}{
		{"none uses another's", "a := get(1)\n\tb := get(2)\n\tc := get(3)\n\tuse(a, b, c)", 3,
			"makes 3 calls one after another in main.handle (5.00 ms at line 3, 5.00 ms at line 4, 5.00 ms at line 5)", "judging by the variables, no call uses the result of another; effects"},
		{"the rows of a query", "a := get(1)\n\trows, err := find(2)\n\tfor rows.Next() {\n\t}\n\tuse(a, err)", 3,
			"makes 2 calls one after another in main.handle (5.00 ms at line 3, 10.0 ms at lines 4 and 5): 15.0 ms of 15.0 ms on average over 20; if they do not need each other, together they would take 10.0 ms",
			"none of these 2 uses the result of another; what is at lines 4 and 5 has to stay in that order and counts as one call; effects"},
		{"two that use one", "a := get(1)\n\tb := get(a + 1)\n\tc := get(a + 2)\n\tuse(b, c)", 3, "makes 3 calls", "judging by the source, line 4 has to come after line 3, line 5 has to come after line 3; the figure keeps that order; effects"},
		{"one that uses two", "a := get(1)\n\tb := get(2)\n\tc := get(a, b)\n\tuse(c)", 3, "makes 3 calls", "line 5 has to come after line 3, line 5 has to come after line 4"},
		{"a chain of three beside one", "a := get(1)\n\tb := get(a)\n\tc := get(a, b)\n\td := get(4)\n\tuse(c, d)", 4, "makes 2 calls one after another in main.handle (15.0 ms at lines 3, 4 and 5, 5.00 ms at line 6)", "none of these 2"},
		{"a pair before two", "a := get(1)\n\tb := get(a)\n\tc := get(b + 1)\n\td := get(b + 2)\n\tuse(c, d)", 4, "makes 3 calls one after another in main.handle (10.0 ms at lines 3 and 4, 5.00 ms at line 5, 5.00 ms at line 6)", "line 5 has to come after lines 3 and 4, line 6 has to come after lines 3 and 4; the figure keeps that order; what is at lines 3 and 4"},
	} {
		r := served(t, 20, func(p *accounttest.Program) {
			for i := range c.calls {
				ask(p, 5*ms, "main.get@db.go:40", fmt.Sprintf("main.handle@main.go:%d", 3+i))
			}
		})
		withSource(r, "main.go", "package main\nfunc handle() {\n\t"+c.body+"\n}\n")
		f := answers(t, r, "WT03")[0]
		if f.State != Found || !strings.Contains(f.Summary, c.says) || !strings.Contains(strings.Join(f.Doubts, "\n"), c.doubts) {
			t.Errorf("%s: %s: %s\n%q", c.name, f.State, f.Summary, f.Doubts)
		}
	}
}
