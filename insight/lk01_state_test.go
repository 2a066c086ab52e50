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
	const head = "package main\n\nimport (\n\t\"crypto/sha256\"\n\t\"sort\"\n\t\"sync\"\n)\n\ntype book struct {\n\tmu sync.Mutex\n\thead []byte\n\titems []item\n\tpages map[string]string\n\tsum int\n\tn int\n\th hash.Hash\n}\n\n" +
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
	}
}
