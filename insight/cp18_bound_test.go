package insight

import (
	"strings"
	"testing"
)

// TestCP18Bound: what work that could be done once is given of its call decides what may be kept.
func TestCP18Bound(t *testing.T) {
	const parses = "net/http.(*conn).serve net/http.HandlerFunc.ServeHTTP main.page@A html/template.(*Template).Parse text/template/parse.Parse"
	page := func(body string) string {
		return "import \"html/template\"\n\ntype mail struct{ name string }\n\nvar site = \"x\"\n\nfunc counted() template.FuncMap {\n\tn := 0\n\treturn template.FuncMap{\"next\": func() int { n++; return n }}\n}\n\nfunc plain() template.FuncMap {\n\treturn template.FuncMap{\"up\": func(s string) string { return s }}\n}\n\nfunc page(w http.ResponseWriter, r *http.Request) {\n\tm := mail{r.Host}\n" + body + "\tuse(t.Execute(w, m))\n}\n"
	}
	for _, c := range []struct{ name, body, says, not string }{
		{"no functions", "\tt := template.Must(template.New(`a`).Parse(`x`)) // A\n", "and execute it for each request", "Do not just keep"},
		{"functions of nothing", "\tt := template.Must(template.New(`a`).Funcs(template.FuncMap{\"up\": func(s string) string { return s + site }}).Parse(`x`)) // A\n", "and execute it for each request", "Do not just keep"},
		{"functions of a function", "\tt := template.Must(template.New(`a`).Funcs(plain()).Parse(`x`)) // A\n", "and execute it for each request", "Do not just keep"},
		{"a constant of the call", "\tsep := \", \"\n\tt := template.Must(template.New(`a`).Funcs(template.FuncMap{\"up\": func(s string) string { return s + sep }}).Parse(`x`)) // A\n", "and execute it for each request", "Do not just keep"},
		{"a function of the call", "\tt := template.Must(template.New(`a`).Funcs(template.FuncMap{\"greet\": func(s string) string { return s + m.name }}).Parse(`x`)) // A\n", "has m of this call (main.go:", "and execute it for each request"},
		{"in a variable", "\tfuncs := template.FuncMap{\"greet\": func(s string) string { return s + r.Host }}\n\tt := template.New(`a`).Funcs(funcs)\n\tt, _ = t.Parse(`x`) // A\n", "has r of this call (main.go:", "and execute it for each request"},
		{"with a state", "\tn := 0\n\tt := template.Must(template.New(`a`).Funcs(template.FuncMap{\"next\": func() int { n++; return n }}).Parse(`x`)) // A\n", "changes n (main.go:", "and execute it for each request"},
		{"a function with a state of a function", "\tt := template.Must(template.New(`a`).Funcs(counted()).Parse(`x`)) // A\n", "changes n (main.go:", "and execute it for each request"},
	} {
		f := askedAgain(t, page(c.body), parses)
		if f.State != Found || !strings.Contains(f.Advice, c.says) || strings.Contains(f.Advice, c.not) {
			t.Errorf("%s: %s: %s", c.name, f.State, f.Advice)
		}
	}
	for _, c := range []struct{ name, source, says, not string }{
		{"one client", "func page(w http.ResponseWriter, r *http.Request) {\n\tdb, err := sql.Open(\"pg\", dsn) // A\n\tuse(db, err)\n}\n\nconst dsn = \"x\"\n", "Create one client and keep it", "for each"},
		{"of the request", "func page(w http.ResponseWriter, r *http.Request) {\n\tto := r.Header.Get(\"DB\")\n\tdb, err := sql.Open(\"pg\", to) // A\n\tuse(db, err)\n}\n", "one for all would act for the first", "Create one client and"},
	} {
		f := askedAgain(t, "import \"database/sql\"\n\n"+c.source, "net/http.(*conn).serve net/http.HandlerFunc.ServeHTTP main.page@A database/sql.Open runtime.mallocgc")
		if f.State != Found || !strings.Contains(f.Advice, c.says) || strings.Contains(f.Advice, c.not) {
			t.Errorf("%s: %s: %s", c.name, f.State, f.Advice)
		}
	}
}

// TestCP18OneUser: what a function makes that serves one goroutine at a time is not to be shared.
func TestCP18OneUser(t *testing.T) {
	for of, shared := range map[string]bool{"*Index": true, "hash.Hash": false, "*rand.Rand": false} {
		f := askedAgain(t, "import (\n\t\"hash\"\n\t\"math/rand\"\n)\n\ntype Index struct{ all []int }\n\nfunc buildIndex(n int) "+of+" {\n\treturn fill(n) // A\n}\n\nfunc page(w http.ResponseWriter, r *http.Request) {\n\tx := buildIndex(500) // B\n\tuse(x)\n}\n",
			"net/http.(*conn).serve net/http.HandlerFunc.ServeHTTP main.page@B main.buildIndex@A runtime.growslice")
		if f.State == Found && strings.Contains(f.Advice, "do not share it") == shared || f.State != Found && shared {
			t.Errorf("%s: %s %s: %s", of, f.State, f.Severity, f.Advice)
		}
	}
}
