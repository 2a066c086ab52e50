package insight

import (
	"strings"
	"testing"

	"loupe/session"
	"loupe/value/stack"
)

// TestPoolMisses: a pool that hardly ever has what it is asked for is told by the counts of the branch behind Get, with what is put in; not one that has it often, nor one
// that was not counted.
func TestPoolMisses(t *testing.T) {
	const head = "package main\n\nimport \"sync\"\n\ntype bufs struct {\npool sync.Pool\npools []sync.Pool\nother cache\n}\n\ntype cache struct{}\n\nfunc (cache) Get() any { return nil }\n\n"
	const get = "func (b *bufs) get(n int) []byte { /*9000*/\nif v := b.pool.Get(); v != nil { /*HAD*/\nreturn v.([]byte)\n}\nreturn make([]byte, n) // A\n}\n\n"
	const classes = "func (b *bufs) get(n int) []byte { /*9000*/\nfor i := range b.pools { /*27000*/\nif v := b.pools[i].Get(); v != nil { /*HAD*/\nreturn v.([]byte)\n}\n}\nreturn make([]byte, n) // A\n}\n\nfunc (b *bufs) put(x []byte) { /*9000*/\nfor i := range b.pools { /*9000*/\nif cap(x) > i { /*9000*/\nb.pools[i].Put(x)\nreturn\n}\n}\n}\n"
	const put = "func (b *bufs) put(x []byte) { /*PUT*/\nb.pool.Put(x)\n}\n"
	for _, c := range []struct{ name, source, says, advice string }{
		{"nothing is put in", strings.Replace(get, "HAD", "0", 1), "b.pool had something in 0 of 9,000 times, and nothing was put in", "Nothing is put back"},
		{"little is put in", strings.Replace(get, "HAD", "100", 1) + strings.Replace(put, "PUT", "100", 1), "in 100 of 9,000 times, and 100 values were put in", "Much less is put back"},
		{"all is put in", strings.Replace(get, "HAD", "100", 1) + strings.Replace(put, "PUT", "9000", 1), "9,000 values were put in", "collections that empty it"},
		{"another class", strings.Replace(classes, "HAD", "0", 1), "b.pools[i] had something in 0 of 27,000 times, and 9,000 values were put in", "both have to choose the same pool"},
		{"asked for nothing", "func (b *bufs) get(n int) []byte { /*9000*/\nv := b.pool.Get()\nif v == nil { /*8950*/\nreturn make([]byte, n) // A\n}\nreturn v.([]byte)\n}\n", "in 50 of 9,000 times", "Nothing is put back"},
		{"asked by its type", "func (b *bufs) get(n int) []byte { /*9000*/\nv, ok := b.pool.Get().([]byte)\nif !ok { /*8950*/\nv = make([]byte, n) // A\n}\nreturn v\n}\n", "in 50 of 9,000 times", "Nothing is put back"},

		{"it has it often", strings.Replace(get, "HAD", "8000", 1) + strings.Replace(put, "PUT", "9000", 1), "", ""},
		{"asked seldom", strings.Replace(strings.Replace(get, "HAD", "0", 1), "9000", "90", 1), "", ""},
		{"no pool", strings.Replace(strings.Replace(get, "HAD", "0", 1), "b.pool.Get", "b.other.Get", 1), "", ""},
		{"not counted", strings.Replace(get, " /*HAD*/", "", 1), "", ""},
		{"of one class often", strings.Replace(classes, "HAD", "8900", 1), "", ""},
	} {
		source := head + c.source
		in := NewInput(session.New(countedRecording(t, source, stackAt(source, "main.main:/src/none.go:1 main.(*bufs).get@A")).Open()))
		line := 1 + strings.Count(source[:strings.Index(source, "// A")], "\n")
		m, ok := poolMissesAt(in.code, stack.Frame{Func: "main.(*bufs).get", File: "/src/main.go", Line: line})
		var f Finding
		if ok {
			m.tell(in.code, &f)
		}
		if ok != (c.says != "") || !strings.Contains(f.Summary, c.says) || !strings.Contains(f.Advice, c.advice) {
			t.Errorf("%s: %v: %s → %s", c.name, ok, f.Summary, f.Advice)
		}
	}
}
