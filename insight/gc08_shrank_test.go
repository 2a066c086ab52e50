package insight

import "testing"

// TestOneOfHeap: of one heap it is not said that it goes on growing and that it has shrunk again.
func TestOneOfHeap(t *testing.T) {
	for _, c := range []struct {
		name         string
		lasts        bool
		grows, falls State
		want         [2]State
	}{
		{"it grew under load, and shrank", false, Found, Found, [2]State{Fine, Found}},
		{"what survives grows", true, Found, Found, [2]State{Found, Fine}},
		{"it grew", false, Found, Fine, [2]State{Found, Fine}},
		{"it shrank", false, TooLittle, Found, [2]State{TooLittle, Found}},
	} {
		all := []Finding{{Rule: "GC08", State: c.grows, lasts: c.lasts, Severity: Info}, {Rule: "GC09", State: c.falls, Severity: Info}}
		oneOfHeap(all)
		if got := [2]State{all[0].State, all[1].State}; got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
