package stats

import "testing"

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
