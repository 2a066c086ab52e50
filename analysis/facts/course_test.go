package facts

import "testing"

// TestCourseOf: the quarters of the time decide, however many measurements there are of each.
func TestCourseOf(t *testing.T) {
	for _, c := range []struct {
		name          string
		times, values []float64
		want          Course
	}{
		{"an even rise, measured at each doubling", []float64{1, 2, 4, 8, 16, 32}, []float64{10, 20, 40, 80, 160, 320}, Evenly},
		{"a pool that fills, measured often at first", []float64{1, 2, 3, 4, 7, 12, 21, 35}, []float64{42, 112, 154, 217, 288, 364, 404, 412}, LevelOff},
		{"data that is loaded", []float64{0, 1, 2, 3, 4, 5, 6, 7, 8}, []float64{0, 50, 100, 100, 100, 100, 100, 100, 100}, LevelOff},
		{"a cache that fills ever more slowly", []float64{0, 1, 2, 3, 4, 5, 6, 7, 8}, []float64{0, 25, 45, 60, 72, 80, 87, 92, 97}, Slower},
		{"a late start", []float64{0, 1, 2, 3, 4, 5, 6, 7, 8}, []float64{5, 5, 5, 5, 5, 5, 30, 60, 90}, Unevenly},
		{"a fall", []float64{0, 1, 2, 3}, []float64{9, 8, 7, 6}, NoRise},
		{"one measurement", []float64{0}, []float64{9}, NoRise},
	} {
		if got, quarter := CourseOf(c.times, c.values); got != c.want {
			t.Errorf("%s: %d %v, want %d", c.name, got, quarter, c.want)
		}
	}
}
