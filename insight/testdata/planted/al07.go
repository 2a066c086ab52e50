package main

var hook func(int) int

//go:noinline
func register(f func(int) int) int {
	hook = f
	return f(1)
}

func closures() {
	for i := range 1000 {
		total += register(func(n int) int { return n + i }) // planted
	}
}

//go:noinline
func apply(by, n int) int { return n + by }

func methods() {
	for i := range 1000 {
		total += apply(i, 1)
	}
}
