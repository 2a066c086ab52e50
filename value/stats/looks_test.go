package stats

import (
	"math"
	"testing"
)

// TestLooks: the levels are those of Pocock (1977) where looks are equally far apart, and
// of one look it is the error itself.
func TestLooks(t *testing.T) {
	near(t, "one look", 1-Looks{At: []int{10}, Error: 0.05}.Confidence(), 0.05, 1e-4)
	near(t, "two looks", 1-Looks{At: []int{10, 20}, Error: 0.05}.Confidence(), 0.0294, 1e-4)
	near(t, "five looks", 1-Looks{At: []int{1, 2, 3, 4, 5}, Error: 0.05}.Confidence(), 0.0158, 1e-4)
	near(t, "five looks at 0.01", 1-Looks{At: []int{1, 2, 3, 4, 5}, Error: 0.01}.Confidence(), 0.0028, 1e-4)
	usual := UsualLooks()
	level := 1 - usual.Confidence()
	near(t, "the level of the usual looks is worth their error", usual.Overall(level), 0.05, 1e-6)
	if level >= 0.0158 {
		t.Errorf("looks that are farther apart have the level %v, want less than 0.0158", level)
	}
	if due, last := usual.Due(40); !due || last {
		t.Error("a look is due after 40 blocks, and not the last")
	}
	if due, _ := usual.Due(41); due || usual.Next(41) != 80 || usual.Next(160) != 0 {
		t.Error("the next look is at 80, and none comes after 160")
	}
}

// TestOverall: what a p is worth among looks rises with it, from 0 to 1, and lies between it
// and as many times as there are looks, however small it is.
func TestOverall(t *testing.T) {
	for _, l := range []Looks{UsualLooks(), {At: []int{80}, Error: 0.05}} {
		before := 0.0
		for _, p := range []float64{0, 1e-320, 1e-100, 1e-30, 1e-22, 1e-17, 1e-16, 1e-12, 0.99e-8, 1.01e-8, 1e-6, 0.001, 0.05, 0.5, 1} {
			got := l.Overall(p)
			if !(got >= before) || !(got >= p*(1-0.02)) || got > float64(len(l.At))*p*1.02 && got < 1 {
				t.Errorf("%v looks: %g is worth %g, after %g", l.At, p, got, before)
			}
			before = got
		}
	}
	if got := UsualLooks().Overall(math.NaN()); got != 1 {
		t.Errorf("what is not known is worth %g", got)
	}
}
