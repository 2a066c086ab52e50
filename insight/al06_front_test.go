package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestFrontCut: what an append makes anew because the front is cut off is told from what only grows. The append is on the line with "here".
func TestFrontCut(t *testing.T) {
	const list = "package q\n\ntype list struct{ items, rest []int }\n\ntype other struct{ items []int }\n\nfunc (l *list) add(v int) {\n\tl.items = append(l.items, v) // here\n}\n\n"
	for _, c := range []struct {
		name, source string
		line         int // of the cut; 0 is none
	}{
		{"a field", list + "func (l *list) next() int {\n\tv := l.items[0]\n\tl.items = l.items[1:]\n\treturn v\n}\n", 13},
		{"two values at once", list + "func (l *list) next() (v int) {\n\tv, l.items = l.items[0], l.items[1:]\n\treturn v\n}\n", 12},
		{"many at once", list + "func (l *list) drop(n int) {\n\tl.items = l.items[n:]\n}\n", 12},
		{"from another function", list + "func drop(x *list) {\n\tx.items = x.items[1:]\n}\n", 12},
		{"a variable", "package q\n\nfunc walk(n int) {\n\tvar todo []int\n\tfor i := range n {\n\t\ttodo = append(todo, i) // here\n\t\tif i%2 == 0 {\n\t\t\ttodo = todo[1:]\n\t\t}\n\t}\n}\n", 8},
		{"a variable of the package", "package q\n\nvar todo []int\n\nfunc add(v int) {\n\ttodo = append(todo, v) // here\n}\n\nfunc next() {\n\ttodo = todo[1:]\n}\n", 10},
		{"the end is cut off", list + "func (l *list) pop() {\n\tl.items = l.items[:len(l.items)-1]\n}\n", 0},
		{"a part is taken", list + "func (l *list) part() {\n\tl.items = l.items[1:3]\n}\n", 0},
		{"all of it is kept", list + "func (l *list) same() {\n\tl.items = l.items[0:]\n}\n", 0},
		{"another field", list + "func (l *list) next() {\n\tl.rest = l.rest[1:]\n}\n", 0},
		{"the field of another type", list + "func (o *other) next() {\n\to.items = o.items[1:]\n}\n", 0},
		{"a variable of that name", list + "func next(items []int) {\n\tfor len(items) > 0 {\n\t\titems = items[1:]\n\t}\n}\n", 0},
		{"only looked at", list + "func (l *list) sum() (n int) {\n\tfor items := l.items; len(items) > 0; items = items[1:] {\n\t\tn += items[0]\n\t}\n\treturn n\n}\n", 0},
		{"set to another's tail", list + "func (l *list) swap(o *list) {\n\tl.items = o.items[1:]\n}\n", 0},
		{"it only grows", list, 0},
		{"no append", "package q\n\ntype list struct{ items []int }\n\nfunc (l *list) add() {\n\tl.items = make([]int, 3) // here\n}\n\nfunc (l *list) next() {\n\tl.items = l.items[1:]\n}\n", 0},
	} {
		r := recordingtest.New("title x")
		r.Put(recording.Entry{Path: "source/q.go", Kind: recording.Source, Source: "/src/q.go"}, []byte(c.source))
		code := newCode(session.New(r.Open()))
		here := 1 + strings.Count(c.source[:strings.Index(c.source, "// here")], "\n")
		cut, ok := frontCutOf(code, stack.Frame{Func: "q.f", File: "/src/q.go", Line: here})
		if ok != (c.line > 0) || cut.at.line != c.line {
			t.Errorf("%s: %v, line %d, want line %d", c.name, ok, cut.at.line, c.line)
		}
		if !ok {
			continue
		}
		f := Finding{Advice: "Preallocate"}
		cut.tell(code, &f)
		if !strings.Contains(f.Summary, "is cut off at q.go:") || !strings.Contains(f.Advice, "index where its front is") || len(f.Evidence) != 1 || f.Evidence[0].Line != c.line {
			t.Errorf("%s: %s; %s; %+v", c.name, f.Summary, f.Advice, f.Evidence)
		}
	}
	if _, ok := frontCutOf(newCode(session.New(recordingtest.New("title x").Open())), stack.Frame{File: "/src/q.go", Line: 3}); ok {
		t.Error("without the source nothing is known")
	}
}
