package main

type node struct{ left, right *node }

//go:noinline
func grow(depth int) *node {
	if depth == 0 {
		return nil
	}
	return &node{grow(depth - 1), grow(depth - 1)}
}

var root *node

func allocating() { root = grow(14) }

var cells [1 << 16]uint32

func computing() {
	for range 50 {
		for i := range cells {
			cells[i] = cells[i]*1664525 + 1013904223
		}
	}
}
