package calltree_test

import (
	"fmt"
	"os"
	"regexp"
	"testing/fstest"

	"loupe/analysis/calltree"
	"loupe/format/profile"
	"loupe/format/profile/profiletest"
	"loupe/value/stack"
)

// example is a heap profile of a search engine for news.
func example() *profile.Profile {
	p, err := profile.Decode(profiletest.Profile(`
		main.main               main.main                    main.main
		project/search.rss:118  project/search.rss:119       project/service.render
		                        strings.ToLower              bytes.(*Buffer).grow
		= 47185920              4810363371                   1073741824`, "alloc_space/bytes"), profile.Options{})
	if err != nil {
		panic(err)
	}
	return p
}

func Example() {
	p := example()
	r := calltree.Top(p.Stacks, p.Samples(0), calltree.Options{Order: calltree.ByCum, NodeCount: 3})
	err := calltree.WriteTop(os.Stdout, calltree.Header{Type: "alloc_space", Unit: "bytes"}, r)
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// Type: alloc_space
	// Showing nodes accounting for 4.52GB, 81.90% of 5.52GB total
	// Showing top 3 nodes out of 5
	//       flat  flat%   sum%        cum   cum%
	//          0     0%     0%     5.52GB   100%  main.main
	//     0.04GB   0.8%   0.8%     4.52GB 81.90%  project/search.rss
	//     4.48GB 81.10% 81.90%     4.48GB 81.10%  strings.ToLower
}

func ExampleList() {
	p := example()
	source := fstest.MapFS{"project/search/rss.go": {Data: make([]byte, 200)}}
	for i := range source["project/search/rss.go"].Data {
		source["project/search/rss.go"].Data[i] = '\n'
	}
	l, err := calltree.List(p.Stacks, calltree.Plain(p.Samples(0)), regexp.MustCompile(`search\.rss`), calltree.FS(source), calltree.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, line := range l.Routines[0].Lines {
		if line.Cum != 0 {
			fmt.Println(line.Number, line.Flat, line.Cum)
		}
	}
	// Output:
	// 118 47185920 47185920
	// 119 0 4810363371
}

func ExampleSites() {
	p := example()
	r := calltree.Sites(p.Stacks, p.Samples(0), calltree.SiteOptions{
		Callee: func(f stack.Frame) bool { return f.Func == "strings.ToLower" },
		User:   stack.Scope{Modules: []string{"project"}}.IsUser,
	})
	for _, s := range r.Sites {
		fmt.Printf("%.0f%% of bytes: %s called at line %d of %s\n", 100*float64(s.Weight)/float64(r.Total),
			s.Callee, s.Caller.Line, stack.Short(s.Caller.Func))
	}
	// Output:
	// 81% of bytes: strings.ToLower called at line 119 of search.rss
}

func ExampleFlame() {
	p := example()
	g := calltree.Flame(p.Stacks, p.Samples(0), calltree.FlameOptions{MinShare: 0.01})
	for _, box := range g.Boxes {
		fmt.Printf("%5.1f%% %*s%s\n", 100*float64(box.Weight)/float64(g.Total), 2*box.Depth, "", stack.Short(g.Names[box.Name]))
	}
	fmt.Println(g.Levels[1].Narrow, "too narrow below main")
	// Output:
	// 100.0% main.main
	//  81.9%   search.rss
	//  81.1%     strings.ToLower
	//  18.1%   service.render
	//  18.1%     bytes.(*Buffer).grow
	// 0 too narrow below main
}

func ExampleNew() {
	p := example()
	g := calltree.New(p.Stacks, calltree.Plain(p.Samples(0)), calltree.Options{Granularity: calltree.Lines, Order: calltree.ByCum})
	for _, n := range g.Nodes {
		for _, call := range n.Out {
			fmt.Printf("%s:%d calls %s: %s\n", stack.Short(n.Func), n.Line, stack.Short(call.To.Func), calltree.Format(call.Weight, "bytes", "MB"))
		}
	}
	// Output:
	// main.main:1 calls search.rss: 4587.52MB
	// main.main:1 calls service.render: 1024MB
	// main.main:1 calls search.rss: 45MB
	// search.rss:119 calls strings.ToLower: 4587.52MB
	// service.render:1 calls bytes.(*Buffer).grow: 1024MB
}
