package insight

import (
	"go/ast"
	"testing"

	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestSharedField: a field that each context is made with is the same for all where that is what was there before requests. One that is
// changed, or set to what belongs to a request, is not. The field is asked for on line 3.
func TestSharedField(t *testing.T) {
	const (
		head   = "package main; import \"net/http\"; import \"errors\"; import \"sync\"; type context struct { engine *engine; w http.ResponseWriter }\n\nfunc (c *context) ip() int { return c.engine.prepare() }\n"
		server = "type engine struct { pool sync.Pool; names []string }\nfunc (e *engine) prepare() int { return len(e.names) }\nfunc main() { e := create(); http.ListenAndServe(\"\", e) }\n"
		pooled = "func create() *engine {\n\te := &engine{}\n\te.pool.New = func() any { return &context{engine: e} }\n\treturn e\n}\nfunc (e *engine) ServeHTTP(w http.ResponseWriter, r *http.Request) {\n\tc := e.pool.Get().(*context)\n\tc.w = w\n}\n"
	)
	for _, c := range []struct {
		name, source string
		shared       bool
	}{
		{"of a pool", server + pooled, true},
		{"of a pool, by a method", server + "func create() *engine {\n\te := &engine{}\n\te.pool.New = func() any { return e.alloc() }\n\treturn e\n}\nfunc (e *engine) alloc() *context { return &context{engine: e} }\n", true},
		{"made for each request by the handler", server + "func create() *engine { return &engine{} }\nfunc (e *engine) ServeHTTP(w http.ResponseWriter, r *http.Request) {\n\tc := &context{engine: e, w: w}\n\tc.ip()\n}\n", true},
		{"made by a function that is given it", server + "func create() *engine { return &engine{} }\nfunc (e *engine) ServeHTTP(w http.ResponseWriter, r *http.Request) {\n\tc := newContext(e)\n\tc.ip()\n}\nfunc newContext(of *engine) *context { return &context{engine: of} }\n", true},
		{"assigned", server + "func create() *engine { return &engine{} }\nfunc (e *engine) ServeHTTP(w http.ResponseWriter, r *http.Request) {\n\tc := new(context)\n\tc.engine = e\n}\n", true},
		{"of a package", server + "var std = &engine{}\nfunc create() *engine { return std }\nfunc handle(w http.ResponseWriter, r *http.Request) {\n\tc := &context{engine: std}\n\tc.ip()\n}\n", true},
		{"copied from another context", server + pooled + "func (c *context) copy() *context { return &context{engine: c.engine} }\n", true},
		{"the maker has the name of one of a library", server + "func create() *engine { return New() }\nfunc New() *engine {\n\te := &engine{}\n\te.pool.New = func() any { return &context{engine: e} }\n\treturn e\n}\nfunc (e *engine) ServeHTTP(w http.ResponseWriter, r *http.Request) {\n\t_ = errors.New(r.URL.Path)\n}\n", true},
		// One for each request.
		{"made anew for each request", server + "func create() *engine { return &engine{} }\nfunc (e *engine) ServeHTTP(w http.ResponseWriter, r *http.Request) {\n\tc := &context{engine: &engine{}}\n\tc.ip()\n}\n", false},
		{"a variable of the request", server + "func create() *engine { return &engine{} }\nfunc (e *engine) ServeHTTP(w http.ResponseWriter, r *http.Request) {\n\town := &engine{names: r.Header[\"Q\"]}\n\tc := &context{engine: own}\n\tc.ip()\n}\n", false},
		{"given what is made for each request", server + "func create() *engine { return &engine{} }\nfunc (e *engine) ServeHTTP(w http.ResponseWriter, r *http.Request) {\n\town := &engine{names: r.Header[\"Q\"]}\n\tc := newContext(own)\n\tc.ip()\n}\nfunc newContext(of *engine) *context { return &context{engine: of} }\n", false},
		{"chosen by the request", server + "var all = map[string]*engine{}\nfunc create() *engine { return nil }\nfunc (e *engine) ServeHTTP(w http.ResponseWriter, r *http.Request) {\n\tc := &context{engine: all[r.Host]}\n\tc.ip()\n}\n", false},
		{"one of several is of the request", server + pooled + "func (c *context) use(r *http.Request) { c.engine = &engine{names: r.Header[\"Q\"]} }\n", false},
		{"a field of the engine that is replaced", server + "type holder struct { now *engine }\nfunc create() *engine { return nil }\nfunc (h *holder) ServeHTTP(w http.ResponseWriter, r *http.Request) {\n\tc := &context{engine: h.now}\n\tc.ip()\n}\nfunc (h *holder) reload() { h.now = &engine{} }\n", false},
		{"its address is given away", server + pooled + "func (c *context) swap() { set(&c.engine) }\n", false},
		{"without names", server + "func create() *engine {\n\te := &engine{}\n\te.pool.New = func() any { return &context{e, nil} }\n\treturn e\n}\n", false},
		{"made in a loop", server + "func create() *engine { return nil }\nfunc init() {\n\tfor range 3 {\n\t\tserve()\n\t}\n}\nfunc serve() {\n\te := &engine{}\n\te.pool.New = func() any { return &context{engine: e} }\n}\n", false},
		{"set nowhere", server, false},
	} {
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\n")
		sourceIn(r, "/src/a.go", head+c.source)
		in := NewInput(session.New(r.Open()))
		fn := in.code.scopeAt(stack.Frame{Func: "main.(*context).ip", File: "/src/a.go", Line: 3})
		engine := &ast.SelectorExpr{X: ast.NewIdent("c"), Sel: ast.NewIdent("engine")}
		if shared := sharedField(in.code, engine, fn); shared != c.shared {
			t.Errorf("%s: %v, want %v", c.name, shared, c.shared)
		}
	}
}
