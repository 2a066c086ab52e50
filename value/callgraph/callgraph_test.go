package callgraph

import (
	"fmt"
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	g := &Graph{Functions: []Function{
		{Name: "main.run", Package: "example.com/cmd/a", Asked: true},
		{Name: "main.run", Package: "example.com/cmd/b", Asked: true},
		{Name: "example.com/q.(*T).Close", Package: "example.com/q", Asked: true},
		{Name: "os.(*File).Close", Package: "os"},
		{Name: "gopkg.in/yaml%2ev3.Map[...]", Package: "gopkg.in/yaml.v3"},
		{Name: "example.com/q.run.func1", Package: "example.com/q", Asked: true},
		{Name: "net/http.(*conn).serve", Package: "net/http"},
	}}
	f := func(name, want string) {
		t.Helper()
		if got := strings.Trim(fmt.Sprint(g.Find(name)), "[]"); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	f("main.run", "0 1")
	f("run", "0 1")
	f("example.com/cmd/b.run", "1")
	f("b.run", "1")
	f("Close", "2")
	f("T.Close", "2")
	f("(*File).Close", "3")
	f("os.(*File).Close", "3")
	f("http.(*conn).serve", "6")
	f("conn.serve", "6")
	f("Map[int]", "4")
	f("gopkg.in/yaml.v3.Map[...]", "4")
	f("gopkg.in/yaml%2ev3.Map[go.shape.[]int]", "4")
	f("func1", "")
	f("q.run.func1", "5")
	f("serv", "")
	f("", "")
	if got := fmt.Sprint(g.Near("close", 1)); got != "[example.com/q.(*T).Close]" {
		t.Errorf("near close is %s", got)
	}
}

func TestCallsOf(t *testing.T) {
	g := &Graph{
		Functions: []Function{{Name: "b"}, {Name: "a"}, {Name: "c"}},
		Calls:     []Call{{Caller: 0, Callee: 2, Line: 4}, {Caller: 1, Callee: 2, Line: 9}, {Caller: 0, Callee: 1}, {Caller: 0, Callee: 2, Line: 4}},
	}
	g.Sort()
	if got := fmt.Sprint(g.CallsOf(2)); got != "[{1 2 0 9 call} {0 2 0 4 call}]" {
		t.Errorf("calls are %s", got)
	}
	if got := g.CallsOf(0); len(got) != 0 {
		t.Errorf("nobody calls b: %v", got)
	}
}
