package insight

import (
	"strings"
	"testing"

	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestGuardsItself: what is taken out and put back under a lock of its own is not what the lock
// around the call keeps together; what is only read there, or overwritten behind the call, is.
func TestGuardsItself(t *testing.T) {
	const head = "package main\n\ntype client struct {\n\tmu sync.Mutex\n\tfree []conn\n\tn int\n}\n\ntype owner struct {\n\tmu sync.Mutex\n\tc *client\n}\n\nfunc (o *owner) do(k string) error {\n\to.mu.Lock() // lock\n\tdefer o.mu.Unlock()\n\treturn o.c.put(k) // leads\n}\n\n"
	const put = "func (c *client) put(k string) error {\n\tx, err := c.get()\n\tif err != nil {\n\t\treturn err\n\t}\n\tsend(x, k) // call\n\tc.back(x)\n\treturn nil\n}\n\n"
	const locked = "\tc.mu.Lock()\n\tdefer c.mu.Unlock()\n"
	const take = "func (c *client) get() (conn, error) {\n" + locked + "\tx := c.free[0]\n\tc.free = c.free[1:]\n\treturn x, nil\n}\n\n"
	const back = "func (c *client) back(x conn) {\n" + locked + "\tc.free = append(c.free, x)\n}\n"
	for _, x := range []struct {
		name, text string
		kept       bool
	}{
		{"a pool", put + take + back, false},
		{"a pool that unlocks on each way", put + "func (c *client) get() (conn, error) {\n\tc.mu.Lock()\n\tif n := len(c.free); n > 0 {\n\t\tx := c.free[n-1]\n\t\tc.free = c.free[:n-1]\n\t\tc.mu.Unlock()\n\t\treturn x, nil\n\t}\n\tc.mu.Unlock()\n\treturn dial()\n}\n\n" + back, false},
		{"a pool in the function itself", "func (c *client) put(k string) error {\n\tc.mu.Lock()\n\tx := c.free[0]\n\tc.free = c.free[1:]\n\tc.mu.Unlock()\n\tsend(x, k) // call\n\tc.mu.Lock()\n\tc.free = append(c.free, x)\n\tc.mu.Unlock()\n\treturn nil\n}\n", false},
		{"without a lock of its own", strings.ReplaceAll(put+take+back, locked, ""), true},
		{"put back without a lock", put + take + strings.ReplaceAll(back, locked, ""), true},
		{"only read", put + "func (c *client) get() (conn, error) {\n" + locked + "\tx := c.free[0]\n\treturn x, nil\n}\n\n" + back, true},
		{"overwritten", put + take + "func (c *client) back(x conn) {\n" + locked + "\tc.free = []conn{x}\n}\n", true},
		{"read here, too", strings.Replace(put, "\tsend(", "\tx = c.free[1]\n\tsend(", 1) + take + back, true},
		{"a number that is set", "func (c *client) put(k string) error {\n\tn := c.left()\n\tsend(n, k) // call\n\tc.set(n - 1)\n\treturn nil\n}\n\nfunc (c *client) left() int {\n" + locked + "\treturn c.n\n}\n\nfunc (c *client) set(n int) {\n" + locked + "\tc.n = n\n}\n", true},
		{"checked, then counted", "func (c *client) put(k string) error {\n\tif c.left() == 0 {\n\t\treturn errSold\n\t}\n\tsend(k) // call\n\tc.sold()\n\treturn nil\n}\n\nfunc (c *client) left() int {\n" + locked + "\treturn c.n\n}\n\nfunc (c *client) sold() {\n" + locked + "\tc.n--\n}\n", true},
		{"locked across the call", "func (c *client) put(k string) error {\n" + locked + "\tx := c.free[0]\n\tc.free = c.free[1:]\n\tsend(x, k) // call\n\tc.free = append(c.free, x)\n\treturn nil\n}\n", true},
	} {
		text := head + x.text
		line := func(fn, mark string) stack.Frame {
			return stack.Frame{Func: "main." + fn, File: "a.go", Line: 1 + strings.Count(text[:strings.Index(text, mark)], "\n")}
		}
		r := recordingtest.New("title x")
		withSource(r, "a.go", text)
		code := NewInput(session.New(r.Open())).code
		p := protectedBy(code, []stack.Frame{{Func: "sync.(*Mutex).Lock"}, line("(*owner).do", "// lock")},
			[]stack.Frame{{Func: "net.(*conn).Read"}, line("(*client).put", "// call"), line("(*owner).do", "// leads")})
		if kept := p != nil && strings.Contains(p.says, "keeps a change together"); kept != x.kept {
			t.Errorf("%s: %+v", x.name, p)
		}
	}
}

// TestGuardsItselfInOrder: a pool beside a number that the call is given leaves the order as what the lock is for.
func TestGuardsItselfInOrder(t *testing.T) {
	const text = "package main\n\ntype client struct {\n\tmu sync.Mutex\n\tfree []conn\n}\n\ntype owner struct {\n\tmu sync.Mutex\n\tseq int\n\tc *client\n}\n\n" +
		"func (o *owner) do(k string) error {\n\to.mu.Lock() // lock\n\tdefer o.mu.Unlock()\n\to.seq++\n\treturn o.c.put(o.seq) // leads\n}\n\n" +
		"func (c *client) put(n int) error {\n\tx, err := c.get()\n\tif err != nil {\n\t\treturn err\n\t}\n\tsend(x, n) // call\n\tc.back(x)\n\treturn nil\n}\n\n" +
		"func (c *client) get() (conn, error) {\n\tc.mu.Lock()\n\tdefer c.mu.Unlock()\n\tx := c.free[0]\n\tc.free = c.free[1:]\n\treturn x, nil\n}\n\n" +
		"func (c *client) back(x conn) {\n\tc.mu.Lock()\n\tc.free = append(c.free, x)\n\tc.mu.Unlock()\n}\n"
	line := func(fn, mark string) stack.Frame {
		return stack.Frame{Func: "main." + fn, File: "a.go", Line: 1 + strings.Count(text[:strings.Index(text, mark)], "\n")}
	}
	r := recordingtest.New("title x")
	withSource(r, "a.go", text)
	code := NewInput(session.New(r.Open())).code
	p := protectedBy(code, []stack.Frame{{Func: "sync.(*Mutex).Lock"}, line("(*owner).do", "// lock")},
		[]stack.Frame{{Func: "net.(*conn).Read"}, line("(*client).put", "// call"), line("(*owner).do", "// leads")})
	if p == nil || !strings.Contains(p.says, "keeps the calls in order: o.seq is advanced at line 17") || !p.slow {
		t.Errorf("%+v", p)
	}
}
