package unit

import (
	"slices"
	"testing"
)

func TestSizeClass(t *testing.T) {
	if !slices.IsSorted(SizeClasses) || len(SizeClasses) != 67 {
		t.Errorf("%d classes", len(SizeClasses))
	}
	for n, want := range map[uint64]uint64{0: 8, 1: 8, 8: 8, 9: 16, 33: 48, 48: 48, 49: 64, 32768: 32768, 32769: 40960, 40960: 40960} {
		if got := SizeClass(n); got != want {
			t.Errorf("SizeClass(%d) = %d, want %d", n, got, want)
		}
	}
}
