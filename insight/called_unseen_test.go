package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestCalledUnseen: of a function that something may call which the sources do not show nobody says that it is never called.
func TestCalledUnseen(t *testing.T) {
	const head = "package main; import (\"encoding/json\"; \"fmt\"; \"net/rpc\"; \"reflect\"; \"text/template\"; \"time\"; \"unsafe\"; \"example.org/lib\")\n\n" +
		"func f(c *cache) { c.m[\"k\"] = &entry{body: make([]byte, 99)} }\n" +
		"func main() {\nc := &cache{m: map[string]*entry{}}\nf(c)\nstart(c)\n}\n" +
		"type entry struct { body []byte }\ntype cache struct { m map[string]*entry }\n" +
		"func (c *cache) Expire() {\nfor k := range c.m {\ndelete(c.m, k)\n}\n}\n"
	const never = "nothing in the sources calls "
	for _, c := range []struct{ name, rest, says string }{
		{"nobody calls it", "func start(c *cache) {}\n", never + "Expire"},
		{"it is called", "func start(c *cache) { go func() { for range time.Tick(1) { c.Expire() } }() }\n", ""},
		{"by its name", "func start(c *cache) { every(c, \"Expire\") }\nfunc every(v any, name string) { reflect.ValueOf(v).MethodByName(name).Call(nil) }\n", "needs a call of Expire (a.go:11), and none in the sources is come to; but it becomes a value of an interface at a.go:16"},
		{"package reflect for something else", "func start(c *cache) { show(c) }\nfunc show(v any) { fmt.Println(reflect.TypeOf(v)) }\n", never + "Expire"},
		{"by its name, of another type", "func start(c *cache) { every(&other{}, \"Run\") }\ntype other struct{}\nfunc (o *other) Go() {}\nfunc every(v any, name string) { reflect.ValueOf(v).MethodByName(name).Call(nil) }\n", never + "Expire"},
		{"by a template", "func start(c *cache) { template.Must(template.New(\"\").Parse(\"{{.Tick}}\")).Execute(nil, c) }\nfunc (c *cache) Tick() string { c.Expire(); return \"\" }\n", "hands it to a function that is not in the sources, which may call it"},
		{"by a template that gets what has it", "func start(c *cache) { t := template.New(\"\"); t.Execute(nil, page{c}) }\ntype page struct { C *cache }\nfunc (c *cache) Tick() string { c.Expire(); return \"\" }\n", "which may call it"},
		{"by a template that gets it in a map", "func start(c *cache) { t := template.New(\"\"); t.Execute(nil, map[string]any{\"c\": c}) }\nfunc (c *cache) Tick() string { c.Expire(); return \"\" }\n", ""},
		{"by a remote call", "func start(c *cache) { rpc.Register(&Admin{c}) }\ntype Admin struct{ c *cache }\nfunc (a *Admin) Purge(_ int, n *int) error { a.c.Expire(); return nil }\n", "hands it to package net/rpc, which may call it"},
		{"by another module", "func start(c *cache) { lib.Manage(c) }\n", "hands it to package example.org/lib, which may call it"},
		{"by another module that gets who makes it", "func start(c *cache) { lib.Provide(newCache) }\nfunc newCache() *cache { return nil }\n", "hands it to package example.org/lib, which may call it"},
		{"another module cannot call what is not exported", "func start(c *cache) { lib.Manage(c) }\nfunc (c *cache) stop() { c.Expire() }\n", ""},
		{"the library calls no such method", "func start(c *cache) { json.Marshal(c); fmt.Println(c) }\n", never + "Expire"},
		{"by another name", "func start(c *cache) {}\nvar c0 *cache\n//go:linkname expire example.org/lib.Hook\nfunc expire() { c0.Expire() }\n", "//go:linkname at a.go:"},
		{"another has another name", "func start(c *cache) {}\nvar c0 *cache\n//go:linkname later example.org/lib.Hook\nfunc later() {}\nfunc expire() { c0.Expire() }\n", never + "expire"},
		{"from C", "func start(c *cache) {}\nvar c0 *cache\n//export expire\nfunc expire() { c0.Expire() }\n", "//export at a.go:"},
		{"beside assembly", "func start(c *cache) {}\nvar c0 *cache\nfunc add(a, b int) int\nfunc expire() { c0.Expire() }\n", "has functions in assembly"},
		{"beside a function of the runtime", "func start(c *cache) {}\nvar c0 *cache\n//go:linkname nanotime runtime.nanotime\nfunc nanotime() int64\nfunc expire() { c0.Expire() }\n", never + "expire"},
	} {
		r := recordingtest.New("title x")
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"}, []byte(head+c.rest))
		at := stack.Frame{Func: "main.f", File: "a.go", Line: 3}
		f := Finding{Severity: Warning}
		tellHolder(NewInput(session.New(r.Open())), &f, at, []stack.Frame{at}, "otherwise")
		said := f.Summary + " " + f.Advice
		if !strings.Contains(said, c.says) || !strings.Contains(c.says, never) && strings.Contains(said, never) || !strings.Contains(said, "c.m") {
			t.Errorf("%s: %s\n%s", c.name, f.Summary, f.Advice)
		}
	}
}
