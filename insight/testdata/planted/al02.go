package main

type point struct{ x, y, z, w int }

//go:noinline
func newPoint(i int) *point {
	return &point{x: i, y: i} // planted
}

//go:noinline
func setPoint(p *point, i int) { p.x, p.y = i, i }

func pointers() {
	for i := range 1000 {
		total += newPoint(i).x
	}
}

func values() {
	var p point
	for i := range 1000 {
		setPoint(&p, i)
		total += p.x
	}
}
