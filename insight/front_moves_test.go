package insight

import (
	"strings"
	"testing"

	"loupe/value/stack"
)

// TestFrontMoves: what moves all of a slice for one element at its front is told from a copy that is made once, and from moves
// elsewhere.
func TestFrontMoves(t *testing.T) {
	for _, c := range []struct {
		line string
		want string // what it is a move of; a minus is for what removes
	}{
		{"q.list = append([]int{v}, q.list...)", "q.list"},
		{"q.list = append([]int{v}, q.list...)[:10]", "q.list"},
		{"q.list = slices.Insert(q.list, 0, v)", "q.list"},
		{"q.list = slices.Concat([]int{v}, q.list)", "q.list"},
		{"global = append([]int{v}, global...)", "global"},
		{"copy(q.list[1:], q.list)", "q.list"},
		{"copy(q.list[1:], q.list[:len(q.list)-1])", "q.list"},
		{"return append([]int{v}, arg...)", "arg"},
		{"for n != nil { own = append([]int{v}, own...) }", "own"},
		{"q.list = append(q.list[:0], q.list[1:]...)", "-q.list"},
		{"copy(q.list, q.list[1:])", "-q.list"},
		{"q.list = slices.Delete(q.list, 0, 1)", "-q.list"},
		{"own = append([]int{v}, own...)", ""}, // once for each call
		{"for n != nil { var own []int; own = append([]int{v}, own...) }", ""},
		{"out := append([]int{v}, q.list...)", ""},
		{"q.other = append([]int{v}, q.list...)", ""},
		{"q.list = append([]int{}, q.list...)", ""}, // a plain copy
		{"q.list = append(q.list, v)", ""},
		{"q.list = slices.Insert(q.list, i, v)", ""},
		{"copy(q.list[i+1:], q.list[i:])", ""},
		{"copy(q.list[1:i+1], q.list[:i])", ""}, // to the front, what was found
		{"copy(buf, buf[n:])", ""},
		{"q.list = append(q.list[:i], q.list[i+1:]...)", ""},
		{"q.list = q.list[1:]", ""},
	} {
		text := "package main\n\nvar global []int\nfunc (q *queue) f(v int, arg []int) []int {\nvar own []int\n" + c.line + " // here\nreturn own\n}\n"
		line := 1 + strings.Count(text[:strings.Index(text, "// here")], "\n")
		m, ok := frontMoveAt(sourceOf(text), stack.Frame{Func: "main.(*queue).f", File: "a.go", Line: line})
		got := m.of
		if m.removes {
			got = "-" + got
		}
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%s: %q, want %q", c.line, got, c.want)
		}
	}
}

// TestFrontMoveOfHeader: a header in front of a packet is nothing that could come last.
func TestFrontMoveOfHeader(t *testing.T) {
	m, ok := frontMoveAt(sourceOf("package main\n\nfunc (p *packet) wrap(v byte) {\np.data = append([]byte{v}, p.data...)\n}\n"), stack.Frame{Func: "main.(*packet).wrap", File: "a.go", Line: 4})
	if text := m.advice(true); !ok || strings.Contains(text, "square") || !strings.Contains(text, "Leave room in front") {
		t.Errorf("%v: %q", ok, text)
	}
}

// TestFrontMoveCP06: the copying that a prepend does without allocating is told as that.
func TestFrontMoveCP06(t *testing.T) {
	r := spentIn("shop.f:/src/a.go:6 shop.g:/src/b.go:1\nruntime.memmove\n= 60                40\n")
	sourceIn(r, "/src/a.go", "package main\n\nvar q []int\n\nfunc f(v int) {\n\tcopy(q[1:], q)\n\tq[0] = v\n}\n")
	f := expect(t, "a shift", r, "CP06", Found, "a prepend: each time, all entries of q are copied")
	if !strings.Contains(f.Advice, "ring buffer") {
		t.Errorf("%q", f.Advice)
	}
}
