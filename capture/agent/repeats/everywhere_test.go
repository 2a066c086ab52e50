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
