package insight

import (
	"strings"
	"testing"
)

// TestAdviseCancel: where the context leaves the function that makes it, a deferred call of its cancel function would end it too early; where the
// function waits for those who have it, it is right.
func TestAdviseCancel(t *testing.T) {
	const head = "package main\n\nimport (\n\t\"context\"\n\t\"sync\"\n\t\"time\"\n)\n\ntype job struct{ ctx context.Context }\n\ntype session struct{ ctx context.Context }\n\nvar jobs = make(chan *job)\n\nvar root = context.Background()\n\n"
	for _, c := range []struct {
		name, body string
		says       string // "" where the plain advice stays
	}{
		{"sent to a queue", "\tctx, _ := context.WithTimeout(root, time.Hour) // A\n\tjobs <- &job{ctx: ctx} // C\n", "is sent on jobs at a.go:%C"},
		{"one that is made of it", "\tctx, _ := context.WithTimeout(root, time.Hour) // A\n\tjobs <- &job{ctx: context.WithValue(ctx, 1, 2)} // C\n", "is sent on jobs at a.go:%C"},
		{"by another name", "\tctx, _ := context.WithTimeout(root, time.Hour) // A\n\twith := context.WithValue(ctx, 1, 2)\n\tjobs <- &job{ctx: with} // C\n", "is sent on jobs at a.go:%C"},
		{"given to a goroutine", "\tctx, _ := context.WithCancel(root) // A\n\tgo work(ctx) // C\n", "is given to a goroutine at a.go:%C"},
		{"in a closure of one", "\tctx, _ := context.WithCancel(root) // A\n\tgo func() { // C\n\t\twork(ctx)\n\t}()\n", "is given to a goroutine at a.go:%C"},
		{"kept in a field", "\tctx, _ := context.WithCancel(root) // A\n\ts.ctx = ctx // C\n", "is kept in s.ctx at a.go:%C"},

		{"used in the function", "\tctx, _ := context.WithTimeout(root, time.Hour) // A\n\twork(ctx)\n", ""},
		{"what is done with it is sent", "\tctx, _ := context.WithTimeout(root, time.Hour) // A\n\tresults <- work(ctx)\n", ""},
		{"its error is returned", "\tctx, _ := context.WithTimeout(root, time.Hour) // A\n\twork(ctx)\n\treturn ctx.Err()\n", ""},
		{"a goroutine that is waited for", "\tctx, _ := context.WithCancel(root) // A\n\tvar wg sync.WaitGroup\n\twg.Add(1)\n\tgo func() {\n\t\tdefer wg.Done()\n\t\twork(ctx)\n\t}()\n\twg.Wait()\n", ""},
		{"another context is sent", "\tctx, _ := context.WithTimeout(root, time.Hour) // A\n\twork(ctx)\n\tjobs <- &job{ctx: root}\n", ""},
	} {
		text := head + "func f(s *session) error {\n" + c.body + "\treturn nil\n}\n"
		before, _, _ := strings.Cut(text, "// A\n")
		var f Finding
		got := adviseCancel(codeOf(text), Evidence{File: "a.go", Line: 1 + strings.Count(before, "\n")}, "a.go:9", "", &f)
		if want := lineMarks(text, c.says); strings.HasPrefix(got, "Call the cancel function") != (c.says == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", c.name, got, want)
		}
	}
}
