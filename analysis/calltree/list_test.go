package calltree

import "testing"

// TestKeep: a listing is cut to the files with the most weight of their own, as a whole.
func TestKeep(t *testing.T) {
	l := func() *Listing {
		return &Listing{Routines: []Routine{
			{Func: "a", File: "a.go", Flat: 3}, {Func: "b", File: "b.go", Flat: 2}, {Func: "c", File: "b.go", Flat: 2}, {Func: "d", File: "d.go", Flat: 3}, {Func: "e", File: "e.go"},
		}}
	}
	f := func(n int, want string) {
		t.Helper()
		got, all := "", l()
		all.Keep(n)
		for _, r := range all.Routines {
			got += r.Func
		}
		if got != want {
			t.Errorf("of %d files there are %s, want %s", n, got, want)
		}
	}
	f(0, "")
	f(1, "bc")
	f(2, "abc")
	f(3, "abcd")
	f(4, "abcde")
	f(9, "abcde")
}
