package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
)

// TestWT02State: what a call of a loop leaves behind for the next one is a condition of making them at once, and names both lines.
func TestWT02State(t *testing.T) {
	const head = "package main\n\nimport (\n\t\"context\"\n\t\"encoding/json\"\n\t\"fmt\"\n\t\"io\"\n\t\"log\"\n\t\"net/http\"\n\t\"strconv\"\n\t\"time\"\n)\n\ntype part struct{ Value int }\ntype key struct{}\ntype session struct{ token string }\n" +
		"type api struct {\n\thc *http.Client\n\tseq, calls int\n\tlim limiter\n\tlast, base string\n}\ntype limiter struct{ last time.Time }\n\nfunc (l *limiter) wait() {\n\tif d := time.Millisecond - time.Since(l.last); d > 0 {\n\t\ttime.Sleep(d)\n\t}\n\tl.last = time.Now()\n}\n\n" +
		"func ask(path, token string, h http.Header) (*http.Response, error) {\n\treq, err := http.NewRequest(\"GET\", path, nil)\n\tif err != nil {\n\t\treturn nil, err\n\t}\n\tif h != nil {\n\t\treq.Header = h\n\t}\n\treq.Header.Set(\"X-Token\", token)\n\treturn http.DefaultClient.Do(req) // asks\n}\n\n"
	const loop = "func handle(w http.ResponseWriter, r *http.Request, names []string, parts []*part, list []part) {\n\tctx := context.WithValue(r.Context(), key{}, &session{})\n\ta := &api{hc: http.DefaultClient}\n\th := http.Header{}\n\tvar st session\n\tsum := 0\n\t_, _, _, _ = ctx, a, h, st\n\tfor i, name := range names {\n\t\tCALL // 1\n\t\tif err != nil {\n\t\t\treturn\n\t\t}\n\t\tsum += len(v) + i\n\t}\n\tfmt.Fprintln(w, sum)\n}\n\n"
	const plain = "Ask for all at once: one query"
	for _, c := range []struct{ name, call, callee, advice string }{
		{"a token behind a value of the context", "v, err := get(ctx, name)", "func get(ctx context.Context, name string) (string, error) {\n\ts := ctx.Value(key{}).(*session)\n\tresp, err := ask(name, s.token, nil)\n\tif err != nil {\n\t\treturn \"\", err\n\t}\n\ts.token = resp.Header.Get(\"X-Next\")\n\treturn resp.Status, nil\n}\n",
			"If no call needs what an earlier one leaves behind (s.token is set at main.go:"},
		{"a number that is sent", "v, err := a.get(name)", "func (a *api) get(name string) (string, error) {\n\ta.seq++\n\tresp, err := ask(name, strconv.Itoa(a.seq), nil)\n\tif err != nil {\n\t\treturn \"\", err\n\t}\n\treturn resp.Status, nil\n}\n",
			"leaves behind (a.seq is counted on at main.go:"},
		{"a limiter by time", "v, err := a.get(name)", "func (a *api) get(name string) (string, error) {\n\ta.lim.wait()\n\tresp, err := ask(name, \"\", nil)\n\tif err != nil {\n\t\treturn \"\", err\n\t}\n\treturn resp.Status, nil\n}\n",
			"leaves behind (l.last is set at main.go:"},
		{"a header that a helper sets", "v, err := get(h, name)", "func get(h http.Header, name string) (string, error) {\n\tresp, err := ask(name, \"\", h)\n\tif err != nil {\n\t\treturn \"\", err\n\t}\n\tremember(h, resp)\n\treturn resp.Status, nil\n}\n\nfunc remember(h http.Header, resp *http.Response) {\n\tif t := resp.Header.Get(\"Date\"); t != \"\" {\n\t\th.Set(\"X-After\", t)\n\t}\n}\n",
			"leaves behind (h.Set is called at main.go:"},
		{"a variable that is handed out by its address", "v, err := get(&st, name)", "func get(s *session, name string) (string, error) {\n\tresp, err := ask(name, s.token, nil)\n\tif err != nil {\n\t\treturn \"\", err\n\t}\n\ts.token = resp.Status\n\treturn resp.Status, nil\n}\n",
			"leaves behind (s.token is set at main.go:"},
		{"a token that the first call gets", "v, err := a.get(name)", "func (a *api) get(name string) (string, error) {\n\tif a.last == \"\" {\n\t\tresp, err := ask(\"/login\", \"\", nil)\n\t\tif err != nil {\n\t\t\treturn \"\", err\n\t\t}\n\t\ta.last = resp.Status\n\t}\n\tresp, err := ask(name, a.last, nil)\n\tif err != nil {\n\t\treturn \"\", err\n\t}\n\treturn resp.Status, nil\n}\n",
			"leaves behind (a.last is set at main.go:"},

		{"the address is fixed", "v, err := get(i)", "func get(n int) (string, error) {\n\tlog.Print(n)\n\tresp, err := http.Get(\"http://peer/next\")\n\tif err != nil {\n\t\treturn \"\", err\n\t}\n\treturn resp.Status, nil\n}\n",
			"the call asks for the same in each turn: what it is given is not used"},

		{"a look-up", "v, err := get(name)", "func get(name string) (string, error) {\n\tresp, err := ask(name, \"\", nil)\n\tif err != nil {\n\t\treturn \"\", err\n\t}\n\tdefer resp.Body.Close()\n\tb, err := io.ReadAll(resp.Body)\n\treturn string(b), err\n}\n", plain},
		{"by a method that reads", "v, err := a.get(name)", "func (a *api) get(name string) (string, error) {\n\tresp, err := ask(a.base+name, \"\", nil)\n\tif err != nil {\n\t\treturn \"\", err\n\t}\n\treturn resp.Status, nil\n}\n", plain},
		{"it counts", "v, err := a.get(name)", "func (a *api) get(name string) (string, error) {\n\ta.calls++\n\tresp, err := ask(name, \"\", nil)\n\tif err != nil {\n\t\treturn \"\", err\n\t}\n\treturn resp.Status, nil\n}\n", plain},
		{"a header of its own", "v, err := get(name)", "func get(name string) (string, error) {\n\th := http.Header{}\n\th.Set(\"A\", name)\n\tresp, err := ask(name, \"\", h)\n\tif err != nil {\n\t\treturn \"\", err\n\t}\n\treturn resp.Status, nil\n}\n", plain},
		{"each element is filled", "v, err := get(parts[i], name)", "func get(p *part, name string) (string, error) {\n\tresp, err := ask(name, \"\", nil)\n\tif err != nil {\n\t\treturn \"\", err\n\t}\n\tp.Value = len(resp.Status)\n\treturn strconv.Itoa(p.Value), nil\n}\n", plain},
		{"each element is decoded into", "v, err := get(&list[i], name)", "func get(p *part, name string) (string, error) {\n\tresp, err := ask(name, \"\", nil)\n\tif err != nil {\n\t\treturn \"\", err\n\t}\n\terr = json.NewDecoder(resp.Body).Decode(p)\n\treturn strconv.Itoa(p.Value), err\n}\n", plain},
	} {
		text := head + strings.Replace(loop, "CALL", c.call, 1) + c.callee
		inner := "main.get"
		if strings.Contains(c.call, "a.get") {
			inner = "main.(*api).get"
		}
		line := markedFrame(inner, strings.Replace(text, "resp, err :=", "resp, err := // here\n", 1), " // here\n")
		r := served(t, 20, func(p *accounttest.Program) {
			for range 8 {
				ask(p, 2*time.Millisecond, line, markedFrame("main.handle", text, " // 1\n"))
			}
		})
		withSource(r, "main.go", text)
		f := answers(t, r, "WT02")[0]
		if f.State != Found || !strings.Contains(f.Advice, c.advice) || (f.Severity == Warning) != (c.advice == plain) {
			t.Errorf("%s: %s %s: %s\n%s", c.name, f.State, f.Severity, f.Summary, f.Advice)
		}
	}
}
