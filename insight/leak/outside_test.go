package leak

import (
	"testing"

	"loupe/value/timeline"
)

// TestOutside: memory of C that grows is seen where Go's own is at rest, or was at rest in the
// second half; what rises by less than Go's own memory moves leaves it open.
func TestOutside(t *testing.T) {
	const mib = 1 << 20
	outside := func(i int) float64 { return float64(4+i) * mib }
	for _, c := range []struct {
		name      string
		out, held func(i int) float64
		want      Shape
	}{
		{"C grows, Go is at rest", outside, func(int) float64 { return 90 * mib }, Grows},
		{"C grows, Go grew at first", outside, func(i int) float64 { return float64(min(10*i, 200)) * mib }, Grows},
		{"Go's own memory moves", outside, func(i int) float64 { return float64(90+60*(i%3)) * mib }, WithHeap},
		{"nothing is outside", func(int) float64 { return 0 }, func(i int) float64 { return float64(90+10*i) * mib }, Steady},
	} {
		g := &gatherer{least: 10}
		var out timeline.Series
		var held []float64
		for i := range 60 {
			out.Times, out.Values = append(out.Times, timeline.Time(i)*1e9), append(out.Values, c.out(i))
			held = append(held, c.held(i))
		}
		g.outside(out, held, 0)
		l := g.all[0]
		if l.Shape != c.want {
			t.Errorf("%s: %s (%s), want %s", c.name, l.Shape, l.Why, c.want)
		}
		d := &decider{v: &Verdict{Looked: g.all}}
		if _, open := d.witness(Outside, ""); (open != "") != (c.want == WithHeap) {
			t.Errorf("%s: open is %q", c.name, open)
		}
	}
}
