package stack_test

import (
	"fmt"

	"loupe/value/stack"
)

func Example() {
	var table stack.Table
	leaf := table.InternFrame(stack.Frame{Func: "strings.ToLower", File: "strings.go", Line: 700})
	call := table.InternFrame(stack.Frame{Func: "project/search.rssSearch", File: "rss.go", Line: 119})
	id := table.Intern([]stack.FrameID{leaf, call})

	scope := stack.Scope{Modules: []string{"project"}}
	for _, frame := range table.Frames(id) {
		f := table.Frame(frame)
		fmt.Println(stack.Short(f.Func), f.Line, scope.Origin(f.Func))
	}
	// Output:
	// strings.ToLower 700 standard
	// search.rssSearch 119 user
}

func ExampleFoldGenerics() {
	fmt.Println(stack.FoldGenerics("main.(*Cache[go.shape.string]).Get"))
	// Output: main.(*Cache[...]).Get
}
