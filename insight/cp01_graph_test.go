package insight

import (
	"strings"
	"testing"

	"loupe/value/stack"
)

// TestWalksGraph: a function that calls itself for each of what a value leads to, and that neither notes where it was nor
// depends on the way, is told; a name or a map says whether that is a graph.
func TestWalksGraph(t *testing.T) {
	for _, c := range []struct {
		name, source string
		found, graph bool
	}{
		{"dependencies", "func walk(n *node) int {\nbest := 0\nfor _, d := range n.deps {\nif x := walk(d) + d.cost; x > best {\nbest = x\n}\n}\nreturn best\n}", true, true},
		{"a map of lists", "func walk(g map[string][]string, at string) int {\nsum := 1\nfor _, d := range g[at] {\nsum += walk(g, d)\n}\nreturn sum\n}", true, true},
		{"a method that searches", "func (n *node) walk(to *node) bool {\nif n == to {\nreturn true\n}\nfor _, d := range n.imports {\nif d.walk(to) {\nreturn true\n}\n}\nreturn false\n}", true, true},
		{"it fills a set", "func walk(n *node, all map[*node]bool) {\nall[n] = true\nfor _, d := range n.deps {\nwalk(d, all)\n}\n}", true, true},
		{"a tree, by its name", "func walk(n *node) int {\nsum := n.cost\nfor _, d := range n.children {\nsum += walk(d)\n}\nreturn sum\n}", true, false},
		{"a set of those visited", "func walk(n *node, all map[*node]bool) {\nif all[n] {\nreturn\n}\nall[n] = true\nfor _, d := range n.deps {\nwalk(d, all)\n}\n}", false, false},
		{"results are kept", "func walk(n *node, known map[*node]int) int {\nif x, ok := known[n]; ok {\nreturn x\n}\nsum := n.cost\nfor _, d := range n.deps {\nsum += walk(d, known)\n}\nknown[n] = sum\nreturn sum\n}", false, false},
		{"a mark in the node", "func walk(n *node) int {\nif n.done {\nreturn 0\n}\nn.done = true\nsum := n.cost\nfor _, d := range n.deps {\nsum += walk(d)\n}\nreturn sum\n}", false, false},
		{"it depends on the depth", "func walk(n *node, depth int) int {\nsum := depth\nfor _, d := range n.deps {\nsum += walk(d, depth+1)\n}\nreturn sum\n}", false, false},
		{"it writes", "func walk(n *node) int {\nfmt.Println(n.cost)\nfor _, d := range n.deps {\nwalk(d)\n}\nreturn 0\n}", false, false},
		{"it changes what it goes to", "func walk(n *node) int {\nn.cost++\nfor _, d := range n.deps {\nwalk(d)\n}\nreturn n.cost\n}", false, false},
		{"it does not call itself", "func walk(n *node) int {\nsum := 0\nfor _, d := range n.deps {\nsum += d.cost\n}\nreturn sum\n}", false, false},
	} {
		text := "package main\n\ntype node struct {\ncost int\ndone bool\ndeps, imports, children []*node\n}\n\n" + c.source + "\n"
		code := sourceOf(text)
		line := 1 + strings.Count(text[:strings.Index(text, "func ")], "\n") + 1
		at := stack.Frame{Func: "main.walk", File: "a.go", Line: line}
		g, ok := walksGraph(newDerivations(code), at)
		if ok != c.found || g.byName != c.graph {
			t.Errorf("%s: %v %+v", c.name, ok, g)
		}
	}
}
