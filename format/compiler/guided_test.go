package compiler

import (
	"strings"
	"testing"
)

const guided = `# example.com/p
./p.go:12:9: PGO devirtualize considering call (*T).read(t, "a)(b")
{"Pkg":"example.com/p","Pos":"/src/p/p.go:12:9","Caller":"example.com/p.run","Direct":true,"Interface":false,"Weight":7,"Hottest":"example.com/p.(*T).read","HottestWeight":7,"Devirtualized":"","DevirtualizedWeight":0}
./p.go:14:20: PGO devirtualize considering call w.Write(b)
./p.go:14:20: PGO devirtualizing interface call w.Write to (*A).Write
{"Pkg":"example.com/p","Pos":"/src/p/p.go:14:20","Caller":"example.com/p.run","Direct":false,"Interface":true,"Weight":3,"Hottest":"example.com/p.(*A).Write","HottestWeight":3,"Devirtualized":"example.com/p.(*A).Write","DevirtualizedWeight":3}
{"Pkg":"example.com/p","Pos":"/src/p/p.go:90:2","Caller":"example.com/p.other","Direct":true,"Interface":false,"Weight":0,"Hottest":"","HottestWeight":0,"Devirtualized":"","DevirtualizedWeight":0}
{"Pkg":"example.com/p","Pos":
hot-callsite-thres-from-CDF=0.2
hot-cg before inline in dot format:
digraph G {
forcelabels=true;
"example.com/p.run" [color=black, style=solid, label="example.com/p.run"];
"example.com/p.(*T).read" [color=black, style=solid, label="example.com/p.(*T).read,inl_cost=90"];
"example.com/p.gone" [color=black, style=dashed, label="example.com/p.gone"];
edge [color=red, style=solid];
"example.com/p.run" -> "example.com/p.(*T).read" [label="70.00"];
}
hot-node enabled increased budget=2000 for func=example.com/p.(*T).read
hot-budget check allows inlining for call p.(*T).read (cost 90) at ./p.go:12:9 in function p.run
hot-budget check allows inlining for call p.(*T).read (cost 90) at ./p.go:12:9 in function p.run
hot-big check disallows inlining for call p.(*T).read (cost 90) at ./p.go:30:9 in big function p.large
hot-budget check allows nothing
./p.go:12:9: inlining call to (*T).read
`

func TestGuided(t *testing.T) {
	g, err := ParseGuided(strings.NewReader(guided), func(name string) bool { return name != "example.com/p.other" })
	if err != nil {
		t.Fatal(err)
	}
	if len(g.Sites) != 2 || g.Sites[0].Called != "read" || g.Sites[0].Line != 12 || g.Sites[1].Called != "Write" || g.Sites[1].Weight != 3 || !g.Sites[1].Interface {
		t.Errorf("sites: %+v", g.Sites)
	}
	if len(g.Known) != 2 || !g.Known["example.com/p.run"] || !g.Known["example.com/p.(*T).read"] {
		t.Errorf("known: %v", g.Known)
	}
	if len(g.Hot) != 1 || g.Hot[0].Callee != "p.(*T).read" || g.Hot[0].Caller != "p.run" || g.Hot[0].Pos.Line != 12 || len(g.TooBig) != 1 || g.TooBig[0].Caller != "p.large" {
		t.Errorf("hot: %+v, too big: %+v", g.Hot, g.TooBig)
	}
	if len(g.Devirtualized) != 1 || g.Packages != 1 || g.Malformed != 1 {
		t.Errorf("%d made direct, %d packages, %d malformed", len(g.Devirtualized), g.Packages, g.Malformed)
	}
}

func TestCalledIn(t *testing.T) {
	f := func(call, want string) {
		t.Helper()
		if got := calledIn(call); got != want {
			t.Errorf("calledIn(%q) = %q, want %q", call, got, want)
		}
	}
	f("hash(x)", "hash")
	f("(*T).read(t, f(x))", "read")
	f("w.buf.Write(p)", "Write")
	f("pkg.F(g(1), (2))", "F")
	f("sort[int, []string](s)", "sort")
	f("m[key](x)", "m")
	f("(func literal)()", "")
	f(`strings.Index("a(b", ")")`, "Index")
	f("größe(x)", "größe")
	f("x", "")
	f("", "")
}

func FuzzParseGuided(f *testing.F) {
	f.Add([]byte(guided))
	f.Fuzz(func(t *testing.T, data []byte) {
		g, err := ParseGuided(strings.NewReader(string(data)), func(string) bool { return true })
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range g.Sites {
			if s.Caller == "" || s.Line < 0 {
				t.Errorf("%+v", s)
			}
		}
	})
}
