package insight

import (
	"strings"
	"testing"

	"loupe/value/stack"
)

// marked are the frames at the lines of a source that end with a comment: what is nearest to the
// leaf is "// 1".
func marked(text, fn string) (way []stack.Frame) {
	for _, mark := range []string{"// 1", "// 2", "// 3"} {
		if i := strings.Index(text, mark); i >= 0 {
			way = append(way, stack.Frame{Func: fn, File: "a.go", Line: 1 + strings.Count(text[:i], "\n")})
			fn = "main.caller"
		}
	}
	return way
}

// TestSameCallDoubt: the same arguments are not called the same where somebody changes what they
// are made of, where the function has state, reads the context or waits for a change, nor where
// the caller changes what it gets. What is set at the start of the program does not count.
func TestSameCallDoubt(t *testing.T) {
	const (
		handle = "func (s *server) handle(w http.ResponseWriter, r *http.Request) {\n\tx := s.LoadConfig(r.Context(), s.tenant) // 2\n}\n"
		load   = "func (s *server) LoadConfig(ctx context.Context, name string) (*config, error) {\n\treturn get(ctx, base+name) // 1\n}\n"
	)
	for _, c := range []struct{ name, source, want string }{ // want is "same", a part of the doubt, or empty for nothing
		{"a field that nobody sets", load + handle, "same"},
		{"a field that is set when it is made", load + handle + "func newServer() *server {\n\ts := &server{}\n\ts.tenant = \"a\"\n\treturn s\n}\n", "same"},
		{"a field that main sets first", load + handle + "func main() {\n\ts := &server{}\n\ts.tenant = os.Args[1]\n\ts.prepare()\n}\nfunc (s *server) prepare() {\n\ts.tenant += \"/\"\n}\n", "same"},
		{"a field of the same name of another type", load + handle + "type other struct { tenant string }\ntype server struct { tenant string }\nfunc (o *other) reload() {\n\to.tenant = next()\n}\n", "same"},
		{"a field that a goroutine sets", load + handle + "func main() {\n\ts := &server{}\n\tgo func() {\n\t\tfor { s.tenant = next() }\n\t}()\n}\n", "changes s.tenant while the program runs"},
		{"a field that a reload sets", load + handle + "func (s *server) reload(c *config) {\n\ts.tenant = c.tenant\n}\n", "changes s.tenant while the program runs"},
		{"a field that the handler sets through another", load + strings.Replace(handle, "\tx :=", "\ts.enter(r)\n\tx :=", 1) + "func (s *server) enter(r *http.Request) {\n\ts.tenant = r.Host\n}\n", ""},

		{"a value of the context", "func (s *server) LoadConfig(ctx context.Context, name string) (*config, error) {\n\tuser := ctx.Value(userKey{}).(string)\n\treturn get(ctx, base+name+user) // 1\n}\n" + handle, "reads a value of the context"},
		{"a value of the context, further down", "func (s *server) LoadConfig(ctx context.Context, name string) (*config, error) {\n\treturn ask(ctx, base+name) // 1\n}\nfunc ask(ctx context.Context, u string) (*config, error) {\n\treturn get(u + ctx.Value(userKey{}).(string))\n}\n" + handle, "reads a value of the context"},
		{"a cursor", "func (s *server) LoadConfig(ctx context.Context, name string) (*config, error) {\n\tfrom := atomic.AddInt64(&s.at, 100)\n\treturn get(ctx, base+name, from) // 1\n}\n" + handle, "counts &s.at and uses the count"},
		{"a count of the calls", "func (s *server) LoadConfig(ctx context.Context, name string) (*config, error) {\n\tatomic.AddInt64(&s.calls, 1)\n\ts.n++\n\treturn get(ctx, base+name) // 1\n}\n" + handle, "same"},
		{"a long poll", "func (s *server) LoadConfig(ctx context.Context, name string) (*config, error) {\n\treturn get(ctx, \"/wait-for-change/\"+name) // 1\n}\n" + handle, "asks for"},
		{"an error text", "func (s *server) LoadConfig(ctx context.Context, name string) (*config, error) {\n\treturn get(ctx, name, \"cannot wait for it\") // 1\n}\n" + handle, "same"},
		{"how many", "func (s *server) LoadKeys(ctx context.Context, n int) (*config, error) {\n\treturn get(ctx, n) // 1\n}\nfunc (s *server) handle(w http.ResponseWriter, r *http.Request) {\n\tx := s.LoadKeys(r.Context(), 1) // 2\n}\n", "how many to load"},
		{"permissions", "func LoadPermissions(ctx context.Context, role string) (*config, error) {\n\treturn get(ctx, role) // 1\n}\nfunc (s *server) handle(w http.ResponseWriter, r *http.Request) {\n\tx := LoadPermissions(r.Context(), \"admin\") // 2\n}\n", "up to date for each request"},
		{"the caller fills in", load + strings.Replace(handle, "// 2\n", "// 2\n\tx.Host = r.Host\n", 1), "changes what it gets"},

		{"a shuffled deck", "func buildDeck(n int) []int {\n\tj := rand.Intn(n) // 1\n\treturn deck(j)\n}\nfunc f() {\n\tfor {\n\t\tx := buildDeck(52) // 2\n\t}\n}\n", ""},
		{"a table that is filled", "func buildTable(n int) [][]int {\n\treturn rows(n) // 1\n}\nfunc f() {\n\tfor {\n\t\tx := buildTable(65) // 2\n\t\tx[1][2] = 3\n\t}\n}\n", "changes what it gets"},
		{"a table that is read", "func buildTable(n int) [][]int {\n\treturn rows(n) // 1\n}\nfunc f() {\n\tfor {\n\t\tx := buildTable(65) // 2\n\t\tn += x[1][2]\n\t}\n}\n", "same"},
		{"a game that is played", "func newGame(n int) *game {\n\treturn rows(n) // 1\n}\nfunc (g *game) play(k int) {\n\tg.cells[k] = 'x'\n}\nfunc f() {\n\tfor {\n\t\tnewGame(64).play(k) // 2\n\t}\n}\n", "changes what it gets"},
		{"a game that is looked at", "func newGame(n int) *game {\n\treturn rows(n) // 1\n}\nfunc (g *game) size() int {\n\treturn len(g.cells)\n}\nfunc f() {\n\tfor {\n\t\tnewGame(64).size() // 2\n\t}\n}\n", "same"},
		{"made by a helper, filled by its caller", "func newBuf(n int) *buf {\n\treturn rows(n) // 1\n}\nfunc fresh() *buf {\n\treturn newBuf(64) // 2\n}\nfunc f() {\n\tfor {\n\t\tb := fresh() // 3\n\t\tb.add(k)\n\t}\n}\nfunc (b *buf) add(k int) {\n\tb.all = append(b.all, k)\n}\n", "changes what it gets"},
		{"a line that is read anew", "var line []byte\nfunc parseRules(b []byte) []rule {\n\treturn split(b) // 1\n}\nfunc readLine(i int) {\n\tline = append(line[:0], next(i)...)\n}\nfunc main() {\n\tfor i := range n {\n\t\treadLine(i)\n\t\tx := parseRules(line) // 2\n\t}\n}\n", ""},
		{"a map that grows", "var registry = map[string]int{}\nfunc buildIndex(m map[string]int) []string {\n\treturn sorted(m) // 1\n}\nfunc main() {\n\tfor i := range n {\n\t\tregistry[name(i)] = i\n\t\tx := buildIndex(registry) // 2\n\t}\n}\n", ""},
		{"a map that is filled first", "var registry = map[string]int{}\nfunc buildIndex(m map[string]int) []string {\n\treturn sorted(m) // 1\n}\nfunc main() {\n\tfor i := range n {\n\t\tregistry[name(i)] = i\n\t}\n\tfor {\n\t\tx := buildIndex(registry) // 2\n\t}\n}\n", "same"},
	} {
		text := "package main\n\nimport \"math/rand\"\n\n" + c.source
		callee := text[strings.LastIndex(text[:strings.Index(text, "// 1")], "func ")+5:]
		if strings.HasPrefix(callee, "(") {
			callee = callee[strings.Index(callee, ") ")+2:]
		}
		callee = callee[:strings.Index(callee, "(")]
		got, ok := sameCallOn(sourceOf(text), marked(text, "main."+callee), "get")
		switch {
		case ok != (c.want != ""):
			t.Errorf("%s: told %v: %+v", c.name, ok, got)
		case ok && c.want == "same" && got.unsure != "", ok && c.want != "same" && !strings.Contains(got.unsure, c.want):
			t.Errorf("%s: %q, want %q", c.name, got.unsure, c.want)
		}
	}
}
