package insight

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"loupe/value/stack"
)

// countBlocks gives the blocks of a source counts: those that "// =7" stands behind, and 100 for all others.
func countBlocks(c *code, text string) {
	lines, said := strings.Split(text, "\n"), regexp.MustCompile(`// =(\d+)`)
	c.turns = countedBlocks(c, func(line, _ int) int64 {
		count := int64(100)
		if m := said.FindStringSubmatch(lines[line-1]); m != nil {
			count, _ = strconv.ParseInt(m[1], 10, 64)
		}
		return count
	})
}

// TestTransportTrail: what a request is made with is followed to a Transport that is made for it, where the counts, or a field that is set
// nowhere, tell that conditions lead there.
func TestTransportTrail(t *testing.T) {
	const head = "package main\n\nimport \"net/http\"\n\ntype getter struct {\n\tclient *http.Client\n\ttls bool\n}\n\n"
	const maker = "func (g *getter) newClient() *http.Client {\n\treturn &http.Client{\n\t\tTransport: &http.Transport{}, // here\n\t}\n}\n\n"
	const lazy = "func (g *getter) get(r *http.Request) {\n\tc := g.client\n\tif c == nil { // =%\n\t\tc = g.newClient()\n\t}\n\tc.Do(r) // 1\n}\n\n"
	const loop = "func main() { // =1\n\tg := &getter{}\n\tfor _, r := range all {\n\t\tg.get(r) // 2\n\t}\n}\n"
	const set = "func newGetter(g *getter) *getter { // =1\n\tg.client = g.newClient()\n\treturn g\n}\n"
	of := func(text, n string) string { return strings.ReplaceAll(text, "=%", "="+n) }
	for _, c := range []struct {
		name, source     string
		counted, uncount bool // whether it is told with counts, and without
	}{
		{"where it is not there, always", maker + of(lazy, "100") + loop, true, true},
		{"set on one way, and not in this run", maker + of(lazy, "100") + set + loop, true, false},
		{"set, and hardly ever made", maker + of(lazy, "1") + set + loop, false, false},
		{"found first", maker + strings.ReplaceAll("func (g *getter) any() *http.Client {\n\tif g.client != nil { // =%\n\t\treturn g.client\n\t}\n\treturn g.newClient()\n}\n\n", "%", "0") + "func (g *getter) get(r *http.Request) {\n\tg.any().Do(r) // 1\n}\n\n" + loop, true, true},
		{"found first, mostly", maker + "func (g *getter) any() *http.Client {\n\tif g.client != nil { // =99\n\t\treturn g.client\n\t}\n\treturn g.newClient()\n}\n\n" + "func (g *getter) get(r *http.Request) {\n\tg.any().Do(r) // 1\n}\n\n" + set + loop, false, false},
		{"by another condition", maker + "func (g *getter) get(r *http.Request) {\n\tc := shared\n\tif g.tls { // =100\n\t\tc = g.newClient()\n\t}\n\tc.Do(r) // 1\n}\n\nvar shared = &http.Client{}\n\n" + loop, true, false},
		{"by a switch", maker + "func (g *getter) get(r *http.Request) {\n\tc := shared\n\tswitch { // =100\n\tcase g.tls: // =2\n\t\tc = g.newClient()\n\t}\n\tc.Do(r) // 1\n}\n\nvar shared = &http.Client{}\n\n" + loop, false, false},
		{"a copy of the default one", "func (g *getter) get(r *http.Request) {\n\ttr := http.DefaultTransport.(*http.Transport).Clone() // here\n\tc := &http.Client{Transport: tr}\n\tc.Do(r) // 1\n}\n\n" + loop, true, true},
		{"in a field of the client", "func (g *getter) get(r *http.Request) {\n\tc := &http.Client{}\n\tc.Transport = &http.Transport{} // here\n\tc.Do(r) // 1\n}\n\n" + loop, true, true},
		{"inside of another RoundTripper", "type auth struct{ next http.RoundTripper }\n\nfunc (g *getter) get(r *http.Request) {\n\tc := &http.Client{Transport: &auth{next: &http.Transport{}}} // here\n\tc.Do(r) // 1\n}\n\n" + loop, true, true},
		{"in a loop that tries again", maker + "func (g *getter) get(r *http.Request) {\n\tc := g.newClient()\n\tfor range 3 { // =110\n\t\tc.Do(r) // 1\n\t}\n}\n\n" + loop, true, false},

		{"kept as soon as it is made", maker + "func (g *getter) get(r *http.Request) {\n\tc := g.client\n\tif c == nil {\n\t\tc = g.newClient()\n\t\tg.client = c\n\t}\n\tc.Do(r) // 1\n}\n\n" + loop, false, false},
		{"kept in the function that makes it", "func (g *getter) newClient() *http.Client {\n\tif g.client == nil {\n\t\tg.client = &http.Client{Transport: &http.Transport{}}\n\t}\n\treturn g.client\n}\n\nfunc (g *getter) get(r *http.Request) {\n\tg.newClient().Do(r) // 1\n}\n\n" + loop, false, false},
		{"a field that is set", maker + set + "func (g *getter) get(r *http.Request) {\n\tc := g.client\n\tc.Do(r) // 1\n}\n\n" + loop, false, false},
		{"sync.Once", maker + "var one *http.Client\nvar once sync.Once\n\nfunc (g *getter) get(r *http.Request) {\n\tonce.Do(func() { one = g.newClient() })\n\tone.Do(r) // 1\n}\n\n" + loop, false, false},
		{"of the package, by a variable", "var one = &http.Client{Transport: &http.Transport{}}\n\nfunc (g *getter) get(r *http.Request) {\n\tc := one\n\tc.Do(r) // 1\n}\n\n" + loop, false, false},
		{"a parameter", maker + "func (g *getter) get(c *http.Client, r *http.Request) {\n\tc.Do(r) // 1\n}\n\nfunc main() { // =1\n\tg := &getter{}\n\tc := g.newClient()\n\tfor _, r := range all {\n\t\tg.get(c, r) // 2\n\t}\n}\n", false, false},
		{"once for a run", maker + "func main() { // =1\n\tg := &getter{}\n\tc := g.newClient()\n\tfor _, r := range all {\n\t\tc.Do(r) // 1\n\t}\n}\n", false, false},
		{"the default Transport", "func (g *getter) get(r *http.Request) {\n\tc := &http.Client{Transport: http.DefaultTransport}\n\tc.Do(r) // 1\n}\n\n" + loop, false, false},
		{"no Transport", "func (g *getter) get(r *http.Request) {\n\tc := &http.Client{}\n\tc.Do(r) // 1\n}\n\n" + loop, false, false},
		{"around one of the package", "type auth struct{ next http.RoundTripper }\n\nvar base = &http.Transport{}\n\nfunc (g *getter) get(r *http.Request) {\n\tc := &http.Client{Transport: &auth{next: base}}\n\tc.Do(r) // 1\n}\n\n" + loop, false, false},
	} {
		text := head + c.source
		frames := []stack.Frame{{Func: "net/http.(*Client).Do", File: "client.go", Line: 1}}
		for _, mark := range []string{"// 1\n", "// 2\n"} {
			if before, _, ok := strings.Cut(text, mark); ok {
				frames = append(frames, stack.Frame{Func: "main.f", File: "a.go", Line: 1 + strings.Count(before, "\n")})
			}
		}
		for _, counted := range []bool{true, false} {
			code := codeOf(text)
			if counted {
				countBlocks(code, text)
			}
			d, want := newDerivations(code), counted && c.counted || !counted && c.uncount
			x, ok := transportFor(d, frames, func(f stack.Frame) bool { return f.File == "a.go" })
			if ok != want {
				t.Errorf("%s, counted %v: %v", c.name, counted, ok)
				continue
			}
			if !ok {
				continue
			}
			before, _, _ := strings.Cut(text, "// here")
			if line := 1 + strings.Count(before, "\n"); d.placeOf(x.made).line != line {
				t.Errorf("%s, counted %v: line %d", c.name, counted, d.placeOf(x.made).line)
			}
		}
	}
}

// TestTellTransport: it is the first that is told, before bodies and limits; without counts it depends on the condition.
func TestTellTransport(t *testing.T) {
	const text = "package main\n\nimport \"net/http\"\n\ntype getter struct{ client *http.Client }\n\nfunc (g *getter) get(r *http.Request) {\n\tc := g.client\n\tif c == nil { // =100\n\t\tc = &http.Client{Transport: &http.Transport{}}\n\t}\n\tc.Do(r)\n}\n\nfunc main() {\n\tfor _, r := range all {\n\t\tg.get(r)\n\t}\n}\n"
	frames := []stack.Frame{{Func: "net/http.(*Client).Do"}, {Func: "main.get", File: "a.go", Line: 12}, {Func: "main.main", File: "a.go", Line: 17}}
	for _, counted := range []bool{true, false} {
		code := codeOf(text)
		if counted {
			countBlocks(code, text)
		}
		f := Finding{Summary: "it opened 9 connections", Advice: "By the source, the body is open. Otherwise: use one.", Doubts: []string{"since MaxIdleConnsPerHost is unset (a.go:10)", "another"}}
		tellTransport(&f, code, frames, func(f stack.Frame) bool { return f.File == "a.go" })
		want := [2]string{"If the condition at a.go:9 mostly leads there, as the source sets g.client nowhere: make the Transport once", "it opened"}
		if counted {
			want = [2]string{"Make the Transport once, and not for each request as at a.go:10", "each request makes a Transport of its own at a.go:10, in 100 of 100 calls"}
		}
		if !strings.HasPrefix(f.Advice, want[0]) || !strings.HasPrefix(f.Summary, want[1]) || !strings.HasSuffix(f.Advice, "Then the bodies: by the source, the body is open.") || len(f.Doubts) != 1 || f.Evidence[0].Line != 10 {
			t.Errorf("%v: %s\n%s\n%q", counted, f.Summary, f.Advice, f.Doubts)
		}
	}
}
