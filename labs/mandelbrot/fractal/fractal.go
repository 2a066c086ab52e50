// Package fractal paints the Mandelbrot set. Every pixel can be computed by
// itself, so that the same picture can be spread over goroutines in several
// ways: that is all in which the [Modes] differ.
package fractal

import (
	"image"
	"image/color"
	"math"
)

// limit is after how many steps a point counts as one of the set. A pixel of
// the set takes some microseconds, one far outside of it some nanoseconds.
const limit = 2500

// shades are the colours of points outside the set, pace of them apart from one
// step to the next, as most points leave after a few; colour 0 is the set.
const (
	shades = 255
	pace   = 8
)

// span is the length of the shorter side on the complex plane, around centre.
const (
	span   = 3.0
	centre = -0.75
)

// Picture is the set at some size, pixel by pixel as they are painted.
// Different pixels may be painted at the same time.
type Picture struct{ *image.Paletted }

// New returns a picture in which nothing is painted yet.
func New(width, height int) Picture {
	return Picture{image.NewPaletted(image.Rect(0, 0, width, height), palette())}
}

// palette runs from dark blue to sand and back, so that neighbouring shades
// never jump.
func palette() color.Palette {
	colors := color.Palette{color.RGBA{A: 255}}
	for i := range shades {
		light := (1 - math.Cos(2*math.Pi*float64(i)/shades)) / 2
		mix := func(dark, bright float64) uint8 { return uint8(dark + light*(bright-dark)) }
		colors = append(colors, color.RGBA{mix(10, 255), mix(20, 236), mix(60, 200), 255})
	}
	return colors
}

// paint computes one pixel.
func (p Picture) paint(x, y int) {
	size := p.Rect.Size()
	scale := span / float64(2*min(size.X, size.Y))
	// Twice the distance from the middle is a whole number: the upper half is
	// exactly the mirror of the lower one.
	n := steps(centre+scale*float64(2*x+1-size.X), scale*float64(2*y+1-size.Y))
	if n == limit {
		return // the set is colour 0
	}
	p.Pix[p.PixOffset(x, y)] = uint8(1 + pace*n%shades)
}

// paintRow computes one row of pixels.
func (p Picture) paintRow(y int) {
	for x := range p.Rect.Dx() {
		p.paint(x, y)
	}
}

// steps tells how often z = z*z + c can be repeated from zero until it leaves
// the circle of radius two; limit when it does not.
func steps(re, im float64) int {
	x, y := 0.0, 0.0
	for n := range limit {
		xx, yy := x*x, y*y
		if xx+yy > 4 {
			return n
		}
		x, y = xx-yy+re, 2*x*y+im
	}
	return limit
}
