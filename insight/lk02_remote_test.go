package insight

import (
	"strings"
	"testing"

	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestAtPeer: what the lock keeps together at a peer is told from a cache that is filled, and a single
// value that all need from one that has a key. The call that is waited for is on the line with
// // call, another that was seen waiting on that with // also.
func TestAtPeer(t *testing.T) {
	const types = "type bank struct {\n\tmu sync.Mutex\n\ttok string\n\tconf *conf\n\texp time.Time\n\terr error\n\tall map[string]string\n}\n\nvar global string\n\n"
	const methods = "\nfunc (b *bank) renew() error { b.tok = dial() // call-in\n\treturn nil }\n\nfunc (b *bank) save() error {\n\terr := send(b.conf) // save-in\n\tb.exp = time.Now()\n\treturn err\n}\n"
	const lock, unlock = "\tb.mu.Lock() // lock\n", "\tdefer b.mu.Unlock()\n"
	for _, c := range []struct{ name, body, says, advice string }{
		{"read, add, write", lock + unlock + "\tv, err := b.read(acc) // call\n\tif err != nil {\n\t\treturn err\n\t}\n\tv += n\n\tif err := b.write(acc, v); err != nil { // also\n\t\treturn err\n\t}\n\treturn nil\n", "line 17 reads, and line 22 writes", "one lock for each acc"},
		{"the write is waited for", lock + unlock + "\tv := b.read(acc) // also\n\tv -= n\n\treturn b.write(acc, v) // call\n", "line 17 reads, and line 19 writes", "one lock for each acc"},
		{"a field of a document", lock + unlock + "\tdoc := rdb.Get(ctx, acc).Val() // call\n\tdoc.Name = name\n\treturn rdb.Set(ctx, acc, doc, 0).Err() // also\n", "line 17 reads", "one lock for each acc"},
		{"of no parameter", lock + unlock + "\tv := b.read(\"total\") // call\n\treturn b.write(\"total\", v+n) // also\n", "line 17 reads", "of different things"},
		{"of another peer's answer, calculated", lock + unlock + "\tv := src.Load(acc) // call\n\tif v < n {\n\t\treturn errLow\n\t}\n\treturn dst.Save(acc, v-n) // also\n", "line 17 reads", "one lock for each acc"},
		{"put into another cache", lock + unlock + "\tv := origin.Fetch(acc) // call\n\treturn near.Save(acc, v) // also\n", "", ""},
		{"a chain of reads", lock + unlock + "\tid := b.find(acc) // call\n\tv := b.get(id) // also\n\tb.all[acc] = v\n\treturn nil\n", "", ""},
		{"a write of something else", lock + unlock + "\tv := b.read(acc) // call\n\tuse(v)\n\treturn b.write(acc, n) // also\n", "", ""},
		{"a new file", lock + unlock + "\tf, err := os.CreateTemp(b.tok, acc) // call\n\tif err != nil {\n\t\treturn err\n\t}\n\treturn os.Rename(f.Name(), acc+\".db\") // also\n", "", ""},
		{"a file that is opened to be written to", lock + unlock + "\tf, err := os.OpenFile(acc, os.O_CREATE|os.O_WRONLY, 0o600) // call\n\tif err != nil {\n\t\treturn err\n\t}\n\treturn os.Rename(f.Name()+\".tmp\", acc) // also\n", "", ""},
		{"a file that is opened to be read", lock + unlock + "\tf, err := os.Open(acc) // call\n\tv := decode(f) + n\n\treturn os.WriteFile(acc, encode(v), 0o600) // also\n", "line 17 reads", "one lock for each acc"},
		{"a new row", lock + unlock + "\tid := b.insert(acc) // call\n\treturn b.update(acc, id+n) // also\n", "", ""},
		{"a new folder", lock + unlock + "\tdir, _ := os.MkdirTemp(\"\", acc) // call\n\treturn os.Rename(dir+\"/x\", acc) // also\n", "", ""},
		{"looked for, and made if it is not there", lock + unlock + "\tv := b.createOrGet(acc) // call\n\treturn b.write(acc, v+n) // also\n", "line 17 reads", "one lock for each acc"},
		{"a name that begins like that", lock + unlock + "\tv := b.address(acc) // call\n\treturn b.write(acc, v+n) // also\n", "line 17 reads", "one lock for each acc"},
		{"a token", lock + unlock + "\tif time.Now().Before(b.exp) {\n\t\treturn b.tok\n\t}\n\tresp, err := hc.Get(url) // call\n\tif err != nil {\n\t\treturn err\n\t}\n\tb.tok, b.exp = resp.Token, time.Now().Add(resp.For)\n\treturn b.tok\n", "one value, b.tok", "in the background"},
		{"fetched if there is none", lock + unlock + "\tif b.conf == nil {\n\t\tb.conf, b.err = fetch(ctx, url) // call\n\t}\n\treturn b.err\n", "one value, b.conf", "in the background"},
		{"by a method", lock + unlock + "\tif old(b.exp) {\n\t\tb.renew() // call\n\t}\n\treturn b.err\n", "one value, b.tok", "in the background"},
		{"of the package", "\tmu.Lock() // lock\n\tdefer mu.Unlock()\n\tif global == \"\" {\n\t\tglobal = fetch(url) // call\n\t}\n\treturn nil\n", "one value, global", "in the background"},
		{"something else is changed before", lock + unlock + "\tb.all[acc] = acc\n\tif b.conf == nil {\n\t\tb.conf, b.err = fetch(ctx, url) // call\n\t}\n\treturn b.err\n", "", ""},
		{"something else is changed by way of a variable", lock + unlock + "\tm := b.part(acc)\n\tm.last = acc\n\tif b.conf == nil {\n\t\tb.conf, b.err = fetch(ctx, url) // call\n\t}\n\treturn b.err\n", "", ""},
		{"asked for is counted before", lock + unlock + "\tb.asked++\n\tif b.conf == nil {\n\t\tb.conf, b.err = fetch(ctx, url) // call\n\t}\n\treturn b.err\n", "one value, b.conf", "in the background"},
		{"stored is when it was sent", lock + unlock + "\tif old(b.exp) {\n\t\treturn b.save() // call\n\t}\n\treturn nil\n", "", ""},
		{"of a key", lock + unlock + "\tif v, ok := b.all[acc]; ok {\n\t\treturn v\n\t}\n\tv := fetch(url) // call\n\tb.all[acc] = v\n\treturn v\n", "", ""},
		{"the last one of a key", lock + unlock + "\tif b.tok != \"\" {\n\t\treturn b.tok\n\t}\n\tb.tok = fetch(acc) // call\n\treturn b.tok\n", "", ""},
		{"made anew each time", lock + unlock + "\tb.tok = fetch(url) // call\n\treturn nil\n", "", ""},
		{"an error that stays", lock + unlock + "\tif b.err != nil {\n\t\treturn b.err\n\t}\n\tb.err = flush() // call\n\treturn b.err\n", "", ""},
	} {
		text := "package main\n\n" + types + "func (b *bank) do(ctx context.Context, acc string, n int) error {\n" + c.body + "}\n" + methods
		line := func(mark string) stack.Frame {
			return stack.Frame{Func: "main.(*bank).do", File: "a.go", Line: 1 + strings.Count(text[:max(0, strings.Index(text, mark))], "\n")}
		}
		r := recordingtest.New("title x")
		withSource(r, "a.go", text)
		code := NewInput(session.New(r.Open())).code
		waits := []stack.Frame{{Func: "internal/poll.(*FD).Read"}, {Func: "net/http.(*Client).Do"}}
		holder := append(waits[:2:2], line("// call\n"))
		if c.name == "by a method" {
			inner := line("// call-in")
			inner.Func = "main.(*bank).renew"
			holder = append(waits[:2:2], inner, line("// call\n"))
		}
		if c.name == "stored is when it was sent" {
			inner := line("// save-in")
			inner.Func = "main.(*bank).save"
			holder = append(waits[:2:2], inner, line("// call\n"))
		}
		p := protectedBy(code, []stack.Frame{{Func: "sync.(*Mutex).Lock"}, line("// lock")}, holder, append(waits[:2:2], line("// also")))
		switch {
		case p == nil && c.says != "":
			t.Errorf("%s: nothing", c.name)
		case p != nil && (c.says == "" || !strings.Contains(p.says, c.says) || !strings.Contains(p.advice, c.advice)):
			t.Errorf("%s: %s: %s", c.name, p.says, p.advice)
		}
	}
}
