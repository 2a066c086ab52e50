package insight

import (
	"strings"
	"testing"

	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestWaitEnds: what ends a wait is a channel that another function closes, or a context that one
// cancels. The wait is at the line with // wait.
func TestWaitEnds(t *testing.T) {
	const types = "package main\n\ntype client struct {\n\tch, more chan int\n\tdone chan struct{}\n\tctx context.Context\n\tcancel context.CancelFunc\n}\n\nvar stop = make(chan bool)\n\n"
	const run = "func (c *client) run() {\n\tfor {\n\t\tselect { // wait\n\t\tcase c.ch <- 1:\n\t\tcase <-c.done:\n\t\t\treturn\n\t\t}\n\t}\n}\n\n"
	const remove = "func (h *hub) remove(i int) {\n\tclose(h.all[i].done)\n}\n"
	const other = "\ntype other struct {\n\tdone chan struct{}\n}\n\nfunc (o *other) end() {\n\tclose(o.done)\n}\n"
	const own = "func (c *client) Close() {\n\tclose(c.done)\n}\n"
	const byCtx = "func (c *client) run() {\n\tselect { // wait\n\tcase c.ch <- 1:\n\tcase <-c.ctx.Done():\n\t}\n}\n\nfunc (c *client) Close() {\n\tc.cancel()\n}\n\n"
	for _, x := range []struct{ name, text, want string }{
		{"a field", run + remove, "c.done ends it, which (*hub).remove closes at a.go:23"},
		{"a field of a name that two types have", run + own + other, "c.done ends it, which (*client).Close closes at a.go:23"},
		{"closed of another type", run + other, ""},
		{"of an unknown type", run + remove + other, ""},
		{"closed by nobody", run, ""},
		{"by the wait's own function", "func (c *client) run() {\n\tdefer close(c.done)\n\tselect { // wait\n\tcase c.ch <- 1:\n\tcase <-c.done:\n\t}\n}\n", ""},
		{"a case that goes on", strings.Replace(run, "return", "continue", 1) + own, ""},
		{"a break of the select alone", strings.Replace(run, "return", "break", 1) + own, ""},
		{"a receive", "func (c *client) run() {\n\t<-c.done // wait\n}\n\n" + own, "which (*client).Close closes at a.go:17"},
		{"a range", "func (c *client) run() {\n\tfor v := range c.ch { // wait\n\t\tuse(v)\n\t}\n}\n\nfunc (c *client) end() { close(c.ch) }\n", "c.ch ends it, which (*client).end closes at a.go:18"},
		{"a send", "func (c *client) run() {\n\tc.ch <- 1 // wait\n}\n\nfunc (c *client) end() { close(c.ch) }\n", ""},
		{"a variable of the package", "func run() {\n\t<-stop // wait\n}\n\nfunc end() { close(stop) }\n", "stop ends it, which end closes at a.go:16"},
		{"a variable of another function", "func run() {\n\tgone := make(chan bool)\n\t<-gone // wait\n}\n\nfunc end() {\n\tgone := make(chan bool)\n\tclose(gone)\n}\n", ""},
		{"a variable of the function around", "func run() {\n\tgone := make(chan bool)\n\tgo func() {\n\t\t<-gone // wait\n\t}()\n\twork()\n\tclose(gone)\n}\n", "gone ends it, which run closes at a.go:18"},
		{"closed by the owner alone", "func (c *client) run() {\n\tfor v := range c.ch { // wait\n\t\tuse(v)\n\t}\n}\n\nfunc (c *client) end() {\n\tif !c.owner {\n\t\treturn\n\t}\n\tclose(c.ch)\n}\n", ""},
		{"closed where it is there", "func (c *client) run() {\n\tfor v := range c.ch { // wait\n\t\tuse(v)\n\t}\n}\n\nfunc (c *client) end() {\n\tif c.ch != nil {\n\t\tclose(c.ch)\n\t}\n}\n", ""},
		{"closed once", "func (c *client) run() {\n\tfor v := range c.ch { // wait\n\t\tuse(v)\n\t}\n}\n\nfunc (c *client) end() {\n\tif c.closed {\n\t\treturn\n\t}\n\tclose(c.ch)\n}\n", "c.ch ends it"},
		{"made anew", "func (c *client) run() {\n\tfor v := range c.ch { // wait\n\t\tuse(v)\n\t}\n}\n\nfunc (c *client) end() { close(c.ch) }\n\nfunc (c *client) again() { c.ch = make(chan int) }\n", ""},
		{"a variable that is closed under a condition", "func run() {\n\tgone := make(chan bool)\n\tgo func() {\n\t\t<-gone // wait\n\t}()\n\tif ok() {\n\t\tclose(gone)\n\t}\n}\n", ""},
		{"a context", byCtx + "func open() *client {\n\tctx, cancel := context.WithCancel(context.Background())\n\treturn &client{ctx: ctx, cancel: cancel}\n}\n", "c.ctx ends it, which (*client).Close cancels at a.go:20"},
		{"a context that is assigned", byCtx + "func (c *client) open() {\n\tc.ctx, c.cancel = context.WithCancel(context.Background())\n}\n", "Close cancels at a.go:20"},
		{"a context of somebody else", byCtx + "func open(ctx context.Context) *client {\n\t_, cancel := context.WithCancel(context.Background())\n\treturn &client{ctx: ctx, cancel: cancel}\n}\n", ""},
	} {
		text := types + x.text
		r := recordingtest.New("title x")
		withSource(r, "a.go", text)
		in := NewInput(session.New(r.Open()))
		advice, shown := WaitEnds(in, stack.Frame{Func: "main.run", File: "a.go", Line: 1 + strings.Count(text[:strings.Index(text, "// wait")], "\n")})
		if (advice == "") != (x.want == "") || !strings.Contains(advice, x.want) || len(shown) == 0 != (advice == "") {
			t.Errorf("%s: %s", x.name, advice)
		}
	}
}
