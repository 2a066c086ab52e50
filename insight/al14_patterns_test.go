package insight

import (
	"fmt"
	"strings"
	"testing"
	"time"

	repeatsfile "loupe/format/repeats"
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

// TestDifferentPatterns: patterns that never come twice in the run that counts are no reason for a cache; those that come again, or of which it is not
// known, are.
func TestDifferentPatterns(t *testing.T) {
	const head, tail = "package main\n\nimport \"regexp\"\n\n", "\n}\n"
	const compile = head + "func compile(exp string) *regexp.Regexp {\nreturn regexp.MustCompile(exp + `$`) // here" + tail
	const loop = head + "func all(exps []string) { /*1*/\n/*1 1 4000 1 0*/for _, e := range exps { /*4000*/\nuse(regexp.MustCompile(`^` + e)) // here\n}" + tail
	const slow = 40 * time.Millisecond
	counted := func(everywhere *repeatsfile.Counts) []repeatsfile.Func {
		return []repeatsfile.Func{{Name: "main.compile", File: "/src/main.go", Line: 5, Calls: 2000, Time: slow, Everywhere: everywhere}}
	}
	call := repeatsfile.Func{Name: "regexp.MustCompile", Caller: "main.all", File: "/src/main.go", Line: 7, Calls: 2000, Time: slow}
	cut := call
	cut.Cut = true
	for _, x := range []struct {
		what, source string
		functions    []repeatsfile.Func
		severity     Severity
		says         string
	}{
		{"by the calls of the function", compile, counted(nil), Info, "exp was never the same twice"},
		{"the same again", compile, counted(&repeatsfile.Counts{Calls: 2000, Distinct: 20, Again: 1980}), Warning, ""},
		{"of two parameters", strings.Replace(compile, "exp string", "exp string, n int", 1), counted(nil), Warning, ""},
		{"not counted", compile, nil, Warning, ""},
		{"by the call", strings.Replace(loop, "`^` + e", "e", 1), []repeatsfile.Func{call}, Info, "called 2,000 times, and no pattern came twice"},
		{"by the call, cut", strings.Replace(strings.Replace(loop, "`^` + e", "e", 1), "/*1 1 4000", "/*9 9 4000", 1), []repeatsfile.Func{cut}, Warning, ""},
		{"a list gone through once", loop, nil, Info, "went through 4,000 elements, each of which gets its pattern once"},
		{"a list gone through again", strings.Replace(loop, "/*1 1 4000", "/*9 9 4000", 1), nil, Warning, ""},
		{"a pattern of something else", strings.Replace(loop, "`^` + e", "`^` + name", 1), nil, Warning, ""},
	} {
		name := "main.all"
		if strings.Contains(x.source, "func compile") {
			name = "main.compile"
		}
		r := countedRecording(t, x.source, fmt.Sprintf("net/http.(*conn).serve %s:/src/main.go:%d regexp.MustCompile regexp.compile", name, sourceLine(x.source, "here")), x.functions...)
		f := expect(t, x.what, r, "AL14", Found, x.says)
		if f.Severity != x.severity || strings.Contains(f.Advice, "cache the compiled") != (x.says == "") {
			t.Errorf("%s: %s: %s; %s", x.what, f.Severity, f.Summary, f.Advice)
		}
	}
}
