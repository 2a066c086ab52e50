package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/value/stack"
)

// TestTimersOfSelect: a select that a timer ends, whose length the caller, a flag or a variable decides, has a limit where the sources show that; where
// they do not, it is said. What goes on in its loop after the timer has no end, and one of a context further up the stack has that of the context.
func TestTimersOfSelect(t *testing.T) {
	const waits = "\tselect { // here\n\tcase <-c:\n\tcase <-time.After(d):\n\t}\n}"
	for _, x := range []struct {
		name, text string
		limit      bool // longer than six seconds
		untold     bool
	}{
		{"of the caller", "func main() { go wait(c, 40*time.Second) }\nfunc wait(c chan int, d time.Duration) {\n" + waits, true, false},
		{"of the caller, a timer", "func main() { go wait(c, 40*time.Second) }\nfunc wait(c chan int, d time.Duration) {\n\tt := time.NewTimer(d)\n\tdefer t.Stop()\n\tselect { // here\n\tcase <-c:\n\tcase <-t.C:\n\t}\n}", true, false},
		{"of the caller, over by then", "func main() { go wait(c, 2*time.Second) }\nfunc wait(c chan int, d time.Duration) {\n" + waits, false, false},
		{"of a flag", "var most = flag.Duration(\"most\", time.Minute, \"longest wait\")\nfunc wait(c chan int) {\n" + strings.Replace(waits, "After(d)", "After(*most)", 1), true, false},
		{"of a variable", "func wait(c chan int) {\n\td := 30 * time.Second\n" + waits, true, false},
		{"of a variable that is set again", "func wait(c chan int) {\n\td := 30 * time.Second\n\td = read()\n" + waits, false, true},
		{"of variables that stand for each other", "var d, other = other, d\nfunc wait(c chan int) {\n" + waits, false, true},
		{"of what nobody shows", "func wait(c chan int) {\n" + strings.Replace(waits, "After(d)", "After(backoff.Next())", 1), false, true},
		{"in a loop that goes on", "func wait(c chan int) {\n\tfor {\n\t\tselect { // here\n\t\tcase <-c:\n\t\t\treturn\n\t\tcase <-time.After(backoff.Next()):\n\t\t\tbreak\n\t\t}\n\t}\n}", false, false},
		{"in a loop that it ends", "func wait(c chan int) {\n\tfor {\n\t\tselect { // here\n\t\tcase v := <-c:\n\t\t\tuse(v)\n\t\tcase <-time.After(backoff.Next()):\n\t\t\treturn\n\t\t}\n\t}\n}", false, true},
		{"of a context that the caller makes", "func main() {\n\tctx, cancel := context.WithTimeout(context.Background(), time.Minute)\n\tdefer cancel()\n\twait(ctx, c) // up\n}\nfunc wait(ctx context.Context, c chan int) {\n\tselect { // here\n\tcase <-c:\n\tcase <-ctx.Done():\n\t}\n}", true, false},
		{"of a context without a limit", "func main() {\n\tctx, cancel := context.WithCancel(context.Background())\n\tdefer cancel()\n\twait(ctx, c) // up\n}\nfunc wait(ctx context.Context, c chan int) {\n\tselect { // here\n\tcase <-c:\n\tcase <-ctx.Done():\n\t}\n}", false, false},
		{"two channels beside a context of the caller", "func main() {\n\tctx, cancel := context.WithTimeout(context.Background(), time.Minute)\n\tdefer cancel()\n\twait(c, d) // up\n\tuse(ctx)\n}\nfunc wait(c, d chan int) {\n\tselect { // here\n\tcase <-c:\n\tcase <-d:\n\t}\n}", false, false},
	} {
		text := "package main\n\n" + x.text + "\n"
		in := sourceInput(text)
		frames := []stack.Frame{{Func: "runtime.gopark"}, {Func: "main.wait", File: "a.go", Line: lineOfMark(text, "here")}}
		if strings.Contains(text, "// up") {
			frames = append(frames, stack.Frame{Func: "main.main", File: "a.go", Line: lineOfMark(text, "up")})
		}
		limit, found := TimeLimit(in, frames, 6*time.Second)
		_, untold := clockUntold(in.code, frames[1])
		if found != x.limit || untold != x.untold {
			t.Errorf("%s: limit %v %s, untold %v", x.name, found, limit.Text, untold)
		}
	}
}
