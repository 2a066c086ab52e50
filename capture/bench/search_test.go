package bench

import "testing"

func TestSearch(t *testing.T) {
	// f looks for the first bad one of n, where some cannot be measured.
	f := func(n, first int, skipped map[int]bool, wantGood, wantBad, most int) {
		t.Helper()
		s := NewSearch(n)
		looks := 0
		for {
			i, ok := s.Next()
			if !ok {
				break
			}
			looks++
			switch {
			case skipped[i]:
				s.Tell(i, Skipped)
			case i < first:
				s.Tell(i, Good)
			default:
				s.Tell(i, Bad)
			}
		}
		if good, bad := s.Left(); good != wantGood || bad != wantBad || looks > most {
			t.Errorf("first bad %d of %d: left %d..%d after %d looks, want %d..%d and at most %d", first, n, good, bad, looks, wantGood, wantBad, most)
		}
	}
	f(2, 1, nil, 0, 1, 0)
	f(3, 1, nil, 0, 1, 1)
	f(3, 2, nil, 1, 2, 1)
	for first := 1; first < 100; first++ {
		f(100, first, nil, first-1, first, 7)
	}
	f(9, 6, map[int]bool{4: true}, 5, 6, 4)
	f(9, 4, map[int]bool{4: true}, 3, 5, 6) // the one before it may have done it
	f(5, 2, map[int]bool{1: true, 2: true, 3: true}, 0, 4, 3)
}
