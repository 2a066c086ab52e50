package insight

import (
	"strings"
	"testing"

	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// protectionAlong is what the lock of a source is for: who waits for it stands at the first of the lines with these marks and those outside of it, who makes
// the call at the lines from the leaf outwards. A mark has the name of its function in front: "(*client).get lock".
func protectionAlong(text string, waiter, holder []string) *protected {
	at := func(marks []string) (all []stack.Frame) {
		for _, m := range marks {
			fn, mark, _ := strings.Cut(m, " ")
			all = append(all, stack.Frame{Func: "main." + fn, File: "a.go", Line: 1 + strings.Count(text[:max(0, strings.Index(text, "// "+mark))], "\n")})
		}
		return all
	}
	r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1")
	withSource(r, "a.go", text)
	code := NewInput(session.New(r.Open())).code
	leaf := []stack.Frame{{Func: "internal/poll.(*FD).Read"}, {Func: "net.(*conn).Read"}}
	return protectedBy(code, append([]stack.Frame{{Func: "sync.(*Mutex).Lock"}}, at(waiter)...), append(leaf, at(holder)...))
}

// TestGuardedConnection: a connection that all who take the lock reach, by whatever objects and functions, is not to be used without it; what is made,
// or taken out of a pool, for the call may be.
func TestGuardedConnection(t *testing.T) {
	const head = "package main\n\nimport (\n\t\"bufio\"\n\t\"net\"\n\t\"sync\"\n)\n\ntype codec struct {\n\tr *bufio.Reader\n\tw *bufio.Writer\n}\n\ntype line struct {\n\tnet.Conn\n\tn int\n}\n\ntype guard struct{ mu sync.Mutex }\n\n" +
		"type client struct {\n\tmu sync.Mutex\n\tg guard\n\tk *codec\n\tall map[string]*codec\n\tfree chan *codec\n\tpages map[string]string\n\tl line\n\tin io.WriteCloser\n\tout io.Reader\n}\n\n" +
		"func (c *codec) ask(k string) string {\n\tc.w.WriteString(k)\n\treturn c.r.ReadString('\\n') // deep\n}\n\nfunc (g *guard) do(f func() string) string {\n\tg.mu.Lock() // guarded\n\tdefer g.mu.Unlock()\n\treturn f() // runs\n}\n\n"
	const lock = "func (c *client) get(k string) string {\n\tc.mu.Lock() // lock\n\tdefer c.mu.Unlock()\n"
	in, locks := []string{"(*codec).ask deep", "(*client).get call"}, []string{"(*client).get lock"}
	direct := in[1:]
	const one, several, stream, doubt, none = "the lock guards one connection", "one of several connections", "one stream", "if several of those who wait use the same", ""
	for _, x := range []struct {
		name, source   string
		waiter, holder []string
		says           string
	}{
		{"by a codec", lock + "\treturn c.k.ask(k) // call\n}\n", locks, in, one},
		{"by a variable", lock + "\tx := c.k\n\treturn x.ask(k) // call\n}\n", locks, in, one},
		{"by a getter", lock + "\tx, err := c.conn()\n\treturn x.ask(k) // call\n}\n\nfunc (c *client) conn() (*codec, error) {\n\tif c.k == nil {\n\t\tc.k = dial()\n\t}\n\treturn c.k, nil\n}\n", locks, in, one},
		{"given to a function", lock + "\treturn ask(c.k, k) // call\n}\n\nfunc ask(x *codec, k string) string { return x.ask(k) } // goes on\n", locks, []string{"(*codec).ask deep", "ask goes on", "(*client).get call"}, one},
		{"in a guard", "func (c *client) get(k string) string {\n\treturn c.g.do(func() string { return c.k.ask(k) }) // call\n}\n", []string{"(*guard).do guarded", "(*client).get call"},
			[]string{"(*codec).ask deep", "(*client).get.func1 call", "(*guard).do runs", "(*client).get call"}, one},
		{"in a guard, by a method", "func (c *client) get(k string) string {\n\treturn c.g.do(c.read) // call\n}\n\nfunc (c *client) read() string { return c.k.ask(c.name) } // reads\n", []string{"(*guard).do guarded", "(*client).get call"},
			[]string{"(*codec).ask deep", "(*client).read reads", "(*guard).do runs", "(*client).get call"}, one},
		{"in the function around", "func main() {\n\tvar mu sync.Mutex\n\tconn, _ := net.Dial(a)\n\thandle(func(k string) string {\n\t\tmu.Lock() // lock\n\t\tdefer mu.Unlock()\n\t\treturn send(conn, k) // call\n\t})\n}\n", []string{"main.func1 lock"}, []string{"main.func1 call"}, one},
		{"of the package", "var conn net.Conn\n\n" + lock + "\treturn send(conn, k) // call\n}\n", locks, direct, one},
		{"embedded", lock + "\treturn c.l.Read(k) // call\n}\n", locks, direct, "one connection"},
		{"a process", lock + "\tc.in.Write(k)\n\treturn io.ReadFull(c.out, k) // call\n}\n", locks, direct, "c.out and the lock are of the same client"},
		{"only read", strings.Replace(lock, "client", "feed", 1) + "\treturn c.r.ReadString(k) // call\n}\n\ntype feed struct {\n\tmu sync.Mutex\n\tr *bufio.Reader\n}\n", []string{"(*feed).get lock"}, []string{"(*feed).get call"}, stream},
		{"by its key", lock + "\treturn c.all[k].ask(k) // call\n}\n", locks, in, several},
		{"by its key, in a variable", lock + "\tx := c.all[k]\n\treturn x.ask(k) // call\n}\n", locks, in, several},
		{"an unknown one", "var mu sync.Mutex\n\nfunc (x *codec) get(k string) string {\n\tmu.Lock() // lock\n\tdefer mu.Unlock()\n\treturn x.ask(k) // call\n}\n", []string{"(*codec).get lock"}, []string{"(*codec).ask deep", "(*codec).get call"}, doubt},

		{"out of a pool", lock + "\tx := <-c.free\n\treturn x.ask(k) // call\n}\n", locks, in, none},
		{"made for the call", lock + "\tx := dial(k)\n\treturn x.ask(k) // call\n}\n", locks, in, none},
		{"made for the call, in a field", lock + "\tc.k = dial(k)\n\treturn c.k.ask(k) // call\n}\n", locks, direct, none},
		{"a body", lock + "\tresp, err := http.Get(k)\n\tbody := bufio.NewReader(resp.Body)\n\tc.pages[k] = read(body) // call\n\treturn c.pages[k]\n}\n", locks, direct, none},
		{"a page", lock + "\tif p, ok := c.pages[k]; ok {\n\t\treturn p\n\t}\n\tp := fetch(k) // call\n\tc.pages[k] = p\n\treturn p\n}\n", locks, direct, none},
		{"with a lock of its own", lock + "\treturn c.s.do(k) // call\n}\n\ntype safe struct {\n\tmu sync.Mutex\n\tc net.Conn\n}\n\nfunc (s *safe) do(k string) string {\n\ts.mu.Lock()\n\tdefer s.mu.Unlock()\n\treturn send(s.c, k) // below\n}\n", locks, []string{"(*safe).do below", "(*client).get call"}, none},
	} {
		p := protectionAlong(head+x.source, x.waiter, x.holder)
		switch {
		case p == nil && x.says != none:
			t.Errorf("%s: nothing", x.name)
		case p != nil && (x.says == none && (strings.Contains(p.says, "connection") || strings.Contains(p.doubt, "connection")) || !strings.Contains(p.says+p.doubt, x.says)):
			t.Errorf("%s: %+v", x.name, p)
		case p != nil && (x.says == one || x.says == stream) && !strings.Contains(p.advice, "Do not move the"):
			t.Errorf("%s: %s", x.name, p.advice)
		}
	}
}
