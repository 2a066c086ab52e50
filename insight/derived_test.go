package insight

import (
	"strings"
	"testing"

	"loupe/value/stack"
)

// derivedStack are the frames at the lines of a source that end with "// 1" (the function that computes) to
// "// 6", outward. library is what the last of them is called by; "" is runtime.main.
func derivedStack(text, library string) (way []stack.Frame, user []bool) {
	for _, mark := range []string{"// 1\n", "// 2\n", "// 3\n", "// 4\n", "// 5\n", "// 6\n"} {
		i := strings.Index(text, mark)
		if i < 0 {
			break
		}
		fn := "main.f"
		if strings.HasPrefix(mark, "// 2") && strings.Contains(library, "sort.") {
			fn = "main.f.func1"
		}
		way, user = append(way, stack.Frame{Func: fn, File: "a.go", Line: 1 + strings.Count(text[:i], "\n")}), append(user, true)
	}
	if strings.Contains(library, "sort.") {
		last := len(way) - 1
		way = append(way[:last:last], stack.Frame{Func: library}, way[last])
		user = append(user[:last:last], false, true)
		library = ""
	}
	if library == "" {
		library = "runtime.main"
	}
	return append(way, stack.Frame{Func: library}), append(user, false)
}

// cluster is a program with nodes whose sum is computed from their pods.
const cluster = `package main

import ("sort"; "strings"; "sync"; "json"; "time")

type pod struct { cpu int; name string }
type node struct { pods []*pod; name string; cpu int }
type cluster struct { nodes []*node; seen map[string]int }

func (n *node) used() int {
	sum := 0
	for _, p := range n.pods {
		sum += p.cpu // 1
	}
	return sum
}
func (n *node) bind(p *pod) { n.pods = append(n.pods, p) }
`

// TestDerivedAgain: a value that is computed again from the same is told from one of another thing each
// time, one that has changed meanwhile, one that is kept, and one that is computed once for each.
func TestDerivedAgain(t *testing.T) {
	for _, c := range []struct {
		name, source, library string
		kind                  againKind
		certain               bool
	}{
		{"for all nodes, again for each pod", "func (c *cluster) place(p *pod) {\nvar best *node\nfor _, n := range c.nodes {\nif free := n.cpu - n.used(); free > 0 { // 2\nbest = n\n}\n}\nbest.bind(p)\n}\nfunc run(c *cluster, pods []*pod) {\nfor _, p := range pods {\nc.place(p) // 3\n}\n}\n", "", againElements, true},
		{"behind an interface, of which there are several", "type rule interface { ok(n *node) bool }\ntype full struct{}\nfunc (full) ok(n *node) bool {\nreturn n.used() < n.cpu // 2\n}\ntype named struct{}\nfunc (named) ok(n *node) bool { return n.name != \"\" }\nfunc fits(n *node, rules []rule) bool {\nfor _, r := range rules {\nif !r.ok(n) { // 3\nreturn false\n}\n}\nreturn true\n}\nfunc run(c *cluster, pods []*pod, rules []rule) {\nfor _, p := range pods {\nfor _, n := range c.nodes {\nif fits(n, rules) { // 4\nc.seen[n.name]++\n}\n}\nc.nodes[0].bind(p)\n}\n}\n", "", againElements, true},
		{"the same node for each pod", "func run(n *node, pods []*pod) {\nfor _, p := range pods {\nif p.cpu < n.cpu - n.used() { // 2\nprint(p.name)\n}\n}\n}\n", "", againSame, true},
		{"by an index", "func run(c *cluster, pods []*pod) {\nfor range pods {}\nfor j := 0; j < len(pods); j++ {\nfor i := range c.nodes {\nprint(c.nodes[i].used(), pods[j].name) // 2\n}\n}\n}\n", "", againElements, true},
		{"the loop's condition reads the next one", "func (n *node) next() bool { n.pods = n.pods[:1]; return len(n.pods) > 0 }\nfunc run(n *node, names []string) {\nfor n.next() {\nprint(n.used()) // 2\n}\n}\n", "", againNot, false},
		{"what follows each turn changes it", "func run(n *node) {\nfor i := 0; i < 9; n.pods = n.pods[1:] {\nprint(n.used()) // 2\n}\n}\n", "", againNot, false},
		{"a function that is gone through changes it", "func (n *node) each() func(func(int) bool) { return func(f func(int) bool) { for f(1) { n.pods = n.pods[1:] } } }\nfunc run(n *node) {\nfor range n.each() {\nprint(n.used()) // 2\n}\n}\n", "", againNot, false},
		{"the loop's condition changes something else", "func (c *cluster) next() bool { c.nodes = c.nodes[1:]; return len(c.nodes) > 0 }\nfunc run(c *cluster, n *node) {\nfor c.next() {\nprint(n.used()) // 2\n}\n}\n", "", againSame, true},
		{"the condition of a loop", "func run(n *node) {\nfor i := 0; i < n.used(); i++ { // 2\nprint(i)\n}\n}\n", "", againSame, true},
		{"in a comparison", "func run(c *cluster) {\nsort.Slice(c.nodes, func(i, j int) bool {\nreturn c.nodes[i].used() < c.nodes[j].used() // 2\n})\n} // 3\n", "sort.Slice", againCompared, true},
		{"a list that is made of what stays", "func names(all []*node) []string {\nvar out []string\nfor _, n := range all {\nout = append(out, strings.ToUpper(n.name)) // 1\n}\nreturn out\n}\nfunc run(c *cluster, pods []*pod) {\nfor _, p := range pods {\nfor _, n := range names(c.nodes) {\nprint(n, p.name)\n}\nif len(names(c.nodes)) > 3 { // 2\nprint(p.name)\n}\n}\n}\n", "", againSame, true},
		{"of a parameter, through a helper that fills", "func write(sb *strings.Builder, all []*pod) {\nfor _, p := range all {\nsb.WriteString(p.name)\n}\n}\nfunc key(all []*pod) string {\nvar sb strings.Builder\nwrite(&sb, all) // 1\nreturn sb.String()\n}\nfunc run(n *node, others []*node) {\nfor _, o := range others {\nif key(n.pods) != o.name { // 2\nprint(o.name)\n}\n}\n}\n", "", againSame, true},
		{"copied whole, and an element changes by another name", "func (c *cluster) list() []node {\nvar out []node\nfor _, n := range c.nodes {\nout = append(out, *n) // 1\n}\nreturn out\n}\nfunc run(c *cluster, pods []*pod) {\nfor _, p := range pods {\nx := c.nodes[0]\nx.cpu++\nprint(len(c.list()), p.name) // 2\n}\n}\n", "", againNot, false},
		{"copied whole, and what it leads to changes", "func (c *cluster) list() []node {\nvar out []node\nfor _, n := range c.nodes {\nout = append(out, *n) // 1\n}\nreturn out\n}\nfunc run(c *cluster, pods []*pod) {\nfor _, p := range pods {\np.cpu++\nprint(len(c.list()), p.name) // 2\n}\n}\n", "", againSame, true},
		{"for each request", "type shelf struct { books []int }\nfunc (s *shelf) sum() int {\nsum := 0\nfor _, b := range s.books {\nsum += b // 1\n}\nreturn sum\n}\nfunc (s *shelf) serve(w, r any) {\nprint(s.sum()) // 2\n}\nfunc newShelf() *shelf {\ns := &shelf{}\ns.books = append(s.books, 1)\nreturn s\n}\n", "net/http.serverHandler.ServeHTTP", againRequest, true},
		{"for each request, and others add to it", "func (c *cluster) serve(w, r any) {\nfor _, n := range c.nodes {\nprint(n.used()) // 2\n}\n}\nfunc (c *cluster) add(w, r any) { c.nodes[0].bind(nil) }\n", "net/http.serverHandler.ServeHTTP", againRequest, false},
		{"under a condition of both", "func run(c *cluster, pods []*pod) {\nfor _, p := range pods {\nfor _, n := range c.nodes {\nif p.cpu < n.cpu {\nprint(n.used()) // 2\n}\n}\n}\n}\n", "", againElements, false},
		{"under a condition of the node", "func run(c *cluster, pods []*pod) {\nfor _, p := range pods {\nfor _, n := range c.nodes {\nif n.cpu > 3 {\nprint(n.used(), p.name) // 2\n}\n}\n}\n}\n", "", againElements, true},
		{"others may change it", "type guarded struct { mu sync.Mutex; n *node }\nfunc (g *guarded) run(pods []*pod) {\nfor _, p := range pods {\ng.mu.Lock()\nprint(g.n.used(), p.name) // 2\ng.mu.Unlock()\n}\n}\nfunc (g *guarded) more(p *pod) { g.n.bind(p) }\n", "", againSame, false},

		{"the list of all is another one in the next turn", "func run(c *cluster, pods []*pod) {\nfor _, p := range pods {\nfor _, n := range c.nodes {\nprint(n.used()) // 2\n}\nc.nodes = next(c.nodes, p)\n}\n}\n", "", againNot, false},
		{"all share what changes", "type unit struct { scale int }\ntype shared struct { unit *unit; pods []*pod }\nfunc (s *shared) used() int {\nsum := 0\nfor _, p := range s.pods {\nsum += p.cpu * s.unit.scale // 1\n}\nreturn sum\n}\nfunc run(u *unit, all []*shared, pods []*pod) {\nfor _, p := range pods {\nfor _, s := range all {\nprint(s.used()) // 2\n}\nu.scale = p.cpu\n}\n}\n", "", againNot, false},
		{"a grid that is another one in each step", "type grid struct { cells, next []int }\nfunc (g *grid) around(i int) int {\nsum := 0\nfor k := i - 1; k <= i+1; k++ {\nsum += g.cells[k] // 1\n}\nreturn sum\n}\nfunc run(g *grid, steps int) {\nfor s := 0; s < steps; s++ {\nfor i := 1; i < 100; i++ {\ng.next[i] = g.around(i) + s // 2\n}\ng.cells, g.next = g.next, g.cells\n}\n}\n", "", againNot, false},
		{"a grid of another slice in each step", "func around(cells []int, i int) int {\nsum := 0\nfor k := i - 1; k <= i+1; k++ {\nsum += cells[k] // 1\n}\nreturn sum\n}\nfunc run(cells []int, steps int) {\nfor s := 0; s < steps; s++ {\nnext := make([]int, 100)\nfor i := 1; i < 100; i++ {\nnext[i] = around(cells, i) + s // 2\n}\ncells = next\n}\n}\n", "", againNot, false},
		{"a slice whose elements are set", "func around(cells []int, i int) int {\nsum := 0\nfor k := i - 1; k <= i+1; k++ {\nsum += cells[k] // 1\n}\nreturn sum\n}\nfunc run(steps int) {\ncells := make([]int, 100)\nfor s := 0; s < steps; s++ {\nfor i := 1; i < 100; i++ {\ncells[i] = around(cells, i) + s // 2\n}\n}\n}\n", "", againNot, false},
		{"a slice whose elements another function sets", "func around(cells []int, i int) int {\nsum := 0\nfor k := i - 1; k <= i+1; k++ {\nsum += cells[k] // 1\n}\nreturn sum\n}\nfunc step(cells []int, i int) {\nx := around(cells, i) // 2\ncells[i] = x\n}\nfunc run(cells []int, steps int) {\nfor s := 0; s < steps; s++ {\nfor i := 1; i < 100; i++ {\nstep(cells, i) // 3\n}\nshow(s)\n}\n}\n", "", againNot, false},
		{"a slice that is sorted anew", "func first(cells []int) int {\nsum := 0\nfor _, x := range cells {\nsum += x // 1\n}\nreturn sum\n}\nfunc mix(cells []int, s int) { cells[s] = s }\nfunc run(cells []int, in []int) {\nfor _, s := range in {\nprint(first(cells), s) // 2\nmix(cells, s)\n}\n}\n", "", againNot, false},
		{"the widths of a table, for each cell", "type table struct { rows [][]string }\nfunc (t *table) width(c int) int {\nw := 0\nfor _, r := range t.rows {\nw = max(w, len(r[c])) // 1\n}\nreturn w\n}\nfunc (t *table) show() {\nfor _, r := range t.rows {\nfor c, s := range r {\nprint(s, t.width(c)) // 2\n}\n}\n}\n", "", againElements, true},
		{"until it settles", "func (c *cluster) load() int {\nmost := 0\nfor _, n := range c.nodes {\nmost = max(most, n.cpu) // 1\n}\nreturn most\n}\nfunc run(c *cluster, limit int) {\nat := 1\nfor i := 0; i < limit; i++ {\nat = (at*31 + c.load()) / 7 // 2\n}\n}\n", "", againSame, true},

		{"once for each", "func run(c *cluster) {\nfor _, n := range c.nodes {\nprint(n.used()) // 2\n}\n}\n", "", againNot, false},
		{"once for each, in a function that is called once", "func show(c *cluster) {\nfor _, n := range c.nodes {\nprint(n.used()) // 2\n}\n}\nfunc run(c *cluster) {\nshow(c) // 3\n}\n", "", againNot, false},
		{"nodes of each job", "func show(nodes []*node) {\nfor _, n := range nodes {\nprint(n.used()) // 2\n}\n}\nfunc run(jobs []*cluster) {\nfor _, j := range jobs {\nshow(j.nodes) // 3\n}\n}\n", "", againNot, false},
		{"nodes that are read anew", "func load() []*node { return parse() }\nfunc show(nodes []*node) {\nfor _, n := range nodes {\nprint(n.used()) // 2\n}\n}\nfunc run(jobs []string) {\nfor range jobs {\nshow(load()) // 3\n}\n}\n", "", againNot, false},
		{"it changes before each call", "func run(n *node, pods []*pod) {\nfor _, p := range pods {\nn.bind(p)\nprint(n.used()) // 2\n}\n}\n", "", againNot, false},
		{"it changes in some turns", "func run(n *node, pods []*pod) {\nfor _, p := range pods {\nif p.cpu < n.cpu - n.used() { // 2\nn.bind(p)\n}\n}\n}\n", "", againNot, false},
		{"all change in each turn", "func run(c *cluster, pods []*pod) {\nfor _, p := range pods {\nfor _, n := range c.nodes {\nn.bind(p)\n}\nfor _, n := range c.nodes {\nprint(n.used()) // 2\n}\n}\n}\n", "", againNot, false},
		{"each element changes", "func run(c *cluster, pods []*pod) {\nfor _, p := range pods {\nfor _, n := range c.nodes {\nn.bind(p)\nprint(n.used()) // 2\n}\n}\n}\n", "", againNot, false},
		{"what is in the elements changes", "func run(c *cluster, pods []*pod) {\nfor range pods {}\nfor t := 0; t < 1000; t++ {\nfor _, p := range pods {\np.cpu += t\n}\nfor _, n := range c.nodes {\nprint(n.used()) // 2\n}\n}\n}\n", "", againNot, false},
		{"it depends on the other one", "func fits(n *node, p *pod) bool {\nsum := p.cpu\nfor _, q := range n.pods {\nsum += q.cpu // 1\n}\nreturn sum < n.cpu\n}\nfunc run(c *cluster, pods []*pod) {\nfor _, p := range pods {\nfor _, n := range c.nodes {\nprint(fits(n, p)) // 2\n}\n}\n}\n", "", againNot, false},
		{"the value is kept already", "type memo struct { sum, n int; pods []*pod; done bool }\nfunc (m *memo) used() int {\nif m.done { return m.sum }\nfor _, p := range m.pods {\nm.sum += p.cpu // 1\n}\nm.done = true\nreturn m.sum\n}\nfunc run(m *memo, pods []*pod) {\nfor _, p := range pods {\nprint(p.name, m.used()) // 2\n}\n}\n", "", againNot, false},
		{"it is computed where it is not there", "func (c *cluster) of(n *node) int {\nif v, ok := c.seen[n.name]; ok {\nreturn v\n}\nv := n.used() // 2\nc.seen[n.name] = v\nreturn v\n}\nfunc run(c *cluster, pods []*pod) {\nfor _, p := range pods {\nfor _, n := range c.nodes {\nprint(p.name, c.of(n)) // 3\n}\n}\n}\n", "", againNot, false},
		{"it is computed when it is stale", "type view struct { dirty bool; sum int; n *node }\nfunc (v *view) get() int {\nif v.dirty {\nv.sum = v.n.used() // 2\nv.dirty = false\n}\nreturn v.sum\n}\nfunc run(v *view, pods []*pod) {\nfor _, p := range pods {\nprint(p.name, v.get()) // 3\n}\n}\n", "", againNot, false},
		{"a join: each meets one", "func run(c *cluster, pods []*pod) {\nfor _, p := range pods {\nfor _, n := range c.nodes {\nif n.name != p.name {\ncontinue\n}\nprint(n.used()) // 2\n}\n}\n}\n", "", againNot, false},
		{"one of the cases", "func run(n *node, pods []*pod) {\nfor _, p := range pods {\nswitch p.name {\ncase \"a\":\nprint(n.used()) // 2\n}\n}\n}\n", "", againNot, false},
		{"the loop ends with it", "func run(n *node, pods []*pod) int {\nfor _, p := range pods {\nif p.cpu > 3 {\nreturn n.used() // 2\n}\n}\nreturn 0\n}\n", "", againNot, false},
		{"rounds that measure", "func run(n *node) {\nfor i := 0; i < 100; i++ {\nprint(n.used()) // 2\n}\n}\n", "", againNot, false},
		{"until a time has passed", "func run(n *node, begin time.Time) {\nfor time.Since(begin) < time.Second {\nprint(n.used()) // 2\n}\n}\n", "", againNot, false},
		{"three tries", "func run(n *node) {\nfor i := 0; i < 3; i++ {\nprint(n.used(), i) // 2\n}\n}\n", "", againNot, false},
		{"the next node", "func run(n *node, next map[string]*node) {\nfor n != nil {\nprint(n.used()) // 2\nn = next[n.name]\n}\n}\n", "", againNot, false},
		{"what comes by a channel", "func run(in chan *node) {\nfor n := range in {\nprint(n.used()) // 2\n}\n}\n", "", againNot, false},
		{"one that is filled in", "func run(in [][]byte) {\nfor _, b := range in {\nn := &node{}\njson.Unmarshal(b, n)\nprint(n.used()) // 2\n}\n}\n", "", againNot, false},
		{"one that is filled in by its address", "func run(in [][]byte) {\nfor _, b := range in {\nvar n node\njson.Unmarshal(b, &n)\nprint(n.used()) // 2\n}\n}\n", "", againNot, false},
		{"of what the request has", "func serve(w any, n *node) {\nprint(n.used()) // 2\n}\n", "net/http.serverHandler.ServeHTTP", againNot, false},
		{"a function that counts", "var calls int\nfunc total(n *node) int {\ncalls++\nsum := 0\nfor _, p := range n.pods {\nsum += p.cpu // 1\n}\nreturn sum\n}\nfunc run(n *node, pods []*pod) {\nfor _, p := range pods {\nprint(total(n), p.name) // 2\n}\n}\n", "", againNot, false},
		{"a function of the time", "func total(n *node) int {\nsum := 0\nfor _, p := range n.pods {\nsum += p.cpu + time.Now().Second() // 1\n}\nreturn sum\n}\nfunc run(n *node, pods []*pod) {\nfor _, p := range pods {\nprint(total(n), p.name) // 2\n}\n}\n", "", againNot, false},
		{"a part that moves on", "func sum(all []*pod) int {\nn := 0\nfor _, p := range all {\nn += p.cpu // 1\n}\nreturn n\n}\nfunc run(pods []*pod) {\nfor i := 0; i < len(pods); i += 10 {\nprint(sum(pods[i:i+10])) // 2\n}\n}\n", "", againNot, false},
		{"what it calls is given to it, and changes it", "func run(n *node, turns int, each func(t int)) {\nfor t := range turns {\neach(t)\nprint(n.used()) // 2\n}\n}\nfunc start(n *node) { run(n, 9, func(t int) { n.pods[t].cpu++ }) }\n", "", againNot, false},
		{"a method that is a value changes it", "func (n *node) turn(t int) { n.pods[t].cpu++ }\nfunc run(n *node, turns int, each func(t int)) {\nfor t := range turns {\neach(t)\nprint(n.used()) // 2\n}\n}\nfunc start(n *node) { run(n, 9, n.turn) }\n", "", againNot, false},
		{"one of a table of functions changes it", "type desk struct { n *node; ops map[string]func(k int) }\nfunc newDesk(n *node) *desk {\nd := &desk{n, map[string]func(k int){}}\nd.ops[\"cut\"] = func(k int) { d.n.pods[k].cpu /= 2 }\nreturn d\n}\nfunc (d *desk) run(names []string) {\nfor i, name := range names {\nd.ops[name](i)\nprint(d.n.used()) // 2\n}\n}\n", "", againNot, false},
		{"what it calls is of another type", "func run(n *node, turns int, each func(t int)) {\nfor t := range turns {\neach(t)\nprint(n.used()) // 2\n}\n}\nfunc start(n *node, on map[string]func()) { on[\"more\"] = func() { n.pods[0].cpu++ } }\n", "", againSame, true},
		{"elements that are replaced", "func run(c *cluster, pods []*pod) {\nfor i, p := range pods {\nfor _, n := range c.nodes {\nprint(n.used()) // 2\n}\nfor j := range c.nodes {\nc.nodes[j] = &node{cpu: i, name: p.name}\n}\n}\n}\n", "", againNot, false},
	} {
		text := cluster + c.source
		if strings.Contains(c.source, "// 1\n") {
			text = strings.Replace(cluster, "// 1", "//", 1) + c.source
		}
		d := newDerivations(sourceOf(text))
		way, user := derivedStack(text, c.library)
		in, ok := d.at(way[0])
		if !ok {
			t.Fatalf("%s: no function at %+v", c.name, way[0])
		}
		f := d.value(in.decl)
		var rec recomputed
		if f != nil && f.works {
			rec, ok = d.again(f, way, user)
		}
		if !ok || f == nil {
			rec.kind = againNot
		}
		if rec.kind != c.kind || rec.kind != againNot && rec.certain() != c.certain {
			t.Errorf("%s: %v, certain %v (sure %v, waits %v): %s", c.name, rec.kind, rec.certain(), rec.sure, rec.waits, rec.where())
		}
	}
}
