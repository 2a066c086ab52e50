package explain

import (
	"fmt"
	"strings"
	"testing"

	"loupe/format/dump"
	"loupe/format/symbol"
)

// told says what is told of the frames of the first goroutine of a dump, one in a
// line. The sources are files by name.
func told(t *testing.T, text string, sources map[string]string) string {
	t.Helper()
	f := dump.Parse([]byte(text))
	if f.Len() == 0 {
		t.Fatal("there is no goroutine")
	}
	opt := Options{Sources: Sources{
		Read: func(file, _ string) []byte {
			if s, ok := sources[file]; ok {
				return []byte(s)
			}
			return nil
		},
		Beside: func(file, _ string) (names []string) {
			for name := range sources {
				if name != file {
					names = append(names, name)
				}
			}
			return names
		},
	}}
	frames, err := New(f, opt).Goroutine(0)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, x := range frames {
		fmt.Fprintf(&b, "%s:", x.Call.Func)
		for _, p := range x.Params {
			fmt.Fprintf(&b, " %s %s = %s (%s);", p.Name, p.Type, p.Text, p.State)
		}
		if x.Why != "" {
			fmt.Fprintf(&b, " %s", x.Why)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// The listings of documents about stack traces, with the words that stand there.
const (
	example1 = `package main

func main() {
    // We are making a slice of length 2, capacity 4 and then passing that
    // slice value into a function call example.
	// example takes a slice, a string, and an integer.



	example(make([]string, 2, 4), "hello", 10)
}

// examples call the built-in function panic to demonstrate the stack traces.
func example(slice []string, str string, i int) {
	panic("Want stack trace")
}
`
	trace1 = `panic: Want stack trace

goroutine 1 [running]:
main.example(0xc00003a710, 0x2, 0x4, 0x47365d, 0x5, 0xa)
        /home/gopher/stack_trace/example1/example1.go:15 +0x39
main.main()
        /home/gopher/stack_trace/example1/example1.go:10 +0x72
exit status 2
`
	trace2 = `panic: Want stack trace

goroutine 1 [running]:
main.example(0xc019010001)
        /home/gopher/stack_trace/example2/example2.go:15 +0x39
main.main()
        /home/gopher/stack_trace/example2/example2.go:10 +0x29
exit status 2
`
	dir = "/home/gopher/stack_trace/"
)

// TestListings explains the listings by their source as the documents do by hand.
func TestListings(t *testing.T) {
	got := told(t, trace1, map[string]string{dir + "example1/example1.go": example1})
	if want := "main.example: slice []string = len 2, cap 4, at 0xc00003a710 (live); str string = len 5, at 0x47365d (live); i int = 10 (live);\nmain.main:\n"; got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
	example2 := strings.Replace(example1, "slice []string, str string, i int", "b1, b2, b3 bool, i uint8", 1)
	got = told(t, trace2, map[string]string{dir + "example2/example2.go": example2})
	if want := "main.example: b1 bool = true (live); b2 bool = false (live); b3 bool = true (live); i uint8 = 25 (live);\nmain.main:\n"; got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
}

// TestSource: what the syntax alone tells, and where it tells nothing.
func TestSource(t *testing.T) {
	const types = "package p\n\ntype Level int8\ntype Point struct{ X, Y int32 }\ntype Shape interface{ Area() int }\ntype Box struct { Point; Name string }\n"
	f := func(decl, function, args, want string) {
		t.Helper()
		text := "goroutine 1 [running]:\n" + function + "(" + args + ")\n\t/p/f.go:4 +0x1\nmain.other({0x1?, 0x2})\n\t/p/o.go:1 +0x1\n"
		source := "package p\n\n" + decl + " {\n\tx()\n}\n"
		got, _, _ := strings.Cut(told(t, text, map[string]string{"/p/f.go": source, "/p/types.go": types}), "\n")
		if got = strings.TrimSpace(strings.TrimPrefix(got, function+":")); got != want {
			t.Errorf("%s(%s): %s, want %s", function, args, got, want)
		}
	}
	f("func F(l Level, p Point, s Shape)", "p.F", "0xff, {0x1, 0xffffffff}, {0x5, 0x6}", "l Level = -1 (live); p Point = {X: 1, Y: -1} (live); s Shape = type at 0x5, value at 0x6 (live);")
	f("func (b *Box) F(names ...string) (int, error)", "p.(*Box).F", "0xc000012340, {0x0, 0x0, 0x0}", "b *Box = 0xc000012340 (live); names []string = nil (live);")
	f("func F(b Box)", "p.F", "{{0x1, 0x2}, {0x3, 0x4}}", "b Box = {Point: {X: 1, Y: 2}, Name: len 4, at 0x3} (live);")
	f("func F(x time.Duration, y other.Thing, z int)", "p.F", "0x1, {0x2, 0x3}, 0x4", "x time.Duration = 0x1 (live); y other.Thing = {0x2, 0x3} (live); z int = 4 (live);")
	f("func F(a [2]bool, c complex64, m map[string]int)", "p.F", "{0x1, 0x0}, {0x3f800000, 0x40000000}, 0x0", "a [2]bool = [true, false] (live); c complex64 = (1+2i) (live); m map[string]int = nil (live);")
	f("func F(a, b int)", "p.F", "0x1?, 0x2", "a int = 0x1? (stale); b int = 2 (live);")
	f("func F(s string, n []int)", "p.F", "{0x1?, 0x2}, {0x3, 0x4?, 0x5}", "s string = len 2, at 0x1? (partly); n []int = len 0x4?, cap 5, at 0x3 (partly);")
	f("func F(int, string)", "p.F", "0x1, {0x2, 0x3}", "int = 1 (unmarked);  string = len 3, at 0x2 (unmarked);")
	f("func F(ok bool, n []int)", "p.F", "0x7, {0x1, 0x9, 0x3}", "ok bool = 0x7 (stale); n []int = {0x1, 0x9, 0x3} (stale);")
	f("func F(a, b, c, d, e string, f int)", "p.F", "{0x1, 0x1}, {0x1, 0x1}, {0x1, 0x1}, {0x1, 0x1}, {0x1, 0x1}, ...", "a string = len 1, at 0x1 (live); b string = len 1, at 0x1 (live); c string = len 1, at 0x1 (live); d string = len 1, at 0x1 (live); e string = len 1, at 0x1 (live); f int = not printed (hidden);")
	f("func G(a int)", "p.F", "0x1", otherSource)
	f("func F(a, b int)", "p.F", "0x1", oddSource)
	f("func F(a string)", "p.F", "{0x1, 0x2, 0x3}", oddSource)
	f("//go:linkname timeSleep time.Sleep\nfunc timeSleep(ns int64)", "time.Sleep", "0x5", "ns int64 = 5 (live);")
	f("//go:linkname F\nfunc F(n int)", "p.F", "0x5", "n int = 5 (live);")
	f("func timeSleep(ns int64)", "time.Sleep", "0x5", otherSource)
	f("var v = func(n int)", "p.init.func1", "0x5", "n int = 5 (live);")
}

// TestUnnamed: words are given to parameters only where there is one way.
func TestUnnamed(t *testing.T) {
	integer := &symbol.Type{Name: "int", Kind: symbol.Int, Size: 8, Align: 8}
	small := &symbol.Type{Name: "int8", Kind: symbol.Int, Size: 1, Align: 1}
	text := &symbol.Type{Name: "string", Kind: symbol.String, Size: 16, Align: 8}
	word, str := dump.Arg{Value: 1}, dump.Arg{Kind: dump.Aggregate, Fields: []dump.Arg{{Value: 1}, {Value: 2}}}
	f := func(want string, types []*symbol.Type, args []dump.Arg, sizes ...uint8) {
		t.Helper()
		var params []symbol.Param
		for _, x := range types {
			params = append(params, symbol.Param{Name: "p", Type: x})
		}
		var shape []symbol.ArgShape
		for _, n := range sizes {
			s := symbol.ArgShape{Size: n}
			if n == 0 {
				s = symbol.ArgShape{Kind: symbol.ArgAggregate, Fields: []symbol.ArgShape{{Size: 8}, {Size: 8}}}
			}
			shape = append(shape, s)
		}
		at, ok := align(params, args, shape, 8)
		if got := fmt.Sprint(at, ok); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	f("[0 1] true", []*symbol.Type{integer, text}, []dump.Arg{word, str})
	f("[] false", []*symbol.Type{text, integer}, []dump.Arg{word, str})
	f("[-1 0 -1] true", []*symbol.Type{text}, []dump.Arg{word, str, word})
	f("[] false", []*symbol.Type{integer}, []dump.Arg{word, word})
	f("[-1 0] true", []*symbol.Type{small}, []dump.Arg{word, word}, 8, 1)
	f("[0 -1] true", []*symbol.Type{small}, []dump.Arg{word, str}, 1, 0)
	f("[] false", []*symbol.Type{small}, []dump.Arg{word}, 8)
}
