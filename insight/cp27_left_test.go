package insight

import (
	"strings"
	"testing"

	"loupe/value/stack"
)

// TestGoesThroughLeft: what calls add to and go through is found, also in functions below, by other names, and where it is done between the calls; where they go
// through their inputs and what stays, nothing is; and where the sources do not show all, nobody can tell.
func TestGoesThroughLeft(t *testing.T) {
	const head = "package main\n\nimport (\n\"encoding/json\"\n\"net/http\"\n\"os\"\n\"slices\"\n\"strings\"\n\"sync\"\n)\n\ntype item struct {\nparts []string\nnext *item\n}\n\ntype index struct{ of map[string]int }\n\n" +
		"type state struct {\nmu sync.Mutex\nall []*index\nseen []string\ncount map[string]int\ntext string\nout strings.Builder\nfirst *item\nn int\n}\n\nvar known []string\n\nvar ready chan int\n\n"
	for _, c := range []struct {
		name, turn, function string
		left, shown          bool
	}{
		{"it searches what stays, and counts", "s.add(x)", "s.mu.Lock()\ndefer s.mu.Unlock()\nfor _, p := range x.parts {\nfor _, i := range s.all {\nif _, ok := i.of[p]; ok {\nbreak\n}\n}\ns.count[p]++\ns.seen = append(s.seen, p)\n}\ns.n++", false, true},
		{"it decodes a file of its own", "s.add(x)", "b, err := os.ReadFile(x.parts[0])\nif err != nil {\nreturn\n}\nvar own item\nif json.Unmarshal(b, &own) == nil {\nfor _, p := range own.parts {\ns.count[p]++\n}\n}", false, true},
		{"a sum", "s.add(x)", "s.n += len(x.parts)\ns.n = s.n + 1", false, true},
		{"it adds all that it is given", "s.add(x)", "s.seen = append(s.seen, x.parts...)", false, true},
		{"in turns of an outer loop, what it does not go through", "for range 2 {\ns.add(x)\n}\ns.n++", "for _, y := range s.seen {\ns.count[y]++\n}", false, true},
		{"in turns of an outer loop", "for range 2 {\ns.add(x)\n}\ns.seen = append(s.seen, \"\")", "for _, y := range s.seen {\ns.count[y]++\n}", true, true},
		{"a text that is copied into another", "s.add(x)", "s.count[s.text+x.parts[0]]++\ns.text = x.parts[0]", true, true},
		{"a copy of all", "s.add(x)", "own := append([]string{}, s.seen...)\nown[0] = \"\"\ns.seen = append(s.seen, x.parts[0])", true, true},
		{"a copy into another list", "s.add(x)", "own := make([]string, 9)\ncopy(own, s.seen)\ns.seen = append(s.seen, x.parts[0])", true, true},
		{"a library fills it", "s.add(x)", "json.Unmarshal(nil, &s.seen)\nfor _, y := range s.seen {\ns.count[y]++\n}", true, true},
		{"up to the number of the turn", "s.add(x)\ns.upTo(n)", "s.n++", true, true},
		{"a list in front of the loop", "s.add(x)\nmine = append(mine, x)\nfor range mine {\ns.n++\n}", "s.n++", true, true},
		{"a list of one turn", "s.add(x)\nvar own []*item\nown = append(own, x)\nfor range own {\ns.n++\n}", "s.n++", false, true},
		{"a text that a library gathers", "s.add(x)", "s.out.WriteString(x.parts[0])\nif len(s.out.String()) > 9 {\ns.n++\n}", true, true},
		{"it waits for a channel", "s.add(x)", "<-ready\ns.n++", false, false},
		{"it searches what it adds to", "s.add(x)", "for _, p := range x.parts {\nfor _, y := range s.seen {\nif y == p {\nreturn\n}\n}\ns.seen = append(s.seen, p)\n}", true, true},
		{"by a library", "s.add(x)", "if !slices.Contains(s.seen, x.parts[0]) {\ns.seen = append(s.seen, x.parts[0])\n}", true, true},
		{"in functions below", "s.add(x)", "if !s.has(x.parts[0]) {\ns.put(x.parts[0])\n}", true, true},
		{"by another name", "s.add(x)", "own := s.seen\nfor i := range own {\nif own[i] == x.parts[0] {\nreturn\n}\n}\ns.seen = append(s.seen, x.parts[0])", true, true},
		{"as an argument", "s.add(x)", "if !in(s.seen, x.parts[0]) {\ns.seen = append(s.seen, x.parts[0])\n}", true, true},
		{"by its address", "s.add(x)", "if !in(s.seen, x.parts[0]) {\nput(&s.seen, x.parts[0])\n}", true, true},
		{"a text", "s.add(x)", "s.text += x.parts[0]", true, true},
		{"a text that is read", "s.add(x)", "if !strings.Contains(s.text, x.parts[0]) {\ns.text = s.text + x.parts[0]\n}", true, true},
		{"a linked list", "s.add(x)", "for i := s.first; i != nil; i = i.next {\nif i == x {\nreturn\n}\n}\nx.next = s.first\ns.first = x", true, true},
		{"up to a number", "s.add(x)", "for range s.n {\ns.count[\"\"]++\n}\ns.n++", true, true},
		{"a variable of the package", "s.add(x)", "for _, y := range known {\ns.count[y]++\n}\nknown = append(known, x.parts[0])", true, true},
		{"between the calls", "s.add(x)\ns.seen = append(s.seen, x.parts[0])", "for _, y := range s.seen {\ns.count[y]++\n}", true, true},
		{"below, from what is kept", "s.add(x)", "s.walk(x)\ns.first = x", true, true},
		{"it asks a peer", "s.add(x)", "http.Get(x.parts[0])\ns.n++", false, false},
	} {
		source := head + "func (s *state) run(all []*item) {\nfor _, x := range all {\n" + c.turn + "\n}\n}\n\nfunc (s *state) add(x *item) {\n" + c.function + "\n}\n\n" +
			"func (s *state) has(p string) bool {\nfor _, y := range s.seen {\nif y == p {\nreturn true\n}\n}\nreturn false\n}\n\nfunc (s *state) put(p string) { s.seen = append(s.seen, p) }\n\n" +
			"func (s *state) walk(x *item) {\nif x != nil && x.next != s.first {\ns.walk(x.next)\n}\n}\n\nfunc in(all []string, p string) bool {\nfor _, y := range all {\nif y == p {\nreturn true\n}\n}\nreturn false\n}\n\n" +
			"func put(all *[]string, p string) { *all = append(*all, p) }\n"
		if strings.Contains(c.turn, "(n)") {
			source = strings.Replace(source, "for _, x := range all", "for n, x := range all", 1) + "\nfunc (s *state) upTo(n int) {\nfor range n {\ns.count[\"\"]++\n}\n}\n"
		}
		if strings.Contains(c.turn, "mine") {
			source = strings.Replace(source, "for _, x := range all", "var mine []*item\nfor _, x := range all", 1)
		}
		line := func(mark string) int { return 1 + strings.Count(source[:strings.Index(source, mark)], "\n") }
		left, shown := goesThroughLeft(sourceOf(source), stack.Frame{Func: "main.(*state).add", File: "a.go", Line: line("func (s *state) add")}, stack.Frame{Func: "main.(*state).run", File: "a.go", Line: line("s.add(x)")})
		if left != c.left || shown != c.shown {
			t.Errorf("%s: left %v, shown %v", c.name, left, shown)
		}
	}
}
