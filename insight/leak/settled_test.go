package leak

import (
	"testing"

	"loupe/analysis/facts"
	"loupe/insight"
)

// TestSettled: heap profiles that are too noisy to decide are settled by a count of the whole heap
// which saw it stop, and by nothing less.
func TestSettled(t *testing.T) {
	const mib = 1 << 20
	noisy := Quantity{Least: leastSampled, Times: []float64{0, 2, 4, 6, 8, 10, 12, 14}, Values: []float64{12 * mib, 31 * mib, 22 * mib, 38 * mib, 26 * mib, 24 * mib, 31 * mib, 36 * mib}}
	full := []float64{6 * mib, 18 * mib, 30 * mib, 31 * mib, 31 * mib, 31 * mib, 31 * mib, 31 * mib}
	growing := []float64{6 * mib, 9 * mib, 13 * mib, 16 * mib, 20 * mib, 23 * mib, 27 * mib, 30 * mib}
	times := []float64{0, 2, 4, 6, 8, 10, 12, 14}
	short := []float64{0, 1, 2, 3, 4, 5, 6, 7}
	for _, c := range []struct {
		name   string
		times  []float64
		values []float64
		counts bool
		open   bool
	}{
		{"it stopped", times, full, true, false},
		{"it was watched for half of the time", short, full, true, true},
		{"it was sampled as well", times, full, false, true},
		{"it grows", times, growing, true, true},
	} {
		g := &gatherer{least: 5}
		main := g.add(Heap, "8 heap profiles", noisy)
		main.growth = &facts.Growth{}
		if main.Shape != Late {
			t.Fatalf("the profiles: %s (%s), want %s", main.Shape, main.Why, Late)
		}
		g.add(Heap, "8 readings of the live heap", Quantity{Least: leastLive, Times: c.times, Values: c.values}).counted = c.counts
		d := &decider{in: &insight.Input{}, v: &Verdict{Looked: g.all}}
		if _, why := d.witness(Heap, ""); why != "" != c.open {
			t.Errorf("%s (%s): open is %q", c.name, g.all[1].Shape, why)
		}
		if text := d.quiet(); !c.open && text != "nothing that was measured keeps growing: heap levelled off" {
			t.Errorf("%s: %q", c.name, text)
		}
	}
}
