package content

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func read(text string, part int) []Chunk {
	var r Reader
	r.Begin()
	for len(text) > 0 {
		n := min(part, len(text))
		r.Take([]byte(text[:n]))
		text = text[n:]
	}
	return r.End()
}

func TestCompare(t *testing.T) {
	rows := func(seed uint64, n int, frame string) string {
		rng := rand.New(rand.NewPCG(seed, 1))
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%s%d %x\n", frame, i, rng.Uint64())
		}
		return b.String()
	}
	text, long := rows(1, 1000, "pod"), rows(1, 60000, "pod")
	for _, c := range []struct {
		name        string
		before, now string
		from, to    float64
	}{
		{"the same", text, text, 1, 1},
		{"the same, a byte of each", "x", "x", 1, 1},
		{"nothing", "", "", 0, 0},
		{"one number of a thousand", text, strings.Replace(text, "pod500 ", "pod500 !", 1), 0.98, 0.999},
		{"something in front", text, "a line that was not there before\n" + text, 0.98, 0.999},
		{"other numbers", text, rows(2, 1000, "pod"), 0, 0.05},
		{"other numbers in frames that are the same", rows(1, 300, strings.Repeat("<td class=\"wide and long\">", 8)), rows(2, 300, strings.Repeat("<td class=\"wide and long\">", 8)), 0, 0.3},
		{"another order", text, strings.Join(reversed(strings.SplitAfter(text, "\n")), ""), 0, 0.5},
		{"long ones, the same", long, long, 1, 1},
		{"long ones, something in front", long, "a line that was not there before\n" + long, 0.97, 0.9999},
		{"long ones, nothing but the beginning is the same", long, long[:Whole] + rows(3, 60000, "pod"), 0.1, 0.5},
	} {
		for _, part := range []int{1, 4099, 1 << 20} {
			same, all := Compare(read(c.before, 1<<20), read(c.now, part))
			share := float64(same) / float64(max(1, all))
			if share < c.from || share > c.to {
				t.Errorf("%s, %d bytes at a time: %d of %d, %.3f, want %.3f to %.3f", c.name, part, same, all, share, c.from, c.to)
			}
		}
	}
}

func reversed(list []string) (out []string) {
	for i := range list {
		out = append(out, list[len(list)-1-i])
	}
	return out
}

func BenchmarkTake(b *testing.B) {
	text := make([]byte, Whole)
	for i := range text {
		text[i] = byte(rand.Uint32())
	}
	var r Reader
	b.SetBytes(Whole)
	b.ReportAllocs()
	for b.Loop() {
		r.Begin()
		r.Take(text)
		r.End()
	}
}
