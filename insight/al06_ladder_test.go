package insight

import (
	"testing"

	"loupe/analysis/why"
	"loupe/value/stack"
)

// Only what grows is AL06's: a copy has its size at once, by whatever name.
func TestLadderCopies(t *testing.T) {
	grow := "runtime.growslice"
	for _, c := range []struct {
		expr, inner, runtime string
		mechanism            why.Mechanism
		grows                bool
	}{
		{"append(buffer, chunk...)", "shop.f", grow, why.Append, true},
		{"append(buffer[:0], chunk...)", "shop.f", grow, why.Append, true},
		{"append(s.rows[:n:n], x)", "shop.f", grow, why.Append, true},
		{"append(list(nil), x...)", "shop.f", grow, why.Append, true}, // a call, for all that is known
		{"append((func() []int)(nil), x...)", "shop.f", grow, why.Append, true},
		{"append(m[key{}], x)", "shop.f", grow, why.Append, true},
		{"append(f([]int{}), x...)", "shop.f", grow, why.Append, true},
		{"append(names, []string{}...)", "shop.f", grow, why.Append, true},
		{"append(append([]int{}, x...), y...)", "shop.f", grow, why.Append, true},
		{"append(rows, row{})", "slices.AppendSeq[...]", grow, why.Append, true},
		{"append(([]byte)(nil), x...)", "shop.f", grow, why.Append, false},
		{"append([]byte{}, x...)", "shop.f", grow, why.Append, false},
		{"append([]row{{1, 2}, {3, 4}}, x...)", "shop.f", grow, why.Append, false},
		{"append([]byte(prefix), x...)", "shop.f", grow, why.Append, false},
		{"append(names{}, x...)", "shop.f", grow, why.Append, false},
		{"append(x[:0:0], x...)", "shop.f", grow, why.Append, false},
		{"append(go.shape.[]uint8{}, slices.s...)", "slices.Clone[go.shape.[]uint8,go.shape.uint8]", grow, why.Append, false},
		{"append((go.shape.[]uint8)(nil), slices.s...)", "slices.Clone[...]", grow, why.Append, false},
		{"", "slices.Clone[...]", grow, why.Append, false},
		{"", "bytes.Clone", grow, why.Append, false},
		{"", "shop.Clone", grow, why.Append, true},
		{"", "shop.f", grow, why.Append, true},
	} {
		s := &allocSite{Site: &why.Site{Runtime: c.runtime, Frames: []stack.Frame{{Func: c.inner}, {Func: "shop.main"}}}}
		if got := isAppend(s, &why.Cause{Mechanism: c.mechanism, Expr: c.expr}); got != c.grows {
			t.Errorf("%q in %s: grows %v", c.expr, c.inner, got)
		}
	}
}
