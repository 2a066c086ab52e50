package unit

import "testing"

func TestDistance(t *testing.T) {
	f := func(a, b string, want int) {
		t.Helper()
		if got := distance(a, b); got != want || distance(b, a) != want {
			t.Errorf("distance(%q, %q) = %d, want %d", a, b, got, want)
		}
	}
	f("", "", 0)
	f("gc", "", 2)
	f("gc", "gc", 0)
	f("kitten", "sitting", 3)
	f("flaw", "lawn", 2)
}
