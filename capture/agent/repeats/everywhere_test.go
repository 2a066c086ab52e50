package repeats

import (
	"strings"
	"testing"
)

// TestEverywhere: calls on several goroutines, within calls of others and within none, count together.
func TestEverywhere(t *testing.T) {
	for _, test := range []struct {
		name   string
		do     func()
		counts string // CALLS and DISTINCT AGAIN, and DIFFER; empty where nothing repeats
	}{
		{"on goroutines of their own", func() {
			at([][]any{{"x"}, {"x"}, {"y"}}, func(int) any { return "r" })
			counted(1, []any{"x"}, func() []any { return []any{"r"} })
		}, "4 2 2 0"},
		{"within others", func() {
			for range 3 {
				around(func() { counted(1, []any{"x"}, func() []any { return []any{"r"} }) })
			}
		}, "3 1 2 0"},
		{"other results", func() {
			for i := range 3 {
				around(func() { counted(1, []any{"x"}, func() []any { return []any{i} }) })
			}
		}, "3 1 2 2"},
		{"other arguments", func() {
			for i := range 3 {
				around(func() { counted(1, []any{i}, func() []any { return []any{"r"} }) })
			}
		}, ""},
		{"a call within one of the same function", func() {
			counted(1, []any{"x"}, func() []any {
				counted(1, []any{"x"}, func() []any { return []any{"r"} })
				return []any{"r"}
			})
		}, ""},
	} {
		reset()
		test.do()
		var text strings.Builder
		fns[1].writeEverywhere(&text, 1)
		v := strings.Fields(text.String())
		got := ""
		if len(v) == 9 || len(v) == 10 {
			got = strings.Join([]string{v[2], v[4], v[5], v[7]}, " ")
		}
		if got != test.counts {
			t.Errorf("%s: %q, want %q", test.name, text.String(), test.counts)
		}
	}
}

// TestLargeReceiver: a function that counting takes too long of is counted on by where its first argument lies, if that is large; else it is counted no more.
func TestLargeReceiver(t *testing.T) {
	for _, c := range []struct {
		name   string
		first  any
		placed bool
	}{
		{"a large one", &[][]byte{make([]byte, 2*largeBytes)}, true},
		{"a small one", &[][]byte{make([]byte, 10)}, false},
	} {
		reset()
		call := func(i int) {
			around(func() { counted(1, []any{c.first, i % 3}, func() []any { return []any{"r"} }) })
		}
		call(0)
		fns[1].spent.Store(2 * mostSpent)
		for i := range 30 {
			call(i)
		}
		if placed, off := fns[1].placed.Load(), fns[1].off.Load(); placed != c.placed || off == c.placed {
			t.Errorf("%s: by its place %v, counted no more %v", c.name, placed, off)
		}
		if e := fns[1].everywhere.Load(); c.placed {
			var s sum
			if s.add(&e.tally, 0, false); s.distinct != 3 || s.again < 26 || s.traits&(Partial|First) != Partial|First || s.traits&(Others|Large) != 0 {
				t.Errorf("%s: %d different, %d again, %b", c.name, s.distinct, s.again, s.traits)
			}
		}
	}
}
