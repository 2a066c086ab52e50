package insight

import (
	"go/ast"
	"go/types"
	"strings"
	"testing"
)

// TestArrayShares: what has the array of a list beyond a statement is told from what only looks at it, copies it, or is done with it before the list gets shorter.
func TestArrayShares(t *testing.T) {
	const one = "j := q.items[0]\nq.items = q.items[1:]\nreturn &j\n"
	for _, c := range []struct{ name, pop, rest, own, others string }{
		{"a copy", one, "", "", ""},
		{"the address", "j := &q.items[0]\nq.items = q.items[1:]\nreturn j\n", "", "a pointer into the array (&q.items[0])", ""},
		{"the address of a field", "j := &q.items[0].raw\nq.items = q.items[1:]\nkeep(j)\nreturn nil\n", "", "a pointer into the array (&q.items[0].raw)", ""},
		{"the address of what an element points to", "j := &q.many[0].raw\nq.many = q.many[1:]\nkeep(j)\nreturn nil\n", "", "", ""},
		{"the address, used before", "j := &q.items[0]\nn := j.id\nq.items = q.items[1:]\nprintln(n)\nreturn nil\n", "", "", ""},
		{"the address, in a closure", "j := &q.items[0]\ndefer func() { println(j.id) }()\nq.items = q.items[1:]\nreturn nil\n", "", "a pointer into the array (&q.items[0])", ""},
		{"the address, on a goroutine", "go work(&q.items[0])\nq.items = q.items[1:]\nreturn nil\n", "", "a pointer into the array (&q.items[0])", ""},
		{"the address, in the next turn", "var last *item\nfor range 3 {\nif last != nil {\nprintln(last.id)\n}\nlast = &q.items[0]\nq.items = q.items[1:]\n}\nreturn nil\n", "", "a pointer into the array (&q.items[0])", ""},
		{"a part", "head := q.items[:n]\nq.items = q.items[n:]\nsend(head)\nreturn nil\n", "", "a part of the array (q.items[:n])", ""},
		{"a part of pointers", "head := q.many[:n]\nq.many = q.many[n:]\nall <- head\nreturn nil\n", "", "a part of the array (q.many[:n])", ""},
		{"a part, sent", "all <- q.many[:n]\nq.many = q.many[n:]\nreturn nil\n", "", "a part of the array (q.many[:n])", ""},
		{"a part, appended to", "out = append(out, q.many[:n]...)\nq.many = q.many[n:]\nreturn nil\n", "", "", ""},
		{"a part, cloned", "head := slices.Clone(q.items[:n])\nq.items = q.items[n:]\nsend(head)\nreturn nil\n", "", "", ""},
		{"a part, cloned by append", "head := append(q.items[:0:0], q.items[:n]...)\nq.items = q.items[n:]\nsend(head)\nreturn nil\n", "", "", ""},
		{"a part, gone through", "for _, j := range q.items[:n] {\nprintln(j.id)\n}\nq.items = q.items[n:]\nreturn nil\n", "", "", ""},
		{"by another name", "old := q.items\nq.items = q.items[1:]\nreturn &old[0]\n", "", "q.items itself, with its array", ""},
		{"by another name, its length", "old := q.items\nq.items = q.items[1:]\nprintln(len(old))\nreturn nil\n", "", "", ""},

		{"handed on", one, "func (q *queue) waiting() []item {\nq.mu.Lock()\ndefer q.mu.Unlock()\nreturn q.items\n}\n", "", "q.items itself, with its array"},
		{"handed on as a copy", one, "func (q *queue) waiting() []item {\nreturn slices.Clone(q.items)\n}\n", "", ""},
		{"its length", one, "func (q *queue) waiting() int {\nreturn len(q.items)\n}\n", "", ""},
		{"read when the lock is released", one, "func (q *queue) show() {\nq.mu.Lock()\nall := q.items\nq.mu.Unlock()\nfor _, j := range all {\nprintln(j.id)\n}\n}\n", "", "q.items itself, with its array"},
		{"read under the lock", one, "func (q *queue) show() {\nq.mu.Lock()\nall := q.items\nfor _, j := range all {\nprintln(j.id)\n}\nq.mu.Unlock()\n}\n", "", ""},
		{"the first, taken before", one, "func (q *queue) run() {\nj := &q.items[0]\nq.pop(1)\nprintln(j.id)\n}\n", "", "a pointer into the array (&q.items[0])"},
		{"the first, done before", one, "func (q *queue) run() {\nj := &q.items[0]\nprintln(j.id)\nq.pop(1)\n}\n", "", ""},
		{"the last, returned", one, "func (q *queue) push() *item {\nq.items = append(q.items, item{})\nreturn &q.items[len(q.items)-1]\n}\n", "", "a pointer into the array (&q.items[len(q.items) - 1])"},
		{"stored", one, "func (q *queue) save(o *queue) {\no.many = nil\nshown = q.items\n}\nvar shown []item\n", "", "q.items itself, with its array"},
		{"encoded", one, "func (q *queue) save() []byte {\nb, _ := json.Marshal(q.items)\nreturn b\n}\n", "", ""},
		{"sorted", one, "func (q *queue) order() {\nslices.SortFunc(q.items, less)\n}\n", "", ""},
	} {
		text := "package shop\n\nimport (\n\"encoding/json\"\n\"slices\"\n\"sync\"\n)\ntype item struct { id int; raw []byte }\ntype queue struct { mu sync.Mutex; items []item; many []*item }\nvar all chan []*item\nvar out []*item\nfunc send(x []item) {}\nfunc keep(x *[]byte) {}\nfunc work(x *item) {}\nfunc less(a, b item) int { return a.id - b.id }\n" +
			"func (q *queue) pop(n int) *item {\n" + c.pop + "}\n" + c.rest
		d := newDerivations(sourceOf(text))
		s := &arrayShares{d: d, decl: d.named["pop"][0]}
		ast.Inspect(s.decl, func(n ast.Node) bool {
			if a, ok := n.(*ast.AssignStmt); ok && strings.HasPrefix(types.ExprString(a.Lhs[0]), "q.") {
				s.cut, s.list = a, d.t.place(a.Lhs[0])
			}
			return true
		})
		said := func(x *arrayShare) string {
			if x == nil {
				return ""
			}
			return x.text()
		}
		if own, others := s.find(); said(own) != c.own || said(others) != c.others {
			t.Errorf("%s: %q, %q", c.name, said(own), said(others))
		}
	}
}
