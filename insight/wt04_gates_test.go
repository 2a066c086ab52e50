package insight

import (
	"testing"

	"loupe/value/stack"
)

// TestGateOfMethods: a semaphore whose slots are taken by a method, of a channel that a function makes with the size that it is
// given, is read with its limit and the line behind which one is inside; where that is made for several sizes, none is known.
func TestGateOfMethods(t *testing.T) {
	const (
		enter = "type gate struct{ c chan bool }\nfunc (g *gate) enter() { g.c <- true /*1*/ }\n"
		makes = "func newGate(n int) *gate { return &gate{make(chan bool, n)} }\n"
		get   = "func (m *mirror) get() {\nm.gate.enter() /*2*/\ndefer m.gate.leave()\n}\n"
	)
	for _, c := range []struct {
		name, text string
		cpus       bool
		n          int64
		entry      int // of the numbered lines
	}{
		{"made by a function", enter + get + makes + "func main() { g := newGate(runtime.GOMAXPROCS(0)) }", true, 0, 1},
		{"of a number", enter + get + makes + "func main() { g := newGate(8) }", false, 8, 1},
		{"with names", enter + get + "func newGate(n int) *gate { return &gate{c: make(chan bool, n)} }\nfunc main() { g := newGate(runtime.NumCPU()) }", true, 0, 1},
		{"set later", enter + get + "func newGate(n int) *gate {\ng := &gate{}\ng.c = make(chan bool, n)\nreturn g\n}\nfunc main() { g := newGate(runtime.NumCPU()) }", true, 0, 1},
		{"of two sizes", enter + get + makes + "func main() { g, h := newGate(2), newGate(runtime.NumCPU()) }", false, 0, 1},
		{"of messages", "type gate struct{ c chan job }\nfunc (g *gate) enter() { g.c <- job{} /*1*/ }\n" + get + "func newGate(n int) *gate { return &gate{make(chan job, n)} }\nfunc main() { g := newGate(8) }", false, 0, 1},
		{"it does more", "type gate struct{ c chan bool }\nfunc (g *gate) enter() {\ng.c <- true /*1*/\nask()\n}\n" + get + makes + "func main() { g := newGate(8) }", false, 8, 0},
	} {
		at := numbered("package main\n\n" + c.text)
		at[0].Func = "main.(*gate).enter"
		code := sourcesOf(c.text)
		frames := []stack.Frame{{Func: "runtime.chansend1"}, at[0], at[1]}
		s := semaphoreOn(code, at[0], frames)
		known := s != nil && (s.cpus || s.n > 0)
		if known != (c.cpus || c.n > 0) || known && (s.cpus != c.cpus || s.n != c.n) {
			t.Errorf("%s: %+v", c.name, s)
		}
		if got := entryOf(code.code, at[0], frames); got != at[c.entry] {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
