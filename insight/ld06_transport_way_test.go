package insight

import (
	"fmt"
	"strings"
	"testing"

	"loupe/value/stack"
)

// TestTransportWay: a client that a function is given is followed to the callers on the stack, and is made for each request only where it is made
// on the way of each.
func TestTransportWay(t *testing.T) {
	const head = "package main\n\nimport \"net/http\"\n\n"
	const call = "func call(c *http.Client, u string) {\n\tc.Get(u) // 1\n}\n\n"
	const served = "net/http.(*conn).serve"
	for _, c := range []struct {
		name, source string
		funcs        string // of the marked lines
		outer        string
		counts       bool
		found        bool
	}{
		{"in the handler, without a name", call + "func main() {\n\thttp.HandleFunc(`/`, func(w http.ResponseWriter, r *http.Request) {\n\t\tc := &http.Client{Transport: &http.Transport{}} // here\n\t\tcall(c, `u`) // 2\n\t})\n}\n", "call main.func1", served, false, true},
		{"in a function", call + "func fetch(r *http.Request) {\n\tc := &http.Client{Transport: &http.Transport{}} // here\n\tcall(c, `u`) // 2\n}\n", "call fetch", served, false, true},
		{"by a function", "func newClient() *http.Client {\n\treturn &http.Client{Transport: &http.Transport{}} // here\n}\n\n" + call + "func fetch(r *http.Request) {\n\tcall(newClient(), `u`) // 2\n}\n", "call fetch", served, false, true},
		{"through two", call + "type api struct{}\n\nfunc (a *api) get(c *http.Client) {\n\tcall(c, `u`) // 2\n}\n\nfunc fetch(a *api) {\n\ta.get(&http.Client{Transport: &http.Transport{}}) // 3 here\n}\n", "call (*api).get fetch", served, false, true},
		{"a client by value", "func call(c http.Client, u string) {\n\tc.Get(u) // 1\n}\n\nfunc fetch(r *http.Request) {\n\tc := http.Client{Transport: &http.Transport{}} // here\n\tcall(c, `u`) // 2\n}\n", "call fetch", served, false, true},
		{"in a field of what the caller makes", call + "type api struct{ c *http.Client }\n\nfunc newAPI() *api {\n\treturn &api{&http.Client{Transport: &http.Transport{}}} // here\n}\n\nfunc (a *api) get() {\n\tcall(a.c, `u`) // 2\n}\n\nfunc fetch(r *http.Request) {\n\tnewAPI().get() // 3\n}\n", "call (*api).get fetch", served, false, true},
		{"on a goroutine, by the counts", call + "func fetch(r *http.Request) {\n\tc := &http.Client{Transport: &http.Transport{}} // here\n\tgo func() {\n\t\tcall(c, `u`) // 2\n\t}()\n}\n", "call fetch.func1", "", true, true},
		{"in a function that tries again", call + "func again(f func()) {\n\tf() // 3\n}\n\nfunc fetch(r *http.Request) {\n\tc := &http.Client{Transport: &http.Transport{}} // here\n\tagain(func() {\n\t\tcall(c, `u`) // 2\n\t}) // 4\n}\n", "call fetch.func1 again fetch", served, false, true},

		{"around the handler", call + "func main() {\n\tc := &http.Client{Transport: &http.Transport{}}\n\thttp.HandleFunc(`/`, func(w http.ResponseWriter, r *http.Request) {\n\t\tcall(c, `u`) // 2\n\t})\n}\n", "call main.func1", served, false, false},
		{"around the handler, without a helper", "func main() {\n\tc := &http.Client{Transport: &http.Transport{}}\n\thttp.HandleFunc(`/`, func(w http.ResponseWriter, r *http.Request) {\n\t\tc.Get(`u`) // 1\n\t})\n}\n", "main.func1", served, false, false},
		{"around the handler, counted", call + "func main() { // =1\n\tc := &http.Client{Transport: &http.Transport{}}\n\thttp.HandleFunc(`/`, func(w http.ResponseWriter, r *http.Request) {// =100\n\t\tcall(c, `u`) // 2\n\t})\n}\n", "call main.func1", served, true, false},
		{"of the package", call + "var c = &http.Client{Transport: &http.Transport{}}\n\nfunc fetch(r *http.Request) {\n\tcall(c, `u`) // 2\n}\n", "call fetch", served, false, false},
		{"of what serves", call + "type api struct{ c *http.Client }\n\nfunc newAPI() *api {\n\treturn &api{&http.Client{Transport: &http.Transport{}}}\n}\n\nfunc (a *api) get(w http.ResponseWriter, r *http.Request) {\n\tcall(a.c, `u`) // 2\n}\n\nfunc main() {\n\thttp.HandleFunc(`/`, newAPI().get)\n}\n", "call (*api).get", served, false, false},
		{"another caller makes one", call + "var c = &http.Client{}\n\nfunc probe() {\n\tcall(&http.Client{Transport: &http.Transport{}}, `u`)\n}\n\nfunc fetch(r *http.Request) {\n\tcall(c, `u`) // 2\n}\n", "call fetch", served, false, false},
		{"one for many calls", call + "func fetch(r *http.Request) {\n\tc := &http.Client{Transport: &http.Transport{}}\n\tfor _, u := range all { // =900\n\t\tcall(c, u) // 2\n\t}\n}\n", "call fetch", served, true, false},
		{"one for many calls further in", call + "func each(c *http.Client) {\n\tfor _, u := range all { // =900\n\t\tcall(c, u) // 2\n\t}\n}\n\nfunc fetch(r *http.Request) {\n\teach(&http.Client{Transport: &http.Transport{}}) // 3\n}\n", "call each fetch", served, true, false},
	} {
		text := head + c.source
		frames := []stack.Frame{{Func: "net/http.(*Client).Do", File: "client.go", Line: 1}}
		for i, name := range strings.Fields(c.funcs) {
			before, _, ok := strings.Cut(text, fmt.Sprintf("// %d", i+1))
			if !ok {
				t.Fatalf("%s: no line %d", c.name, i+1)
			}
			frames = append(frames, stack.Frame{Func: "main." + name, File: "a.go", Line: 1 + strings.Count(before, "\n")})
		}
		frames = append(frames, stack.Frame{Func: c.outer})
		code := codeOf(text)
		if c.counts {
			countBlocks(code, text)
		}
		d := newDerivations(code)
		x, ok := transportFor(d, frames, func(f stack.Frame) bool { return f.File == "a.go" })
		if ok != c.found {
			t.Errorf("%s: %v", c.name, ok)
			continue
		}
		if before, _, _ := strings.Cut(text, "here\n"); ok && d.placeOf(x.made).line != 1+strings.Count(before, "\n") {
			t.Errorf("%s: line %d", c.name, d.placeOf(x.made).line)
		}
	}
}
