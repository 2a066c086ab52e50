package explain

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"loupe/format/dump"
	"loupe/format/symbol"
)

const genericProgram = `package main

import "os"

type pair[K comparable, V any] struct {
	k K
	v V
}

//go:noinline
func (p *pair[K, V]) set(k K, v V, n int) { p.k, p.v = k, v; stop(n) }

//go:noinline
func (p pair[K, V]) show(n int, s string) int { stop(n); return len(s) }

//go:noinline
func apply[T any](x []T, f func(T, int) T, n int) T { return f(x[0], n) }

//go:noinline
func closing[T any](x []T, n int) int {
	return call(func(k int, y T, z string) int { stop(k); return k + len(x) + len(z) }, x[0], n)
}

//go:noinline
func call[T any](f func(int, T, string) int, x T, n int) int { return f(n, x, "zet") }

type num struct{ a, b int }

//go:noinline
func (m num) add(k int, s string) int { stop(k); return m.a + k }

//go:noinline
func value(f func(int, string) int, n int) int { return f(n, "hello") }

//go:noinline
func stop(n int) {
	if n == 77 {
		panic("stop")
	}
}

func main() {
	n := 77
	var p pair[string, int]
	switch os.Args[1] {
	case "set":
		p.set("key", 42, n)
	case "show":
		p.show(n, "text")
	case "apply":
		apply([]string{"a", "b"}, func(s string, k int) string { stop(k); return s }, n)
	case "closing":
		closing([]string{"abc"}, n)
	case "value":
		value(num{7, 8}.add, n)
	}
}
`

// TestGenericWords: of generic code Go prints other words than it was called with.
// None of them gets the name of one that is not there.
func TestGenericWords(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "main.go")
	if err := os.WriteFile(file, []byte(genericProgram), 0o644); err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "generic")
	if out, err := exec.Command("go", "build", "-gcflags=-N -l", "-o", bin, file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := os.Open(bin)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := symbol.Open(f, symbol.Options{})
	if err != nil {
		t.Fatal(err)
	}
	read := func(name, _ string) []byte {
		text, _ := os.ReadFile(name)
		return text
	}
	for _, test := range []struct{ arg, function, want string }{
		{"set", "main.(*pair[...]).set", `.dict=&main..dict.pair[string,int] k="key" v=42 n=77`},
		{"show", "main.pair[...].show", `.dict=* n=77 s="text"`},
		{"apply", "main.apply[...]", `x=* f=* n=77`},
		{"closing", "main.closing[...].func1", `y="abc" z="zet"`},
		{"closing", "main.call[...]", `f=* x="abc" n=77`},
		{"closing", "main.closing[...]", `x=* n=77`},
		{"value", "main.num.add", `m={a: 7, b: 8} k=77 s="hello"`},
	} {
		var stderr bytes.Buffer
		c := exec.Command(bin, test.arg)
		c.Stderr = &stderr
		c.Run()
		d := dump.Parse(stderr.Bytes())
		for _, opt := range []Options{{Binary: b}, {Sources: Sources{Read: read}}} {
			frames, err := New(d, opt).Goroutine(0)
			if err != nil {
				t.Fatal(err)
			}
			found := false
			for _, fr := range frames {
				if fr.Call.Func != test.function {
					continue
				}
				found = true
				var got []string
				for _, p := range fr.Params {
					if !p.Result {
						got = append(got, p.Name+"="+p.Text)
					}
				}
				if opt.Binary != nil && !matches(strings.Join(got, " "), test.want) {
					t.Errorf("%s: %s %s, want %s", test.function, got, fr.Why, test.want)
				}
				for _, p := range fr.Params {
					if p.Name == "p" {
						t.Errorf("%s: a receiver that is not printed is %s", test.function, p.Text)
					}
				}
			}
			if !found {
				t.Errorf("%s is not in\n%s", test.function, &stderr)
			}
		}
	}
}

// matches compares words; * stands for any text up to the next one.
func matches(got, want string) bool {
	parts := strings.Split(want, "*")
	for i, part := range parts {
		at := strings.Index(got, part)
		if at < 0 || i == 0 && at != 0 {
			return false
		}
		got = got[at+len(part):]
	}
	return got == "" || parts[len(parts)-1] == ""
}
