package calltree_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"loupe/analysis/calltree"
	"loupe/format/profile"
	"loupe/format/profile/profiletest"
	"loupe/value/stack"
)

// boxes prints a flame graph, a line for each box: "name weight self".
func boxes(g *calltree.FlameGraph) string {
	var b strings.Builder
	for _, x := range g.Boxes {
		fmt.Fprintf(&b, "%s%s %d %d", strings.Repeat(".", int(x.Depth)), g.Names[x.Name], x.Weight, x.Self)
		if g.Base != 0 {
			fmt.Fprintf(&b, " base %d %d", x.BaseWeight, x.BaseSelf)
		}
		if x.Inline {
			b.WriteString(" inline")
		}
		if x.Narrow > 0 {
			fmt.Fprintf(&b, " narrow %d %d", x.Narrow, x.NarrowWeight)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestFlame(t *testing.T) {
	p := decode(t, `
		main.main  main.main  main.main  main.main  main.init
		main.f     main.f     main.g     net.Dial
		main.in~   main.f     net.Dial   net.dns
		           main.f     main.f
		= 50       30         15         4          1
		= 40       30         0          0          70`, "alloc_space/bytes", "inuse_space/bytes")
	f := func(name string, g *calltree.FlameGraph, want ...string) {
		t.Helper()
		if got := boxes(g); got != strings.Join(want, "\n")+"\n" {
			t.Errorf("%s:\n%swant:\n%s", name, got, strings.Join(want, "\n"))
		}
	}
	flame := func(opt calltree.FlameOptions) *calltree.FlameGraph {
		return calltree.Flame(p.Stacks, p.Samples(0), opt)
	}
	g := flame(calltree.FlameOptions{MinShare: 0.1})
	f("flame", g, "main.main 99 0 narrow 1 4", ".main.f 80 0", "..main.in 50 50 inline", "..main.f 30 0", "...main.f 30 30",
		".main.g 15 0", "..net.Dial 15 0", "...main.f 15 15")
	if g.Total != 100 || g.Whole != 100 || len(g.Levels) != 4 {
		t.Errorf("total %d of %d, levels %+v", g.Total, g.Whole, g.Levels)
	}
	if want := []calltree.Level{{1, 1, 99, 1}, {2, 1, 95, 4}, {3, 0, 95, 0}, {2, 0, 45, 0}}; !slices.Equal(g.Levels, want) {
		t.Errorf("levels = %+v, want %+v", g.Levels, want)
	}
	f("zoom", g.Zoom(0, 0), "main.main 99 0", ".main.f 80 0", "..main.in 50 50 inline", "..main.f 30 0", "...main.f 30 30",
		".main.g 15 0", "..net.Dial 15 0", "...main.f 15 15", ".net.Dial 4 0", "..net.dns 4 4")
	f("zoom twice", g.Zoom(0, 0).Zoom(8, 0), "net.Dial 4 0", ".net.dns 4 4")
	f("inverted", flame(calltree.FlameOptions{MinShare: 0.2, Inverted: true}), "main.in 50 0 inline", ".main.f 50 0", "..main.main 50 50",
		"main.f 45 0 narrow 1 15", ".main.f 30 0", "..main.f 30 0", "...main.main 30 30")
	f("packages", flame(calltree.FlameOptions{Group: calltree.ByPackage}), "main 100 81", ".net 19 4", "..main 15 15")
	f("modules", flame(calltree.FlameOptions{Group: calltree.ByModule}), "/bin/test 100 100")
	f("recursion", flame(calltree.FlameOptions{FoldRecursion: true, NoInlines: true}), "main.main 99 0", ".main.f 80 80", ".main.g 15 0",
		"..net.Dial 15 0", "...main.f 15 15", ".net.Dial 4 0", "..net.dns 4 4", "main.init 1 1")
	dial := func(f stack.Frame) bool { return f.Func == "net.Dial" }
	callers, callees := calltree.Sandwich(p.Stacks, p.Samples(0), dial, calltree.FlameOptions{})
	f("callers", callers, "net.Dial 19 0", ".main.g 15 0", "..main.main 15 15", ".main.main 4 4")
	f("callees", callees, "net.Dial 19 0", ".main.f 15 15", ".net.dns 4 4")
	if callees.Total != 19 || callees.Whole != 100 {
		t.Errorf("total %d of %d", callees.Total, callees.Whole)
	}
	f("difference", flame(calltree.FlameOptions{MinShare: 0.3, Base: p.Samples(1)}), "main.main 99 0 base 70 0 narrow 2 19",
		".main.f 80 0 base 70 0", "..main.in 50 50 base 40 40 inline", "..main.f 30 0 base 30 0", "...main.f 30 30 base 30 30", "main.init 1 1 base 70 70")
	f("names", flame(calltree.FlameOptions{MinShare: 0.5, Name: func(f stack.Frame) string { return f.Func[:1] }}), "m 100 1 narrow 1 4",
		".m 95 0 narrow 1 15", "..m 80 50 narrow 1 30")
	if g := calltree.Flame(new(stack.Table), func(func(stack.ID, int64) bool) {}, calltree.FlameOptions{}); len(g.Boxes) != 0 {
		t.Errorf("nothing at all = %+v", g)
	}
}

// TestFlameDeep draws a stack that is longer than most goroutines' stacks are.
func TestFlameDeep(t *testing.T) {
	var table stack.Table
	f := table.InternFrame(stack.Frame{Func: "main.f"})
	id := table.Intern(slices.Repeat([]stack.FrameID{f}, 1<<20))
	samples := func(yield func(stack.ID, int64) bool) { yield(id, 1) }
	if g := calltree.Flame(&table, samples, calltree.FlameOptions{}); len(g.Boxes) != 1<<20 || len(g.Levels) != 1<<20 {
		t.Errorf("%d boxes on %d levels", len(g.Boxes), len(g.Levels))
	}
	if g := calltree.Flame(&table, samples, calltree.FlameOptions{FoldRecursion: true}); len(g.Boxes) != 1 {
		t.Errorf("%d boxes without recursion", len(g.Boxes))
	}
}

// TestFlameBrute compares with call trees made of maps.
func TestFlameBrute(t *testing.T) {
	p, err := profile.Decode(profiletest.Synthetic(3000, 400), profile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, opt := range []calltree.FlameOptions{{}, {MinShare: 0.001}, {MinShare: 0.02, Inverted: true}, {Base: p.Samples(0), MinShare: 0.01}} {
		g := calltree.Flame(p.Stacks, p.Samples(1), opt)
		weight, self := map[string]int64{}, map[string]int64{}
		for id, v := range p.Samples(1) {
			frames := slices.Clone(p.Stacks.Frames(id))
			if !opt.Inverted {
				slices.Reverse(frames)
			}
			path := ""
			for _, f := range frames {
				path += "/" + p.Stacks.Frame(f).Func
				weight[path] += v
			}
			self[path] += v
		}
		// check compares boxes and returns their paths.
		check := func(g *calltree.FlameGraph, root string) []string {
			paths := make([]string, len(g.Boxes))
			seen := map[string]bool{}
			for i, b := range g.Boxes {
				path := root
				if b.Parent >= 0 {
					path = paths[b.Parent] + "/" + g.Names[b.Name]
				} else if root == "" {
					path = "/" + g.Names[b.Name]
				}
				paths[i] = path
				if b.Weight != weight[path] || b.Self != self[path] || seen[path] {
					t.Errorf("%+v: box %q is %d and %d, want %d and %d, once", opt, path, b.Weight, b.Self, weight[path], self[path])
				}
				seen[path] = true
			}
			for path, w := range weight {
				if strings.HasPrefix(path, root+"/") && float64(w) >= opt.MinShare*float64(g.Total) && !seen[path] && opt.Base == nil {
					t.Errorf("%+v: box %q of %d is not there", opt, path, w)
				}
			}
			return paths
		}
		paths := check(g, "")
		for range 5 {
			i := r.IntN(len(g.Boxes))
			check(g.Zoom(i, opt.MinShare), paths[i])
		}
	}
}
