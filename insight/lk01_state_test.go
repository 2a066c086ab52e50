package insight

import (
	"strings"
	"testing"

	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestStateMade: work of which the next state of what a lock guards is made, of the one that is there, cannot be done without the lock; work on a copy, or
// of which the result is only stored, can.
func TestStateMade(t *testing.T) {
	const head = "package main\n\nimport (\n\t\"crypto/sha256\"\n\t\"sort\"\n\t\"sync\"\n)\n\ntype book struct {\n\tmu sync.RWMutex\n\thead []byte\n\titems []item\n\tpages map[string]string\n\tsum int\n\tn int\n\th hash.Hash\n\tlast *item\n}\n\ntype item struct {\n\tlist []part\n\tsum []byte\n}\n\ntype part struct{ args []byte }\n\n" +
		"func mix(a, b []byte) []byte {\n\treturn a // deep\n}\n\nfunc (b *book) add(k string, x []byte) string {\n\tb.mu.Lock() // lock\n\tdefer b.mu.Unlock()\n"
	mix, add := "mix deep", "(*book).add call"
	for _, c := range []struct {
		name, body string
		stack      []string
		place      string
	}{
		{"the next of the last", "\tb.head = mix(b.head, x) // call\n\treturn k\n}\n", []string{mix, add}, "b.head"},
		{"by variables", "\told := b.head\n\tnext := mix(old, x) // call\n\tb.head = next\n\treturn k\n}\n", []string{mix, add}, "b.head"},
		{"an item by those that are there", "\tx := mix(b.items, k) // call\n\tb.items = append(b.items, x)\n\treturn k\n}\n", []string{mix, add}, "b.items"},
		{"on one line", "\tb.items = append(b.items, mix(b.items, x)) // call\n\treturn k\n}\n", []string{mix, add}, "b.items"},
		{"by its key", "\tb.pages[k] = mix(b.pages[k], x) // call\n\treturn k\n}\n", []string{mix, add}, "b.pages[k]"},
		{"all of a map", "\tb.pages[k] = mix(b.pages, x) // call\n\treturn k\n}\n", []string{mix, add}, "b.pages[k]"},
		{"in a method", "\tb.next(x) // call\n\treturn k\n}\n\nfunc (b *book) next(x []byte) {\n\tb.head = mix(b.head, x) // inner\n}\n", []string{mix, "(*book).next inner", add}, "b.head"},
		{"by a method that reads it", "\tb.head = b.sealed(x) // call\n\treturn k\n}\n\nfunc (b *book) sealed(x []byte) []byte {\n\treturn mix(b.head, x) // inner\n}\n", []string{mix, "(*book).sealed inner", add}, "b.head"},
		{"in a loop", "\tn := b.sum\n\tfor i := range x {\n\t\tn = n*31 + i // call\n\t}\n\tb.sum = n\n\treturn k\n}\n", []string{add}, "b.sum"},
		{"a hash that goes on", "\tb.h.Write(x) // call\n\treturn k\n}\n", []string{"crypto/sha256.(*digest).Write", add}, "b.h"},
		{"sorted in its place", "\tsort.Slice(b.items, less) // call\n\treturn k\n}\n", []string{"sort.Slice", add}, "b.items"},

		{"a page", "\tp := mix(k, x) // call\n\tb.pages[k] = p\n\treturn p\n}\n", []string{mix, add}, ""},
		{"an item of its own", "\tb.items = append(b.items, mix(k, x)) // call\n\treturn k\n}\n", []string{mix, add}, ""},
		{"a sum", "\tb.sum += len(mix(k, x)) // call\n\treturn k\n}\n", []string{mix, add}, ""},
		{"what was copied", "\titems := slices.Clone(b.items)\n\treturn mix(items, x) // call\n}\n", []string{mix, add}, ""},
		{"a number beside it", "\tb.n++\n\tp := mix(k, x) // call\n\tb.pages[k] = p\n\treturn p\n}\n", []string{mix, add}, ""},
		{"a total that is shown", "\ttotal := b.sum\n\tp := mix(total, x) // call\n\tb.sum = total + 1\n\treturn p\n}\n", []string{mix, add}, ""},
		{"a buffer of the function", "\tvar out strings.Builder\n\tout.WriteString(b.head) // call\n\tb.n++\n\treturn out.String()\n}\n", []string{"strings.(*Builder).WriteString", add}, ""},
		{"when it is let go", "\tb.mu.Unlock()\n\tp := mix(b.head, x) // call\n\tb.mu.Lock()\n\tb.n++\n\treturn p\n}\n", []string{mix, add}, ""},

		// What the function has made itself, or is handed by one that has, is nobody else's.
		{"a deep copy", "\tp := b.items[0].deep() // call\n\treturn p\n}\n\nfunc (p *item) deep() *item {\n\td := *p\n\td.list = make([]part, len(p.list))\n\tfor i, c := range p.list {\n\t\tc.args = mix(c.args, nil)\n\t\td.list[i] = c // inner\n\t}\n\treturn &d\n}\n", []string{"(*item).deep inner", add}, ""},
		{"a part of the copy", "\tp := b.items[0].deep() // call\n\treturn p\n}\n\nfunc (p *item) deep() *item {\n\td := *p\n\td.sum = mix(d.sum, nil) // inner\n\treturn &d\n}\n", []string{mix, "(*item).deep inner", add}, ""},
		{"what the copy shares", "\tp := b.items[0].deep() // call\n\treturn p\n}\n\nfunc (p *item) deep() *item {\n\td := *p\n\td.list[0] = mix(d.list[0], nil) // inner\n\treturn &d\n}\n", []string{mix, "(*item).deep inner", add}, "d.list[0]"},
		{"the item itself", "\tb.items[0].seal() // call\n\treturn k\n}\n\nfunc (p *item) seal() {\n\tp.sum = mix(p.sum, nil) // inner\n}\n", []string{mix, "(*item).seal inner", add}, "p.sum"},
		{"handed something new", "\tout := &item{}\n\tfill(out, x) // call\n\tuse(out)\n\treturn k\n}\n\nfunc fill(out *item, x []byte) {\n\tout.sum = mix(out.sum, x) // inner\n}\n", []string{mix, "fill inner", add}, ""},
		{"handed a value's address", "\tvar out item\n\tfill(&out, x) // call\n\treturn k\n}\n\nfunc fill(out *item, x []byte) {\n\tout.sum = mix(out.sum, x) // inner\n}\n", []string{mix, "fill inner", add}, ""},
		{"handed what is there", "\tout := b.last\n\tfill(out, x) // call\n\treturn k\n}\n\nfunc fill(out *item, x []byte) {\n\tout.sum = mix(out.sum, x) // inner\n}\n", []string{mix, "fill inner", add}, "out.sum"},
		{"handed what others have by now", "\tout := &item{}\n\tb.last = out\n\tfill(out, x) // call\n\treturn k\n}\n\nfunc fill(out *item, x []byte) {\n\tout.sum = mix(out.sum, x) // inner\n}\n", []string{mix, "fill inner", add}, "out.sum"},
		{"a library's copy", "\tc := lib.Clone(b.last)\n\tc.sum = mix(c.sum, x) // call\n\tuse(c)\n\treturn k\n}\n", []string{mix, add}, ""},
		{"a library's copy, as a value of any type", "\tc := lib.Clone(b.last).(*item)\n\tc.sum = mix(c.sum, x) // call\n\tuse(c)\n\treturn k\n}\n", []string{mix, add}, ""},
		{"a copy that others have by now", "\tc := lib.Clone(b.last)\n\tb.last = c\n\tc.sum = mix(c.sum, x) // call\n\treturn k\n}\n", []string{mix, add}, "c.sum"},
		{"a new list is sorted", "\tout := &book{items: make([]item, 3)}\n\tout.order() // call\n\treturn k\n}\n\nfunc (b *book) order() {\n\tsort.Slice(b.items, less) // inner\n}\n", []string{"sort.Slice", "(*book).order inner", add}, ""},
		{"the same list is sorted", "\tout := &book{items: b.items}\n\tout.order() // call\n\treturn k\n}\n\nfunc (b *book) order() {\n\tsort.Slice(b.items, less) // inner\n}\n", []string{"sort.Slice", "(*book).order inner", add}, "b.items"},
		// A plain store leaves nothing of what was there.
		{"a plain store", "\tb.pages[k] = k // call\n\treturn k\n}\n", []string{add}, ""},
		{"a count", "\tb.n++ // call\n\treturn k\n}\n", []string{add}, "b.n"},
		{"put at the end", "\tb.items = append(b.items, item{}) // call\n\treturn k\n}\n", []string{add}, "b.items"},
		// Several hold it at once.
		{"for reading", "\tb.mu.Unlock()\n\treturn k\n}\n\nfunc (b *book) show(x []byte) {\n\tb.mu.RLock()\n\tdefer b.mu.RUnlock()\n\tb.head = mix(b.head, x) // inner\n}\n", []string{mix, "(*book).show inner"}, ""},
		{"for writing, elsewhere", "\tb.mu.Unlock()\n\treturn k\n}\n\nfunc (b *book) show(x []byte) {\n\tb.mu.Lock()\n\tdefer b.mu.Unlock()\n\tb.head = mix(b.head, x) // inner\n}\n", []string{mix, "(*book).show inner"}, "b.head"},
	} {
		text := head + c.body
		var frames []stack.Frame
		for _, m := range c.stack {
			fn, mark, own := strings.Cut(m, " ")
			if !own {
				frames = append(frames, stack.Frame{Func: m, File: "/go/lib.go", Line: 1})
				continue
			}
			frames = append(frames, stack.Frame{Func: "main." + fn, File: "a.go", Line: 1 + strings.Count(text[:strings.Index(text, "// "+mark)], "\n")})
		}
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1")
		withSource(r, "a.go", text)
		code := NewInput(session.New(r.Open())).code
		lock := stack.Frame{Func: "main.(*book).add", File: "a.go", Line: 1 + strings.Count(text[:strings.Index(text, "// lock")], "\n")}
		made, ok := stateMadeBy(code, lock, frames)
		if made.place != c.place || ok != (c.place != "") {
			t.Errorf("%s: %+v %t", c.name, made, ok)
		}
		said := underAdvice(code, lock, frames)
		if reads := strings.Contains(c.body, "RLock"); strings.Contains(said, "It needs the lock") != (c.place != "") || strings.Contains(said, "done under b.mu.RLock (a.go:") != reads {
			t.Errorf("%s: %s", c.name, said)
		}
	}
}
