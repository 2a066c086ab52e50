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

// TestStood: what has risen has to stand for a fair part of the time that it rose, and for longer than it stood between
// two jumps.
func TestStood(t *testing.T) {
	for _, c := range []struct {
		name          string
		times, values []float64
		want          bool
	}{
		{"three readings that are alike at the end of a rise", []float64{1.0, 2.1, 3.1, 4.1, 5.1, 6.1, 7.1, 8.0, 9.1, 10.1, 10.2}, []float64{8, 14, 21, 27, 32, 40, 50, 60, 65, 66, 66}, false},
		{"a cache that filled in half of the time", []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, []float64{10, 20, 30, 40, 50, 60, 61, 59, 60, 61, 60}, true},
		{"one that filled at the start", []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, []float64{10, 60, 60, 61, 59, 60, 61, 59, 60, 61, 60}, true},
		{"a dip in what stands", []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, []float64{10, 30, 60, 60, 61, 60, 40, 60, 60, 61, 60}, true},
		{"steps, of which the last is no longer", []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, []float64{10, 10, 10, 10, 30, 30, 30, 30, 50, 50, 50, 50, 50}, false},
		{"a table that doubles", []float64{0, 1, 2, 4, 8, 9, 10, 12, 14}, []float64{2, 4, 8, 16, 32, 32, 32, 32, 32}, false},
		{"steps that ended long ago", []float64{0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22}, []float64{10, 10, 30, 30, 50, 50, 50, 50, 50, 50, 50, 50}, true},
		{"an even rise", []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, false},
		{"what stood all the time", []float64{0, 1, 2, 3, 4, 5, 6}, []float64{60, 61, 58, 62, 60, 63, 61}, true},
		{"a fall", []float64{0, 1, 2, 3}, []float64{9, 8, 7, 6}, true},
		{"two readings", []float64{0, 1}, []float64{9, 9}, false},
	} {
		if got := Stood(c.times, c.values); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
