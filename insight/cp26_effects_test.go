package insight

import "testing"

// TestEffectOfCall: what a call does besides returning something is found through methods of interfaces and other
// names; what stays within it is none.
func TestEffectOfCall(t *testing.T) {
	for _, c := range []struct {
		name, source string
		given        bool
		want         string
	}{
		{"a sum", "func call(xs []int) int {\nsum := 0\nfor _, x := range xs {\nsum += x\n}\nreturn sum\n}", true, ""},
		{"a value of its own", "type parser struct{ at int }\nfunc (p *parser) next() int { p.at++; return p.at }\nfunc call(s string) int {\np := &parser{}\nreturn p.next()\n}", true, ""},
		{"a map of its own", "func call(s string) map[string]int {\nm := map[string]int{}\nm[s] = 1\nreturn m\n}", true, ""},
		{"a slice of its own, by a helper", "func fill(xs []int) { xs[0] = 1 }\nfunc call(s string) []int {\nxs := make([]int, 1)\nfill(xs)\nreturn xs\n}", true, ""},
		{"text in memory", "func call(s string) string {\nvar b strings.Builder\nb.WriteString(s)\nreturn b.String()\n}", true, ""},
		{"a WaitGroup", "func call(s string) int {\nvar wg sync.WaitGroup\nwg.Add(1)\nwg.Wait()\nreturn 1\n}", true, ""},
		{"it waits for an end", "func call(ctx context.Context) bool {\nselect {\ncase <-ctx.Done():\nreturn true\ndefault:\n}\nreturn false\n}", true, ""},
		{"a variable of the package", "var n int\nfunc call(s string) int { n++; return 1 }", false, "changes n"},
		{"behind a pointer to it", "type world struct{ t int }\nvar w world\nfunc call(s string) int {\np := &w\np.t++\nreturn 1\n}", false, "changes p.t"},
		{"behind an interface", "type eng interface{ move(int) }\ntype euler struct{}\nvar steps int\nfunc (euler) move(n int) { steps += n }\nvar e eng = euler{}\nfunc call(n int) bool { e.move(n); return true }", false, "changes steps"},
		{"an element that it goes through", "type part struct{ x int }\nvar ps []*part\nfunc call(n int) bool {\nfor _, p := range ps {\np.x += n\n}\nreturn true\n}", false, "changes p.x"},
		{"what it is given, looked for by the run", "type t struct{ n int }\nfunc call(x *t) int { x.n++; return 1 }", false, ""},
		{"what it is given, not to be seen", "type t struct{ n int }\nfunc call(x *t) int { x.n++; return 1 }", true, "changes x.n"},
		{"in a helper", "type t struct{ m map[int]int }\nfunc (x *t) put(n int) { x.m[n] = n }\nfunc call(x *t) int { x.put(1); return 1 }", true, "changes x.m[n]"},
		{"a counter", "type t struct{ n atomic.Int64 }\nfunc call(x *t) bool { return x.n.Add(1) < 5 }", true, "counts or stores in x.n"},
		{"a map of package sync", "type t struct{ m sync.Map }\nfunc call(x *t) string { n, _ := x.m.LoadOrStore(1, 2); return n.(string) }", true, "counts or stores in x.m"},
		{"a channel", "func call(q chan int) int { return <-q }", true, "receives from a channel"},
		{"time", "func call(s string) bool { time.Sleep(5); return true }", true, "lets time pass"},
		{"an insert", "func call(tx *sql.Tx, s string) int { insert(tx, s); return 1 }\nfunc insert(tx *sql.Tx, s string) { tx.ExecContext(ctx, s) }", true, "by the name of ExecContext changes something"},
		{"what a context has", "type tx struct{ rows int }\nfunc call(ctx context.Context) bool {\nt, _ := ctx.Value(key).(*tx)\nt.rows++\nreturn true\n}", false, "changes t.rows"},
		{"output", "func call(s string) int { fmt.Println(s); return 1 }", true, "writes"},
	} {
		source := "package main\n\nimport (\n\"context\"\n\"database/sql\"\n\"fmt\"\n\"strings\"\n\"sync\"\n\"sync/atomic\"\n\"time\"\n)\n\n" + c.source + "\n"
		_, what := effectOfCall(codeOf(source), lineWith(source, "func call("), c.given)
		if what != c.want {
			t.Errorf("%s: %q, want %q", c.name, what, c.want)
		}
	}
}
