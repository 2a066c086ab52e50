package insight

import (
	"testing"

	"loupe/value/stack"
)

// TestContextGrowsAround: a context grows where a loop sets one from outside to what is made of itself, again and again.
func TestContextGrowsAround(t *testing.T) {
	for _, test := range []struct {
		what, text string
		ok         bool
	}{
		{"a value in each turn", "for j := range jobs {\nctx = context.WithValue(ctx, key{}, j)\nuse(ctx) // here\n}", true},
		{"a loop without end", "for {\nj := next()\nctx = context.WithValue(ctx, key{}, j)\nuse(ctx) // here\n}", true},
		{"by a function of the program", "for j := range jobs {\nctx = log.WithJob(ctx, j)\nuse(ctx) // here\n}", true},
		{"with a span", "for j := range jobs {\nvar span trace.Span\nctx, span = tracer.Start(ctx, j)\nuse(ctx) // here\nspan.End()\n}", true},
		{"under a condition", "for j := range jobs {\nif j != \"\" {\nctx = context.WithValue(ctx, key{}, j)\n}\nuse(ctx) // here\n}", true},
		{"a field", "for j := range jobs {\nw.ctx = context.WithValue(w.ctx, key{}, j)\nuse(w.ctx) // here\n}", true},
		{"a name of its own", "for j := range jobs {\nc := context.WithValue(ctx, key{}, j)\nuse(c) // here\n}", false},
		{"declared in the loop", "for j := range jobs {\nctx := ctx\nctx = context.WithValue(ctx, key{}, j)\nuse(ctx) // here\n}", false},
		{"defined in the loop", "for j := range jobs {\nctx := context.WithValue(ctx, key{}, j)\nuse(ctx) // here\n}", false},
		{"of another one", "for j := range jobs {\nctx = context.WithValue(base, key{}, j)\nuse(ctx) // here\n}", false},
		{"set back", "for j := range jobs {\nctx = base\nctx = context.WithValue(ctx, key{}, j)\nuse(ctx) // here\n}", false},
		{"left after a turn", "for j := range jobs {\nctx = context.WithValue(ctx, key{}, j)\nuse(ctx) // here\nbreak\n}", false},
		{"left where it is set", "for j := range jobs {\nuse(ctx) // here\nif j == \"last\" {\nctx = context.WithValue(ctx, key{}, j)\nbreak\n}\n}", false},
		{"before the loop", "ctx = context.WithValue(ctx, key{}, 1)\nfor range jobs {\nuse(ctx) // here\n}", false},
		{"the lookup after the loop", "for j := range jobs {\nctx = context.WithValue(ctx, key{}, j)\n}\nuse(ctx) // here", false},
		{"a few keys", "for _, k := range []string{\"a\", \"b\"} {\nctx = context.WithValue(ctx, k, 1)\nuse(ctx) // here\n}", false},
		{"three times", "for range 3 {\nctx = context.WithValue(ctx, key{}, 1)\nuse(ctx) // here\n}", false},
		{"of the loop's head", "for _, ctx := range all {\nctx = context.WithValue(ctx, key{}, 1)\nuse(ctx) // here\n}", false},
		{"a function for each", "for j := range jobs {\nfs = append(fs, func(ctx context.Context) {\nctx = context.WithValue(ctx, key{}, j)\nuse(ctx)\n})\nuse(ctx) // here\n}", false},
		{"no context", "for j := range jobs {\nn = add(n, j)\nuse(ctx) // here\n}", false},
	} {
		text := "package main\n\nfunc f(ctx context.Context, w *worker, jobs chan string) {\n" + test.text + "\n}\n"
		g, ok := contextGrowsAround(sourceOf(text), stack.Frame{Func: "main.f", File: "a.go", Line: sourceLine(text, "here")})
		if ok != test.ok {
			t.Errorf("%s: %v, %+v", test.what, ok, g)
		}
	}
}
