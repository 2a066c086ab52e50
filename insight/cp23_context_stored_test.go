package insight

import (
	"testing"

	"loupe/value/stack"
)

// TestContextStored: a context grows with each call where one that is made of it is stored back into what lives longer; not where that is made for the
// call, is a copy, is set anew, or the line is come to once.
func TestContextStored(t *testing.T) {
	const (
		head   = "package main\n\nimport (\"context\"; \"sync\"; \"time\")\n\ntype key struct{}\n\ntype mount struct { mu sync.Mutex; context.Context; ready bool; once sync.Once }\n\ntype server struct { root *mount; base context.Context }\n\nfunc newServer() *server { return &server{root: &mount{Context: context.Background()}, base: context.Background()} }\n\nfunc main() { serve(newServer().handle) }\n\n"
		handle = "func (s *server) handle() {\nc := s.root.with(1)\nc.look()\n}\n\nfunc (m *mount) look() any {\nreturn m.Context.Value(key{}) // here\n}\n\n"
		own    = "func (s *server) handle() {\nm := &mount{Context: s.base}\nc := m.with(1)\nc.look()\n}\n\nfunc (m *mount) look() any {\nreturn m.Context.Value(key{}) // here\n}\n\n"
	)
	with := func(body string) string { return "func (m *mount) with(v int) *mount {\n" + body + "\nreturn m\n}\n" }
	for _, c := range []struct {
		what, text string
		want       string // the line; empty where nothing grows
	}{
		{"stored back", handle + with("m.Context = context.WithValue(m.Context, key{}, v) // A"), "A"},
		{"by way of a variable", handle + with("next := context.WithValue(m.Context, key{}, v)\nm.Context = next // A"), "A"},
		{"with a time limit", handle + with("var stop func()\nm.Context, stop = context.WithTimeout(m.Context, time.Second) // A\n_ = stop"), "A"},
		{"two at once", handle + with("m.Context = context.WithValue(context.WithValue(m.Context, key{}, v), key{}, v) // A"), "A"},
		{"by a function of the program", handle + with("m.Context = withUser(m.Context, v) // A"), "A"},
		{"by a method", handle + with("m.Context = m.made(v) // A") + "\nfunc (m *mount) made(v int) context.Context { return context.WithValue(m.Context, key{}, v) }\n", "A"},
		{"a field of the server", "func (s *server) handle() {\ns.base = context.WithValue(s.base, key{}, 1) // A\ns.base.Value(key{}) // here\n}\n", "A"},
		{"a variable of the package", "var root = context.Background()\n\nfunc (s *server) handle() {\nroot = context.WithValue(root, key{}, 1) // A\nroot.Value(key{}) // here\n}\n", "A"},
		{"a parameter", handle + "func (m *mount) with(v int) *mount { put(m, v); return m }\n\nfunc put(m *mount, v int) {\nm.Context = context.WithValue(m.Context, key{}, v) // A\n}\n", "A"},

		{"made for the call", own + with("m.Context = context.WithValue(m.Context, key{}, v)"), ""},
		{"a new one", handle + "func (m *mount) with(v int) *mount { return &mount{Context: context.WithValue(m.Context, key{}, v)} }\n", ""},
		{"a copy", handle + "func (m *mount) with(v int) *mount {\nc := *m\nc.Context = context.WithValue(c.Context, key{}, v)\nreturn &c\n}\n", ""},
		{"a copy, by a pointer", handle + "func (m *mount) with(v int) *mount {\nc := new(mount)\n*c = *m\nc.Context = context.WithValue(c.Context, key{}, v)\nreturn c\n}\n", ""},
		{"a receiver that is copied", handle + "func (m mount) with(v int) *mount {\nm.Context = context.WithValue(m.Context, key{}, v)\nreturn &m\n}\n", ""},
		{"set back", handle + with("before := m.Context\nm.Context = context.WithValue(m.Context, key{}, v)\ndefer func() { m.Context = before }()"), ""},
		{"begun anew with each request", "func (s *server) handle() {\ns.root.Context = s.base\nc := s.root.with(1)\nc.look()\n}\n\nfunc (m *mount) look() any {\nreturn m.Context.Value(key{}) // here\n}\n\n" + with("m.Context = context.WithValue(m.Context, key{}, v)"), ""},
		{"once", handle + with("m.once.Do(func() { m.Context = context.WithValue(m.Context, key{}, v) })"), ""},
		{"once, by a flag", handle + with("if !m.ready {\nm.ready = true\nm.Context = context.WithValue(m.Context, key{}, v)\n}"), ""},
		{"where it is not there yet", handle + with("if m.Context.Value(key{}) == nil {\nm.Context = context.WithValue(m.Context, key{}, v)\n}"), ""},
		{"left where it is there", handle + with("if m.Context.Value(key{}) != nil {\nreturn m\n}\nm.Context = context.WithValue(m.Context, key{}, v)"), ""},
		{"at the start alone", handle + with("return m") + "\nfunc (s *server) begin() {\ns.root.Context = context.WithValue(s.root.Context, key{}, 1)\n}\n\nfunc start() { newServer().begin() }\n", ""},
		{"a parameter's own variable", "func (s *server) handle() { s.do(s.base) }\n\nfunc (s *server) do(ctx context.Context) {\nctx = context.WithValue(ctx, key{}, 1)\nctx.Value(key{}) // here\n}\n", ""},
		{"another one that the lookup does not read", "type log struct{ ctx context.Context }\n\nvar l = &log{}\n\nfunc (s *server) handle() {\nl.note()\ns.find()\n}\n\nfunc (l *log) note() {\nl.other()\n}\n\nfunc (l *log) other() {\nl.ctx = context.WithValue(l.ctx, key{}, 1)\n}\n\nfunc (s *server) find() {\ns.base.Value(key{}) // here\n}\n", ""},
	} {
		text := head + c.text
		source := sourceOf(text)
		d := derivationsOf(source)
		at := stack.Frame{Func: "main.look", File: "a.go", Line: sourceLine(text, "here")}
		way := []stack.Frame{at}
		if in, ok := d.at(at); ok && in.decl.Name.Name != "handle" {
			for _, decl := range declsInOrder(d) {
				if decl.Name.Name == "handle" {
					way = append(way, stack.Frame{Func: "main.handle", File: "a.go", Line: d.placeOf(decl).line + 1})
				}
			}
		}
		s, ok := storedOnWay(source, way, true)
		if ok != (c.want != "") || ok && d.placeOf(s.node).line != sourceLine(text, c.want) {
			t.Errorf("%s: %v %s %s", c.what, ok, s.place, s.call)
		}
		if ok {
			if _, alone := storedOnWay(source, way, false); alone {
				t.Errorf("%s: told of what nothing calls again", c.what)
			}
		}
	}
}

// TestContextStoredInLoop: a loop of the program calls again; what it makes in each turn is no growth.
func TestContextStoredInLoop(t *testing.T) {
	for body, want := range map[string]bool{
		"w := &worker{ctx: context.Background()}\nfor j := range jobs {\nw.do(j) // here\n}": true,
		"for j := range jobs {\nw := &worker{ctx: context.Background()}\nw.do(j) // here\n}": false,
		"for j := range jobs {\nw := newWorker()\nw.do(j) // here\n}":                        false,
		"w := newWorker()\nfor j := range jobs {\nw.do(j) // here\n}":                        true,
		"w := newWorker()\nfor range 3 {\nw.do(1) // here\n}":                                false,
		"w := newWorker()\nw.do(1) // here":                                                  false,
	} {
		text := "package main\n\nimport \"context\"\n\ntype worker struct{ ctx context.Context }\n\nfunc newWorker() *worker { return &worker{ctx: context.Background()} }\n\nfunc (w *worker) do(j int) {\nw.ctx = context.WithValue(w.ctx, 1, j)\nw.ctx.Value(1) // look\n}\n\nfunc main() {\nrun(make(chan int))\n}\n\nfunc run(jobs chan int) {\n" + body + "\n}\n"
		way := []stack.Frame{{Func: "main.(*worker).do", File: "a.go", Line: sourceLine(text, "look")}, {Func: "main.run", File: "a.go", Line: sourceLine(text, "here")}, {Func: "main.main", File: "a.go", Line: 15}}
		if _, ok := storedOnWay(sourceOf(text), way, false); ok != want {
			t.Errorf("%s: %v", body, ok)
		}
	}
}
