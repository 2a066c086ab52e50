package insight

import (
	"go/ast"
	"testing"
)

// TestCallersTo: the calls of a function are found wherever they stand, also those by an interface and outside of functions.
func TestCallersTo(t *testing.T) {
	d := newDerivations(sourceOf("package main\n\ntype asker interface{ ask() int }\n\ntype peer struct{}\n\nfunc (p *peer) ask() int { return 1 }\n\nvar first = one()\n\nfunc one() int { return (&peer{}).ask() }\n\nfunc two(a asker) int { return a.ask() + one() }\n\nfunc nobody() {}\n"))
	for name, want := range map[string]int{"one": 2, "ask": 2, "nobody": 0} {
		all := callersTo(d, d.named[name][0])
		if len(all) != want {
			t.Errorf("%s has %d calls, want %d", name, len(all), want)
		}
		for _, by := range all {
			outside := by.in == nil
			if is := by.call.Pos() < d.named["one"][0].Pos(); outside != is {
				t.Errorf("%s: a call in %v", name, by.in)
			}
			if by.in != nil && !hasNode(by.in.Body, func(n ast.Node) bool { return n == by.call }) {
				t.Errorf("%s: the call is in another function", name)
			}
		}
	}
	if again := callersTo(newDerivations(d.c), d.named["one"][0]); len(again) != 2 {
		t.Errorf("the calls are collected anew: %d", len(again))
	}
}
