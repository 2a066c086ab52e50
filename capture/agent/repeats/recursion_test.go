package repeats

import (
	"fmt"
	"strings"
	"testing"
)

// recurse calls f as function 1, with arguments, and gives it its own calls.
func recurse(args []any, f func(call func(args ...any) any) any) (result any) {
	counted(1, args, func() []any {
		result = f(func(args ...any) any { return recurse(args, f) })
		return []any{result}
	})
	return result
}

// tree is what walk goes through.
type tree struct{ kids []*tree }

// walk goes through a tree by function 1, which returns nothing or is a literal.
func walk(t *tree, literal bool) (n int) {
	gr := Enter(1)
	if literal {
		gr.Nested(t)
	} else {
		gr.Begins(t)
	}
	n = 1
	for _, k := range t.kids {
		n += walk(k, literal)
	}
	if literal {
		gr.Leave(false, n)
	} else {
		gr.Leave(false)
	}
	return n
}

// TestRecursion: of the calls of a function within itself those are seen that had the arguments of one that has ended.
func TestRecursion(t *testing.T) {
	fib := func(n int) func() {
		var f func(n int) int
		f = func(n int) (r int) {
			counted(1, []any{n}, func() []any {
				if r = n; n > 1 {
					r = f(n-1) + f(n-2)
				}
				return []any{r}
			})
			return r
		}
		return func() { f(n) }
	}
	shared := &tree{}
	paths := &tree{[]*tree{shared, {[]*tree{shared}}, shared}}
	for _, test := range []struct {
		name   string
		do     func()
		counts string // AROUND CALLS DISTINCT AGAIN TOPS SAME DIFFER CHANGED; empty where nothing repeats
	}{
		{"two that come to the same", fib(5), "1 14 5 9 3 9 0 0"},
		{"twice", func() { fib(3)(); fib(3)() }, "2 8 6 2 2 2 0 0"},
		{"zero is an argument", func() {
			recurse([]any{1}, func(call func(...any) any) any { return nil })
			n := 0
			recurse([]any{1}, func(call func(...any) any) any {
				if n++; n == 1 {
					call(0)
					call(0)
				}
				return 7
			})
		}, "1 2 1 1 1 1 0 0"},
		{"other results", func() {
			n := 0
			recurse([]any{1}, func(call func(...any) any) any {
				if n++; n == 1 {
					call(2)
					call(2)
				}
				return n
			})
		}, "1 2 1 1 1 1 1 0"},
		{"the same place with something else in it", func() {
			at, n := &node{}, 0
			recurse([]any{1}, func(call func(...any) any) any {
				if n++; n == 1 {
					call(at)
					at.n++
					call(at)
				}
				return "x"
			})
		}, "1 2 1 1 1 0 0 0"},
		{"lists of structures in different places", func() {
			n := 0
			recurse([]any{1}, func(call func(...any) any) any {
				if n++; n == 1 {
					call([]node{{n: 1}})
					call([]node{{n: 1}})
				}
				return "x"
			})
		}, ""},
		{"a result that is changed", func() {
			n := 0
			recurse([]any{1}, func(call func(...any) any) any {
				if n++; n == 1 {
					call(2).([]int)[0]++
					call(2)
				}
				return []int{5}
			})
		}, "1 2 1 1 1 1 0 1"},
		{"what is not asked twice", func() {
			n := 0
			recurse([]any{0}, func(call func(...any) any) any {
				if n++; n < 9 {
					call(n)
				}
				return n
			})
		}, ""},
		{"nothing is returned", func() { walk(paths, false) }, "1 4 2 2 2 0 0 0"},
		{"a literal", func() { walk(paths, true) }, "1 4 2 2 2 0 0 0"},
	} {
		reset()
		test.do()
		var text strings.Builder
		fns[1].writeRecursion(&text, 1, nil)
		v := strings.Fields(text.String())
		got := ""
		if len(v) == 16 {
			got = strings.Join([]string{v[2], v[4], v[5], v[6], v[7], v[9], v[10], v[11]}, " ")
		}
		if got != test.counts {
			t.Errorf("%s: %q, want %q", test.name, text.String(), test.counts)
		}
	}
}

// TestRecursionOpen: what has not ended when the program does counts, with the part of a call again that goes on; and what is called after
// counting has ended changes no figure but that of different results.
func TestRecursionOpen(t *testing.T) {
	reset()
	gr := Enter(1)
	gr.Args(9)
	leaf := func(n, result int) {
		gr.stack[len(gr.stack)-1].start -= 1000
		Enter(1).Args(n)
		gr.Leave(false, result)
	}
	leaf(1, 5)
	leaf(2, 5)
	Enter(1).Args(1) // again, and goes on
	leaf(2, 5)
	n := gr.stack[0].nested
	if n.calls != 3 || n.again != 1 || n.open < 1000 || n.open > n.ns || n.tops != 0 {
		t.Errorf("%+v", n.recursed)
	}
	var text strings.Builder
	fns[1].writeRecursion(&text, 1, []nested{{open: n.open, recursed: n.recursed}})
	if v := strings.Fields(text.String()); len(v) != 16 || v[7] != "1" || v[8] != fmt.Sprint(n.open) {
		t.Errorf("%q, open %d", text.String(), n.open)
	}
	fns[1].off.Store(true)
	fns[1].later.Store(seldom - 1)
	was := n.recursed
	leaf(2, 6)
	if was.differ++; n.recursed != was {
		t.Errorf("%+v, want %+v", n.recursed, was)
	}
	gr.Leave(false, 5)
	gr.Leave(false, 5)
	if r := fns[1].recursion.Load(); r == nil || r.around != 1 || r.calls != 3 || r.tops != 1 {
		t.Errorf("%+v", r)
	}
}
