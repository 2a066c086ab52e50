package insight

import (
	"strings"
	"testing"

	"loupe/value/stack"
)

// TestTellShared: what a call returns is shared without a condition where it is kept for others, and not where each takes one to itself.
func TestTellShared(t *testing.T) {
	const advice = "Let one request do it, and the others wait."
	const head = "package main\n\nimport \"sync\"\n\ntype ticket struct{ name string }\ntype box struct {\n\tmu sync.Mutex\n\tfree []*ticket\n\tall map[string]*ticket\n\tlast *ticket\n\tready chan *ticket\n\tpool sync.Pool\n\tctx interface{ Done() chan *ticket }\n\tmore list\n\trest []*ticket\n\tclosed bool\n}\n\ntype list struct{}\n\nfunc (l *list) Pop() *ticket { return nil }\nfunc (l *list) Top() *ticket { return nil }\nfunc (l *list) Get() *ticket { return nil }\n\nvar kept = map[string]*ticket{}\n\nfunc fetch(k string) *ticket { return ask(k) } // fetch\n\nfunc (b *box) get(k string) *ticket {\n"
	for _, c := range []struct{ name, body, want string }{
		{"a cache", "\tif x, ok := b.all[k]; ok {\n\t\treturn x\n\t}\n\tx := fetch(k) // call\n\tb.all[k] = x\n\treturn x\n", advice},
		{"one value", "\tif b.last != nil {\n\t\treturn b.last\n\t}\n\tx := fetch(k) // call\n\tb.last = x\n\treturn x\n", advice},
		{"a cache that throws old ones away", "\tif x, ok := b.all[k]; ok {\n\t\treturn x\n\t}\n\tdelete(b.all, \"old\")\n\tx := fetch(k) // call\n\tb.all[k] = x\n\treturn x\n", advice},
		{"a free list", "\tfor len(b.free) > 0 {\n\t\tx := b.free[len(b.free)-1]\n\t\tb.free = b.free[:len(b.free)-1]\n\t\treturn x\n\t}\n\treturn fetch(k) // call\n", "each caller has what the call returns to itself"},
		{"a free list from the front", "\tif len(b.free) > 0 {\n\t\tx := b.free[0]\n\t\tb.free = b.free[1:]\n\t\treturn x\n\t}\n\treturn fetch(k) // call\n", "each caller has what the call returns to itself"},
		{"a channel of free ones", "\tselect {\n\tcase x := <-b.ready:\n\t\treturn x\n\tdefault:\n\t}\n\treturn fetch(k) // call\n", "each caller has what the call returns to itself"},
		{"a pool", "\tif x := b.pool.Get(); x != nil {\n\t\treturn x.(*ticket)\n\t}\n\treturn fetch(k) // call\n", "each caller has what the call returns to itself"},
		{"one variable for both", "\tvar x *ticket\n\tif len(b.free) > 0 {\n\t\tx, b.free = b.free[0], b.free[1:]\n\t}\n\tif x == nil {\n\t\tx = fetch(k) // call\n\t}\n\treturn x\n", "each caller has what the call returns to itself"},
		{"a job is taken, and done", "\tx := <-b.ready\n\treturn fetch(x.name) // call\n", "If several may share what the call returns"},
		{"a slot is taken, and a cache looked at", "\t<-b.ready\n\tif x, ok := b.all[k]; ok {\n\t\treturn x\n\t}\n\tx := fetch(k) // call\n\tb.all[k] = x\n\treturn x\n", advice},
		{"a list of a type of its own", "\tif x := b.more.Pop(); x != nil {\n\t\treturn x\n\t}\n\treturn fetch(k) // call\n", "each caller has what the call returns to itself"},
		{"the first of a list", "\tif x := b.more.Top(); x != nil {\n\t\treturn x\n\t}\n\treturn fetch(k) // call\n", "If several may share what the call returns"},
		{"a Get that is no pool's", "\tif x := b.more.Get(); x != nil {\n\t\treturn x\n\t}\n\treturn fetch(k) // call\n", "If several may share what the call returns"},
		{"a pool that is given something", "\tb.pool.Put(k)\n\tif b.last != nil {\n\t\treturn b.last\n\t}\n\treturn fetch(k) // call\n", "If several may share what the call returns"},
		{"a list that is emptied", "\tif len(b.free) > 9 {\n\t\tx := b.free[0]\n\t\tb.free = b.free[:0]\n\t\treturn x\n\t}\n\treturn fetch(k) // call\n", "If several may share what the call returns"},
		{"a part of another list", "\tb.rest = b.free[1:]\n\tif len(b.rest) > 0 {\n\t\treturn b.rest[0]\n\t}\n\treturn fetch(k) // call\n", "If several may share what the call returns"},
		{"a list of the call's own", "\tfree := ask(k)\n\tif len(free) > 0 {\n\t\tx := free[0]\n\t\tfree = free[1:]\n\t\treturn x\n\t}\n\treturn fetch(k) // call\n", "If several may share what the call returns"},
		{"the end of all", "\tselect {\n\tcase <-b.ctx.Done():\n\t\treturn b.last\n\tdefault:\n\t}\n\treturn fetch(k) // call\n", "If several may share what the call returns"},
		{"a condition", "\tif !b.closed {\n\t\treturn b.last\n\t}\n\treturn fetch(k) // call\n", "If several may share what the call returns"},
		{"a slot is taken, or nothing is returned", "\tif x := <-b.ready; x == nil {\n\t\treturn nil\n\t}\n\treturn fetch(k) // call\n", "If several may share what the call returns"},
		{"a job is taken, and its answer has a name", "\tjob := <-b.ready\n\tx := fetch(job.name) // call\n\treturn x\n", "If several may share what the call returns"},
		{"what is called keeps it", "\treturn fetch(k) // call\n", advice},
		{"nothing shows it", "\treturn fetch(k) // call\n", "If several may share what the call returns, which the source does not show: let one request"},
	} {
		text := head + c.body + "}\n"
		if c.name == "what is called keeps it" {
			text = strings.Replace(text, "{ return ask(k) } // fetch", "{ // fetch\n\tx := ask(k)\n\tkept[k] = x\n\treturn x\n}", 1)
		}
		at := func(fn, mark string) stack.Frame {
			return stack.Frame{Func: fn, File: "a.go", Line: 1 + strings.Count(text[:strings.Index(text, mark)], "\n")}
		}
		f := Finding{Severity: Warning, Advice: advice}
		tellShared(codeOf(text), []stack.Frame{at("main.fetch", "// fetch"), at("main.(*box).get", "// call")}, &f)
		if !strings.Contains(f.Advice, c.want) || strings.HasPrefix(f.Advice, "If several") != strings.HasPrefix(c.want, "If several") || (f.Severity == Info) != strings.HasPrefix(c.want, "each") {
			t.Errorf("%s: %s %s", c.name, f.Severity, f.Advice)
		}
	}
	f := Finding{Advice: advice}
	if tellShared(codeOf("package main\n"), []stack.Frame{{Func: "main.a", File: "x.go", Line: 3}, {Func: "main.b", File: "x.go", Line: 9}}, &f); f.Advice != advice {
		t.Errorf("without sources: %s", f.Advice)
	}
}

// TestSharedAround: what a handler without a name keeps in a variable of the function around it lives on; what it has made itself does not.
func TestSharedAround(t *testing.T) {
	const head = "package main\n\nimport \"net/http\"\n\ntype cache struct{ data map[string]string }\n\nfunc (c *cache) Get(k string) (string, bool) { v, ok := c.data[k]; return v, ok }\nfunc (c *cache) Set(k, v string) { c.data[k] = v }\n\nfunc load() (string, error) { return ask() } // load\n\nfunc main() {\n"
	const handler = "\thttp.HandleFunc(\"/\", func(w http.ResponseWriter, r *http.Request) {\n"
	const body = "\t\tv, ok := c.Get(\"a\")\n\t\tif !ok {\n\t\t\tvar err error\n\t\t\tif v, err = load(); err != nil { // call\n\t\t\t\treturn\n\t\t\t}\n\t\t\tc.Set(\"a\", v)\n\t\t}\n\t\tw.Write([]byte(v))\n\t})\n}\n"
	for text, plain := range map[string]bool{
		head + "\tc := &cache{}\n" + handler + body:   true,
		head + handler + "\t\tc := &cache{}\n" + body: false,
	} {
		at := func(fn, mark string) stack.Frame {
			return stack.Frame{Func: fn, File: "a.go", Line: 1 + strings.Count(text[:strings.Index(text, mark)], "\n")}
		}
		f := Finding{Advice: "Let one request do it."}
		if tellShared(codeOf(text), []stack.Frame{at("main.load", "// load"), at("main.main.func1", "// call")}, &f); strings.HasPrefix(f.Advice, "Let one") != plain {
			t.Errorf("%v of %s: %s", plain, text, f.Advice)
		}
	}
}
