package fractal

import (
	"bytes"
	"math"
	"testing"
)

// sizes are pictures of every shape, down to a single pixel.
var sizes = [][2]int{{1, 1}, {64, 64}, {97, 31}, {5, 60}}

// TestModesAgree: every mode has painted every pixel when it returns.
func TestModesAgree(t *testing.T) {
	for _, size := range sizes {
		want := New(size[0], size[1])
		sequential(want, 1)
		for name, mode := range Modes {
			for _, workers := range []int{1, 2, 9} {
				got := New(size[0], size[1])
				mode(got, workers)
				if !bytes.Equal(got.Pix, want.Pix) {
					t.Errorf("%s with %d workers paints another picture of %v", name, workers, size)
				}
			}
		}
	}
}

// TestSteps asks for points whose answer is known.
func TestSteps(t *testing.T) {
	f := func(re, im float64, want int) {
		t.Helper()
		if got := steps(re, im); got != want {
			t.Errorf("steps(%g, %g) = %d, want %d", re, im, got, want)
		}
	}
	f(0, 0, limit)  // stays at 0
	f(-1, 0, limit) // 0, -1, 0, -1, …
	f(-2, 0, limit) // the leftmost point: 0, -2, 2, 2, …
	f(0, 1, limit)  // 0, i, -1+i, -i, -1+i, …
	f(1, 0, 3)      // 0, 1, 2, 5
	f(0.5, 0.5, 5)
	f(3, 0, 1)
}

// TestPicture holds the picture to what is known of the set: it is its own
// mirror image, and its area is 1.5066.
func TestPicture(t *testing.T) {
	const side = 200
	p := New(side, side)
	sequential(p, 1)
	inside := 0
	for y := range side {
		for x := range side {
			if p.ColorIndexAt(x, y) != p.ColorIndexAt(x, side-1-y) {
				t.Fatalf("pixel %d,%d is not a mirror image", x, y)
			}
			if p.ColorIndexAt(x, y) == 0 {
				inside++
			}
		}
	}
	area := float64(inside) * span * span / (side * side)
	if math.Abs(area-1.5066) > 0.03 {
		t.Errorf("the set has an area of %.4f, want 1.5066", area)
	}
}

// TestPalette: only the set is black, and no colour is there twice in a row.
func TestPalette(t *testing.T) {
	p := palette()
	if len(p) != 1+shades {
		t.Fatalf("%d colours", len(p))
	}
	for i := 1; i < len(p); i++ {
		if p[i] == p[0] {
			t.Errorf("colour %d is that of the set", i)
		}
	}
}
