package insight

import (
	"testing"

	"loupe/value/stack"
)

// TestPatternCallers: a pattern that is a parameter is constant where the calls give literals, constants, or go through
// a list of them.
func TestPatternCallers(t *testing.T) {
	const head = "package main\n\nconst word = `\\w+`\n\n"
	const compile = "func compile(exp string) *regexp.Regexp {\nreturn regexp.MustCompile(exp) // here\n}\n"
	for _, test := range []struct {
		what, text string
		fixed, all int
	}{
		{"literals", compile + "func f() { compile(`a+`) }\nfunc g() { compile(\"b\" + \"c\") }\n", 2, 2},
		{"a constant", compile + "func f() { compile(word + \"$\") }\n", 1, 1},
		{"a list in the loop", compile + "func f(s string) {\nfor _, exp := range []string{`a`, word} {\nprint(compile(exp).MatchString(s))\n}\n}\n", 1, 1},
		{"a list before it", compile + "func f(s string) {\nall := []string{`a`, word}\nfor _, exp := range all {\nprint(compile(exp).MatchString(s))\n}\n}\n", 1, 1},
		{"one of two", compile + "func f() { compile(`a+`) }\nfunc g(s string) { compile(s) }\n", 1, 2},
		{"given on", compile + "func g(s string) { compile(s) }\n", 0, 1},
		{"built", compile + "func g(s string) { compile(`^` + s) }\n", 0, 1},
		{"quoted", compile + "func g(s string) { compile(regexp.QuoteMeta(`.`)) }\n", 0, 1},
		{"a variable list", compile + "func f(all []string) {\nfor _, exp := range all {\nprint(compile(exp))\n}\n}\n", 0, 1},
		{"changed in the function", "func compile(exp string) *regexp.Regexp {\nexp = `^` + exp\nreturn regexp.MustCompile(exp) // here\n}\nfunc f() { compile(`a+`) }\n", 0, 0},
		{"of a field", "func compile(r *rule) *regexp.Regexp {\nreturn regexp.MustCompile(r.exp) // here\n}\nfunc f() { compile(nil) }\n", 0, 0},
		{"handed on as a value", compile + "func f() { compile(`a+`) }\nvar with = compile\n", 0, 0},
	} {
		text := head + test.text
		line := &hitLine{}
		line.Caller = stack.Frame{Func: "main.compile", File: "a.go", Line: sourceLine(text, "here")}
		_, fixed, all := patternCallers(sourceOf(text), line)
		if len(fixed) != test.fixed || all != test.all {
			t.Errorf("%s: %d of %d, want %d of %d", test.what, len(fixed), all, test.fixed, test.all)
		}
	}
}
