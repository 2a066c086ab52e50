package insight

import (
	"testing"

	"loupe/value/stack"
)

// TestFromAround: what a function literal has from around it was there before a request where that function is on the way, or runs at the start; what it has
// of one that may run for each request is not. The call is on the line A, in the literal of which B is the caller, if there is one.
func TestFromAround(t *testing.T) {
	const (
		serve  = "\nfunc main() {\n\tmux.Handle(newPage(load()))\n}\n"
		handle = "\nfunc get(w http.ResponseWriter, r *http.Request) {\n\tpublish(r.PathValue(\"q\")) // B\n}\n"
		fixed  = "\nfunc get(w http.ResponseWriter, r *http.Request) {\n\tpublish(\"all\") // B\n}\n"
	)
	for _, c := range []struct {
		name, source string
		way          []string // functions with the marks of their lines, from the call outward
		fixed        bool
	}{
		{"a maker at the start", "func newPage(name string) http.Handler {\n\treturn http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {\n\t\tlookup(name) // A\n\t})\n}\n" + serve, []string{"main.newPage.func1 A"}, true},
		{"a maker that a maker at the start calls", "func newPage(name string) http.Handler {\n\treturn http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {\n\t\tlookup(name) // A\n\t})\n}\n\nfunc routes() {\n\tmux.Handle(newPage(load()))\n}\n\nfunc main() {\n\troutes()\n}\n", []string{"main.newPage.func1 A"}, true},
		{"a maker that a request calls", "func newPage(name string) http.Handler {\n\treturn http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {\n\t\tlookup(name) // A\n\t})\n}\n\nfunc get(w http.ResponseWriter, r *http.Request) {\n\tnewPage(r.PathValue(\"q\")).ServeHTTP(w, r)\n}\n", []string{"main.newPage.func1 A"}, false},
		{"a maker of what handles something else", "func newPage(name string) func() {\n\treturn func() {\n\t\tlookup(name) // A\n\t}\n}\n", []string{"main.newPage.func1 A"}, false},
		{"a maker that nobody calls in the source", "func newPage(name string) http.Handler {\n\treturn http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {\n\t\tlookup(name) // A\n\t})\n}\n", []string{"main.newPage.func1 A"}, true},
		{"a variable of main's", "func main() {\n\tname := load()\n\tmux.HandleFunc(\"/\", func(w http.ResponseWriter, r *http.Request) {\n\t\tlookup(name) // A\n\t})\n}\n", []string{"main.main.func1 A"}, true},
		{"of a command", "var cmd = &cobra.Command{RunE: func(cmd *cobra.Command, args []string) error {\n\tname := load()\n\tmux.HandleFunc(\"/\", func(w http.ResponseWriter, r *http.Request) {\n\t\tlookup(name) // A\n\t})\n\treturn nil\n}}\n", []string{"main.init.func1.1 A"}, true},
		{"a goroutine of a function that a request calls", "func publish(name string) {\n\tgo func() {\n\t\tlookup(name) // A\n\t}()\n}\n" + handle, []string{"main.publish.func1 A"}, false},
		{"a goroutine of the handler", "func main() {\n\tmux.HandleFunc(\"/\", func(w http.ResponseWriter, r *http.Request) {\n\t\tname := r.Host\n\t\tgo func() {\n\t\t\tlookup(name) // A\n\t\t}()\n\t})\n}\n", []string{"main.main.func1.1 A"}, false},
		{"for a message", "func main() {\n\tqueue.Subscribe(func(m message) {\n\t\tgo func() {\n\t\t\tlookup(m.name) // A\n\t\t}()\n\t})\n}\n", []string{"main.main.func1.1 A"}, false},
		{"by a caller on the way", "func publish(name string) {\n\tonce(func() {\n\t\tlookup(name) // A\n\t}) // C\n}\n" + handle, []string{"main.publish.func1 A", "main.publish C", "main.get B"}, false},
		{"a constant by a caller on the way", "func publish(name string) {\n\tonce(func() { // C\n\t\tlookup(name) // A\n\t})\n}\n" + fixed, []string{"main.publish.func1 A", "main.publish C", "main.get B"}, true},
		{"a field of a request's own value, beside a literal", "func (q *query) run() {\n\teach(lookup(q.text), func() {}) // A\n}\n\nfunc get(w http.ResponseWriter, r *http.Request) {\n\tq := parse(r)\n\tq.run() // B\n}\n", []string{"main.(*query).run A", "main.get B"}, false},
		{"a field of a value that a goroutine is started for", "func (q *query) run() {\n\tlookup(q.text) // A\n}\n\nfunc get(w http.ResponseWriter, r *http.Request) {\n\tq := parse(r)\n\tgo q.run()\n}\n", []string{"main.(*query).run A"}, false},
		{"a field of a value that is handed on", "func (q *query) run() {\n\tlookup(q.text) // A\n}\n\nfunc get(w http.ResponseWriter, r *http.Request) {\n\tq := parse(r)\n\tpool.Submit(q.run)\n}\n", []string{"main.(*query).run A"}, false},
		{"a field of what main starts", "func (q *query) run() {\n\tlookup(q.text) // A\n}\n\nfunc main() {\n\tq := parse(os.Args)\n\tgo q.run()\n}\n", []string{"main.(*query).run A"}, true},
		{"a handler that is registered", "func (q *query) run(w http.ResponseWriter, r *http.Request) {\n\tlookup(q.text) // A\n}\n\nfunc main() {\n\tq := parse(os.Args)\n\tmux.HandleFunc(\"/\", q.run)\n}\n", []string{"main.(*query).run A"}, true},
		{"a handler that its value registers", "func (q *query) run(w http.ResponseWriter, r *http.Request) {\n\tlookup(q.text) // A\n}\n\nfunc (q *query) routes() {\n\tmux.HandleFunc(\"/\", q.run)\n}\n", []string{"main.(*query).run A"}, true},
	} {
		text := "package main\n\n" + c.source
		var way []stack.Frame
		for _, w := range c.way {
			at := lineWith(text, "// "+w[len(w)-1:])
			at.Func = w[:len(w)-2]
			way = append(way, at)
		}
		if call, _ := fixedCall(codeOf(text), way, "main.lookup"); (call != nil) != c.fixed {
			t.Errorf("%s: %v", c.name, call != nil)
		}
	}
}
