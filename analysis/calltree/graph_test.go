package calltree_test

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"loupe/analysis/calltree"
	"loupe/value/stack"
)

// nodes prints a graph in short: every node with its callees.
func nodes(g *calltree.Graph) string {
	var b strings.Builder
	for _, n := range g.Nodes {
		fmt.Fprintf(&b, "%d %s %d/%d", n.ID, n, n.FlatValue(), n.CumValue())
		for _, e := range n.Out {
			fmt.Fprintf(&b, " -> %s %d", e.To.Func, e.Value())
			if e.Residual {
				b.WriteString(" residual")
			}
			if e.Inline {
				b.WriteString(" inline")
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestGraph(t *testing.T) {
	p := decode(t, `
		main.main:1  main.main:1  main.main:2  main.main:2
		main.f:5     main.f:6     main.g:9     main.h:7
		main.in:8~   main.f:5                  main.f:5
		= 50         30           20           -10
		= 5          2            4            1`, "space/bytes", "objects/count")
	f := func(opt calltree.Options, want ...string) {
		t.Helper()
		g := calltree.New(p.Stacks, calltree.Plain(p.Samples(0)), opt)
		if got := nodes(g); got != strings.Join(want, "\n")+"\n" {
			t.Errorf("%+v:\n%swant:\n%s", opt, got, strings.Join(want, "\n"))
		}
	}
	f(calltree.Options{}, "1 main.in 50/50", "2 main.f 20/70 -> main.in 50 inline", "3 main.g 20/20",
		"4 main.h 0/-10 -> main.f -10", "5 main.main 0/90 -> main.f 80 -> main.g 20 -> main.h -10")
	f(calltree.Options{DropNegative: true, Order: calltree.ByCum}, "1 main.main 0/90 -> main.f 80 -> main.g 20 -> main.h -10",
		"2 main.f 20/70 -> main.in 50 inline", "3 main.in 50/50", "4 main.g 20/20")
	f(calltree.Options{NodeFraction: 0.2}, "1 main.in 50/50", "2 main.f 20/70 -> main.in 50 inline", "3 main.g 20/20",
		"4 main.main 0/90 -> main.f 70 residual -> main.g 20")
	f(calltree.Options{NoInlines: true, NodeCount: 2}, "1 main.f 70/70", "2 main.g 20/20")
	f(calltree.Options{Granularity: calltree.Lines, NodeCount: 3}, "1 main.in main/in.go:8 50/50", "2 main.f main/f.go:5 20/70 -> main.in 50 inline", "3 main.g main/g.go:9 20/20")
	f(calltree.Options{CallTree: true, NodeFraction: 0.6, Order: calltree.ByCum}, "1 main.main 0/90 -> main.f 80", "2 main.f 0/80")
	f(calltree.Options{Match: func(name string) bool { return name == "main.f" }, NoEdges: true}, "1 main.f 20/70")
	f(calltree.Options{Group: func(f stack.Frame) string { return stack.Package(f.Func) }}, "1 main 90/90")

	// Means: every weight over its own divisors.
	means := func(yield func(calltree.Sample) bool) {
		for i, id := range p.StackIDs {
			if !yield(calltree.Sample{Stack: id, Weight: p.Values[0][i], Divisor: p.Values[1][i], Labels: uint32(i % 2)}) {
				return
			}
		}
	}
	tags := func(set uint32) calltree.LabelSet {
		n := int64(set+1) << 10
		return calltree.LabelSet{Labels: fmt.Sprint("k:", set), Numbers: []calltree.Number{{Name: calltree.Format(n, "bytes", "auto"), Unit: "bytes", Value: n}}}
	}
	g := calltree.New(p.Stacks, means, calltree.Options{Tags: tags, NodeCount: 1})
	if got, want := nodes(g), "1 main.in 10/10\n"; got != want || g.Total != 110/12 {
		t.Errorf("means of %d:\n%swant:\n%s", g.Total, got, want)
	}
	n := g.Nodes[0]
	if len(n.Labels) != 1 || n.Labels[0].Name != "k:0" || n.Labels[0].CumValue() != 10 || len(n.Numbers["k:0"]) != 1 || n.Numbers["k:0"][0].Name != "1kB" {
		t.Errorf("tags = %+v, %+v", n.Labels, n.Numbers)
	}
}

func TestWriteDot(t *testing.T) {
	p := decode(t, "main.main  main.main\nb/c/v2.f:3 main.g~\n= 30 10", "space/bytes")
	var b bytes.Buffer
	g := calltree.New(p.Stacks, calltree.Plain(p.Samples(0)), calltree.Options{Visual: true})
	if err := calltree.WriteDot(&b, calltree.Header{File: "/bin/x", Type: "space", Unit: "bytes"}, g); err != nil {
		t.Fatal(err)
	}
	const want = `digraph "x" {
node [style=filled fillcolor="#f8f8f8"]
subgraph cluster_L { "File: x" [shape=box fontsize=16 label="File: x\lType: space\lShowing nodes accounting for 40B, 100% of 40B total\l\lSee https://git.io/JfYMW for how to read the graph\l" tooltip="x"] }
N1 [label="main\nmain\n0 of 40B (100%)" id="node1" fontsize=8 shape=box tooltip="main.main (40B)" color="#b20000" fillcolor="#edd5d5"]
N2 [label="c\nf\n30B (75.00%)" id="node2" fontsize=24 shape=box tooltip="b/c/v2.f (30B)" color="#b20e00" fillcolor="#edd7d5"]
N3 [label="main\ng\n10B (25.00%)" id="node3" fontsize=18 shape=box tooltip="main.g (10B)" color="#b23c00" fillcolor="#edddd5"]
N1 -> N2 [label=" 30B" weight=76 penwidth=4 color="#b20e00" tooltip="main.main -> b/c/v2.f (30B)" labeltooltip="main.main -> b/c/v2.f (30B)"]
N1 -> N3 [label=" 10B\n (inline)" weight=26 penwidth=2 color="#b23c00" tooltip="main.main -> main.g (10B)" labeltooltip="main.main -> main.g (10B)"]
}
`
	if got := b.String(); got != want {
		t.Errorf("dot:\n%s", difference(got, want))
	}
}

func TestShortenFunctionName(t *testing.T) {
	f := func(name, want string) {
		t.Helper()
		if got := calltree.ShortenFunctionName(name); got != want {
			t.Errorf("ShortenFunctionName(%q) = %q, want %q", name, got, want)
		}
	}
	f("main.main", "main.main")
	f("net/http.(*conn).serve", "http.(*conn).serve")
	f("github.com/a/b/v2/c.(*T).M", "c.(*T).M")
	f("github.com/a/b/v12.F", "b.F")
	f("github.com/a/b/v1.F", "v1.F")
	f("gopkg.in/yaml.v3.F", "yaml.v3.F")
	f("java.util.concurrent.ThreadPoolExecutor$Worker.run()", "ThreadPoolExecutor$Worker.run")
	f("java.util.A.<init>(int)", "A.<init>")
	f("foo::bar::Class::~Class(int)", "Class::~Class")
	f("(anonymous namespace)::foo::Class::Method<a::b>", "Class::Method<a::b>")
	f("operator new", "operator new")
	f("", "")
}

func TestScale(t *testing.T) {
	if !calltree.CompatibleUnits("bytes", "kB") || calltree.CompatibleUnits("bytes", "ms") || !calltree.CompatibleUnits("widgets", "widgets") {
		t.Error("CompatibleUnits is wrong")
	}
	if r := calltree.UnitRatio("us", "ns"); r != 1000 {
		t.Errorf("UnitRatio(us, ns) = %v", r)
	}
	if s := calltree.Format(math.MinInt64, "bytes", "PB"); s != "-8192PB" {
		t.Errorf("Format = %q", s)
	}
	for g := calltree.Functions; g <= calltree.Addresses; g++ {
		if got, err := calltree.ParseGranularity(g.String()); got != g || err != nil {
			t.Errorf("ParseGranularity(%q) = %v, %v", g, got, err)
		}
	}
	if _, err := calltree.ParseGranularity("pixels"); err == nil {
		t.Error("ParseGranularity takes pixels")
	}
}
