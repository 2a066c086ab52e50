package main

var list []int

//go:noinline
func collect(n int) []int {
	var s []int
	for i := range n {
		s = append(s, i) // planted
	}
	return s
}

//go:noinline
func collectSized(n int) []int {
	s := make([]int, 0, n)
	for i := range n {
		s = append(s, i) // clean
	}
	return s
}

func grown() {
	for range 50 {
		list = collect(200)
	}
}

func presized() {
	for range 50 {
		list = collectSized(200)
	}
}
