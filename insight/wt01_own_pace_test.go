package insight

import (
	"strings"
	"testing"

	"loupe/value/stack"
)

// TestOwnPace: what is left of an interval since a time that is kept from call to call is a rate; a pause of another length, or from a
// time that the call itself has taken, is none.
func TestOwnPace(t *testing.T) {
	const fields = "package main\n\ntype p struct {\n\tevery time.Duration\n\tlast, next time.Time\n\tclock clock\n}\n\n"
	for body, want := range map[string]bool{
		"if d := x.every - time.Since(x.last); d > 0 {\n\t\ttime.Sleep(d) // wait\n\t}\n\tx.last = time.Now()":        true,
		"d := x.last.Add(x.every).Sub(x.clock.Now())\n\ttime.Sleep(d) // wait\n\tx.last = x.clock.Now()":              true,
		"time.Sleep(time.Until(x.next)) // wait\n\tx.next = x.next.Add(x.every)":                                      true,
		"now := time.Now()\n\twait := x.every - now.Sub(x.last)\n\t<-time.After(wait) // wait\n\tx.last = time.Now()": true,
		"begin := time.Now()\n\twork()\n\ttime.Sleep(x.every - time.Since(begin)) // wait":                            false,
		"time.Sleep(x.every) // wait\n\tx.last = time.Now()":                                                          false,
		"if d := x.every - time.Since(x.last); d > 0 {\n\t\ttime.Sleep(d) // wait\n\t}":                               false,
		"for !ready() {\n\t\ttime.Sleep(10 * time.Millisecond) // wait\n\t}":                                          false,
		"d := backoff(time.Since(x.last))\n\ttime.Sleep(d) // wait\n\tx.last = time.Now()":                            false,
	} {
		text := fields + "func (x *p) pace() {\n\t" + body + "\n}\n"
		_, got := paceOfOwn(sourceOf(text), stack.Frame{Func: "main.(*p).pace", File: "a.go", Line: lineOfMark(text, "wait")})
		if got != want {
			t.Errorf("%s: %v", body, got)
		}
	}
}

// TestUntilSame: a loop that compares what it sees with what it saw before the pause measures by the pause; one that waits for a value does not.
func TestUntilSame(t *testing.T) {
	for body, want := range map[string]bool{
		"size := int64(-1)\n\tfor {\n\t\tfi, err := os.Stat(path)\n\t\tif err != nil {\n\t\t\treturn err\n\t\t}\n\t\tif fi.Size() == size {\n\t\t\treturn nil\n\t\t}\n\t\tsize = fi.Size()\n\t\ttime.Sleep(d) // wait\n\t}": true,
		"for {\n\t\tn := count()\n\t\tif n != last {\n\t\t\tlast = n\n\t\t\ttime.Sleep(d) // wait\n\t\t\tcontinue\n\t\t}\n\t\tbreak\n\t}":                                                                                   true,
		"for {\n\t\tfi, _ := os.Stat(path)\n\t\tif fi.ModTime().Equal(last) {\n\t\t\tbreak\n\t\t}\n\t\tlast = fi.ModTime()\n\t\ttime.Sleep(d) // wait\n\t}":                                                                 true,
		"for {\n\t\ts := status()\n\t\tif s == done {\n\t\t\tbreak\n\t\t}\n\t\tlast = s\n\t\ttime.Sleep(d) // wait\n\t}":                                                                                                    false,
		"s := status()\n\tfor s != done {\n\t\ttime.Sleep(d) // wait\n\t\ts = status()\n\t}":                                                                                                                                false,
		"for {\n\t\tn := version()\n\t\tif n != last {\n\t\t\tbreak\n\t\t}\n\t\tlast = n\n\t\ttime.Sleep(d) // wait\n\t}":                                                                                                   false,
	} {
		text := "package main\n\nfunc settle(path string, last int64) error {\n\t" + body + "\n\treturn nil\n}\n"
		_, got := untilSame(sourceOf(text), stack.Frame{Func: "main.settle", File: "a.go", Line: lineOfMark(text, "wait")})
		if got != want {
			t.Errorf("%s: %v", body, got)
		}
	}
}

// TestCursorIsNoPoll: a loop that goes on by a cursor, and uses what each step has brought, asks for part after part; one that asks the same until
// the answer suits polls.
func TestCursorIsNoPoll(t *testing.T) {
	for body, want := range map[string]string{
		"for c.Next() { // call\n\t\tuse(c.Row())\n\t}":                                "parts of one whole",
		"for {\n\t\tif !c.Next() { // call\n\t\t\tbreak\n\t\t}\n\t\tuse(c.Row())\n\t}": "parts of one whole",
		"for c.Pending() { // call\n\t\ttick()\n\t}":                                   "It polls",
		"for !c.Ready() { // call\n\t\tuse(c.Row())\n\t}":                              "It polls",
	} {
		text := "package main\n\nfunc rows(c *cursor) {\n\t" + body + "\n}\n"
		a, ok := askingAround(sourceOf(text), []stack.Frame{{Func: "main.rows", File: "a.go", Line: lineOfMark(text, "call")}})
		if !ok || !strings.Contains(a.advice(), want) {
			t.Errorf("%s: %v %s", body, ok, a.advice())
		}
	}
}

// TestEndsByEarlier: a condition above the call that ends the loop is told from one on the answer.
func TestEndsByEarlier(t *testing.T) {
	for body, want := range map[string]bool{
		"if b.Empty() {\n\t\t\tbreak\n\t\t}\n\t\tx := ask(id) // call\n\t\tb.Spend(x)": true,
		"x := ask(id) // call\n\t\tif x.Ok {\n\t\t\tbreak\n\t\t}":                      false,
	} {
		text := "package main\n\nfunc pay(b *budget, ids []string) {\n\tfor _, id := range ids {\n\t\t" + body + "\n\t}\n}\n"
		first, ok := firstOf(sourceOf(text), []stack.Frame{{Func: "main.pay", File: "a.go", Line: lineOfMark(text, "call")}})
		if !ok || (first.earlier > 0) != want {
			t.Errorf("%s: %v %d", body, ok, first.earlier)
		}
	}
}
