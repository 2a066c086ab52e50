// Package sample holds one line for each thing that the compiler speaks of.
// The files beside it are what the compilers of ten releases said about it.
package sample

import (
	"errors"
	"fmt"
	"io"
)

type point struct{ x, y int }

type shape interface{ area() int }

func (p point) area() int { return p.x * p.y }

var (
	sink   interface{}
	points []*point
)

func object() *point { return &point{1, 2} }

func variable() *int {
	n := 3
	return &n
}

func made(n int) []byte { return make([]byte, n) }

func local(n int) int {
	b := make([]byte, n)
	return len(b)
}

func grown(s []int, v int) []int { return append(s, v) }

func strs(b []byte, s string) (string, []byte, string) {
	return string(b), []byte(s), s + string(b)
}

func boxed(n int, s string) { fmt.Println(n, s, "constant") }

func closure(n int) func() int {
	return func() int { n++; return n }
}

func method(r io.Reader) func([]byte) (int, error) { return r.Read }

func maps(k string) map[string]int {
	m := map[string]int{"a": 1}
	m[k] = 2
	return m
}

func inlined(n int) []byte {
	points = append(points, object())
	return made(n)
}

func stays() int {
	p := &point{3, 4}
	var s shape = p
	return s.area()
}

func fails() error { return errors.New("failed") }

func bounds(s []int, i int) ([]int, int) { return s[i:], s[i] }

func deferred(f func(), big [200]int) {
	defer f()
	go f()
	sink = big
}

func leaks(p *point, q **point) *point {
	sink = *q
	return p
}

//go:noinline
func never(p *point) int { return p.x }
