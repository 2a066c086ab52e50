// Package callgraph has who may call whom in a program: functions, and the places in the source
// from which one calls another. It finds functions by the names that people write. It reads no
// source: capture/static makes the graph.
package callgraph

import (
	"cmp"
	"slices"
)

// Function is a declared function, a method, a closure or the initialization of a package.
type Function struct {
	// Name is what the program that is built calls it: "main.run", "net/http.(*conn).serve",
	// "main.run.func1"; type arguments are written [...].
	Name string
	// Package is the import path, which for package main is not in Name.
	Package string
	File    string // as the compiler records it, unless the build trims it
	Line    int    // of its declaration; 0 where it has none
	// Asked says that its package is one of those that were asked for, not a dependency.
	Asked bool
}

// Way says how a function is called.
type Way uint8

// The ways of a call.
const (
	Plain Way = iota
	Go        // a go statement: the callee has a stack of its own
	Deferred
)

// String returns the word of the statement: "call", "go" or "defer".
func (w Way) String() string {
	switch w {
	case Go:
		return "go"
	case Deferred:
		return "defer"
	}
	return "call"
}

// Call is one place from which Callee may be called. Both functions are positions in
// Graph.Functions.
type Call struct {
	Caller, Callee int32
	// File is a position in Graph.Files; Line is 0 for a call that no source shows.
	File, Line int32
	Way        Way
}

// Graph is a call graph. Its fields are exported so that it can be kept in a file; nobody
// changes it once [Graph.Sort] was called.
type Graph struct {
	Functions []Function
	Files     []string
	Calls     []Call // by callee
}

// Sort brings the calls into the order in which [Graph.CallsOf] finds them, and drops those
// that are there twice.
func (g *Graph) Sort() {
	slices.SortFunc(g.Calls, func(a, b Call) int {
		return cmp.Or(cmp.Compare(a.Callee, b.Callee),
			cmp.Compare(g.Functions[a.Caller].Name, g.Functions[b.Caller].Name), cmp.Compare(a.Caller, b.Caller),
			cmp.Compare(a.Line, b.Line), cmp.Compare(a.File, b.File), cmp.Compare(a.Way, b.Way))
	})
	g.Calls = slices.Compact(g.Calls)
}

// CallsOf returns the calls of a function, those of one caller side by side.
func (g *Graph) CallsOf(callee int) []Call {
	byCallee := func(c Call, want int32) int { return cmp.Compare(c.Callee, want) }
	from, _ := slices.BinarySearchFunc(g.Calls, int32(callee), byCallee)
	to, _ := slices.BinarySearchFunc(g.Calls, int32(callee)+1, byCallee)
	return g.Calls[from:to]
}
