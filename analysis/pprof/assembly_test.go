package pprof

import "testing"

// TestHeaviest: those with the most weight of their own come first, and of equal ones
// the first by name.
func TestHeaviest(t *testing.T) {
	all := []Routine{{Names: []string{"c"}, Flat: 1}, {Names: []string{"b"}, Flat: 5}, {Names: []string{"a"}, Flat: 5}, {Names: []string{"d"}}}
	f := func(n int, want string) {
		t.Helper()
		got := ""
		for _, r := range Heaviest(all, n) {
			got += r.Names[0]
		}
		if got != want || all[0].Names[0] != "c" {
			t.Errorf("the heaviest %d are %q, want %q", n, got, want)
		}
	}
	f(0, "")
	f(3, "abc")
	f(9, "abcd")
}
