package main

import "strings"

//go:noinline
func addUp(words []string) string {
	s := ""
	for _, w := range words {
		s += w // planted
	}
	return s
}

//go:noinline
func buildUp(words []string) string {
	var b strings.Builder
	b.Grow(1000)
	for _, w := range words {
		b.WriteString(w)
	}
	return b.String()
}

var words = strings.Fields(strings.Repeat("twenty words of some length ", 8))

func added() {
	for range 50 {
		sink = addUp(words)
	}
}

func built() {
	for range 50 {
		sink = buildUp(words)
	}
}
