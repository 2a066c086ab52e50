package repeats

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// TestLoops: what loops go through is told apart by where it lies and by what it is.
func TestLoops(t *testing.T) {
	type item struct{ id, seen int }
	list := func(n int) []item {
		out := make([]item, n)
		for i := range out {
			out[i].id = i
		}
		return out
	}
	for _, test := range []struct {
		name string
		over func() func(i int) any
		want string
	}{
		{"the same list", func() func(int) any { l := list(50); return func(int) any { return l } }, "10 10 500 1 9 9"},
		{"another one each time", func() func(int) any {
			all := [][]item{}
			return func(i int) any {
				all = append(all, list(50+i))
				for k := range all[i] {
					all[i][k].id += 100 * i
				}
				return all[i]
			}
		}, "10 10 545 10 9 0"},
		{"one in whose memory another one is read each time", func() func(int) any {
			l := list(50)
			return func(i int) any {
				for k := range l {
					l[k].id = 100*i + k
				}
				return l
			}
		}, "10 10 500 10 9 0"},
		{"one that shrinks", func() func(int) any { l := list(50); return func(i int) any { return l[i:] } }, "10 10 455 10 9 9"},
		{"a map that shrinks", func() func(int) any {
			m := map[int]bool{}
			for i := range 50 {
				m[i] = true
			}
			return func(i int) any { delete(m, i); return m }
		}, "10 10 445 10 9 9"},
		{"one of which an element changes", func() func(int) any {
			l := list(50)
			return func(i int) any { l[0].id = i; return l }
		}, "10 10 500 10 9 9"},
		{"elements elsewhere, which change", func() func(int) any {
			l := []*item{{}, {}}
			return func(i int) any { l[0].seen = i; return l }
		}, "10 10 20 1 9 9"},
		{"short lists of other elements", func() func(int) any {
			return func(i int) any { return []int{10 * i, 10*i + 1, 10*i + 2} }
		}, "10 10 30 10 9 0"},
		{"the same short list", func() func(int) any { return func(int) any { return []int{1, 2, 3} } }, "10 10 30 1 9 9"},
		{"large elements", func() func(int) any {
			l := make([][300]int, 40)
			return func(i int) any { l[39][0] = i; return l }
		}, "10 10 400 1 9 9"},
		{"a map", func() func(int) any { m := map[string]int{"a": 1}; return func(int) any { return m } }, "10 10 10 1 9 9"},
		{"a text", func() func(int) any { return func(int) any { return "abc" } }, "10 10 30 1 9 9"},
		{"a number", func() func(int) any { return func(i int) any { return i } }, "10 0 0 0 0 0"},
	} {
		reset()
		loops[1].next, loops[1].spent, loops[1].paired = 0, -1<<60, 0
		loops[1].entered, loops[1].looked, loops[1].size, loops[1].alike, loops[1].contents, loops[1].last = 0, 0, 0, 0, nil, passed{}
		spentOnLoops.Store(-1 << 60)
		over := test.over()
		for i := range 10 {
			if Look(1) {
				Over(1, func() any { return over(i) })
			}
		}
		var b bytes.Buffer
		writeLoops(&b)
		if got := strings.TrimSpace(b.String()); got != "l 1 "+test.want {
			t.Errorf("%s: %q, want l 1 %s", test.name, got, test.want)
		}
	}
	loops[1].entered = 0
}

// TestLook: of loops that begin often few are looked at, and arrays, which have to be copied for that, once.
func TestLook(t *testing.T) {
	for _, test := range []struct {
		over   any
		looked int64
	}{{[]int{1, 2, 3}, 660}, {[300]int{}, 1}} {
		reset()
		loops[2].entered, loops[2].next, loops[2].looked, loops[2].spent, loops[2].contents, loops[2].last = 0, 0, 0, -1<<60, nil, passed{}
		spentOnLoops.Store(-1 << 60)
		n := int64(0)
		for range 64 * 256 {
			if Look(2) {
				Over(2, func() any { n++; return test.over })
			}
		}
		if n != test.looked {
			t.Errorf("%T: %d looks, want %d", test.over, n, test.looked)
		}
	}
	loops[2].entered = 0
}

// TestBlocks: lines have the counts of 64 blocks, and those without any are left out.
func TestBlocks(t *testing.T) {
	Blocks[blocksInLine+1]++
	defer func() { Blocks[blocksInLine+1] = 0 }()
	var b bytes.Buffer
	writeBlocks(&b)
	if want := fmt.Sprintf("b %d 0 1%s\n", blocksInLine, strings.Repeat(" 0", blocksInLine-2)); b.String() != want {
		t.Errorf("%q", b.String())
	}
}
