package insight

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"loupe/value/stack"
)

// TestExpression: the text of an expression is known where the source makes it of one text only.
func TestExpression(t *testing.T) {
	for _, c := range []struct{ name, source, want string }{
		{"a variable of the package", "var re = regexp.MustCompile(`a+b`)\nfunc f() {\nre.Match(b) // here\n}\n", "a+b"},
		{"a variable of the function", "func f() {\nre := regexp.MustCompile(\"^\" + word)\nre.Match(b) // here\n}\nconst word = `\\w+`\n", `^\w+`},
		{"a field", "func f(s *session) {\ns.re.Match(b) // here\n}\nfunc newSession() *session { return &session{re: regexp.MustCompile(`x`)} }\n", "x"},
		{"a field of two kinds", "func f(s *session) {\ns.re.Match(b) // here\n}\nfunc a() *session { return &session{re: regexp.MustCompile(`x`)} }\nfunc b() *session { return &session{re: regexp.MustCompile(`y`)} }\n", ""},
		{"what the caller gives", "func f(re *regexp.Regexp) {\nre.Match(b) // here\n}\nvar re = regexp.MustCompile(`x`)\n", ""},
		{"of a text that comes from elsewhere", "var re = regexp.MustCompile(text())\nfunc f() {\nre.Match(b) // here\n}\n", ""},
	} {
		text := "package main\n" + c.source
		c2 := sourceOf(text)
		at := stack.Frame{Func: "main.f", File: "a.go", Line: 1 + strings.Count(text[:strings.Index(text, "// here")], "\n")}
		for _, call := range c2.lineCalls(at) {
			if got := expression(c2, c2.scopeAt(at), receiverOf(call)); got != c.want {
				t.Errorf("%s: %q, want %q", c.name, got, c.want)
			}
		}
	}
}

// TestSearchFrom: what is advised for an expression names what works for it.
func TestSearchFrom(t *testing.T) {
	for _, c := range []struct{ expr, says, not string }{
		{"", "if the expression has one", "at most"},
		{`user[0-9]{1,4}> `, "A match is at most 10 bytes long and may begin in what came before: begin 9 bytes earlier.", "character"},
		{`[^>]{3}> `, "begin 13 bytes earlier, at the first byte of a character", "last line"},
		{`(?m)^login: user[0-9]+$`, "begin at the start of the line in which the last search ended", "longest"},
		{`\b[0-9]{3}\b`, "go back by 3 bytes, and from there to the start of the line", "earlier"},
		{`(?s)BEGIN .* END`, `each match ends with " END"; look for that in what is new and the 4 bytes before it`, "last line"},
		{`"[^"]*"`, `each match ends with "\""`, "last line"},
		{`^HTTP/1[^\n]*(?s:.*)\r\n\r\n`, "matches at the start of the text only", "remember how far"},
		{`(^|\n)ok [0-9]+`, "may find something else", "remember how far"},
		{`(?s)a.*[bc]`, "let a parser keep its state", "remember how far"},
	} {
		m := shapeOf(c.expr)
		if got := m.from("s.out"); !strings.Contains(got, c.says) || strings.Contains(got, c.not) {
			t.Errorf("%s: %s", c.expr, got)
		}
	}
}

// TestSearchFromLosesNothing: who follows what is advised finds in each turn what a search from the start
// finds, whatever the reads are.
func TestSearchFromLosesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, expr := range []string{
		`ab`, `a{1,3}b`, `(?i)sk`, `[^a]b`, `.b.`, `(?m)^ab`, `(?m)^a+$`, `a+$`, `\bab\b`, `\Bab`, `ab\B`, `a.*b`, `(?s)a.*b`, `(?m)^a.*b$`, `(?s)ba.*ab\B`, `a[^b]*b`, `^a.*b`, `(^|\n)ab`, `a\nb`, `(?m)a$\nb`, `\ba\nb`, `(ab|b\n)a?`, `a*?b\b`,
	} {
		re, m := regexp.MustCompile(expr), shapeOf(expr)
		for range 400 {
			var text strings.Builder
			for range 4 + r.IntN(40) {
				text.WriteString([]string{"a", "b", "a", "b", "\n", " ", "é", "ſ", "K", "s"}[r.IntN(10)])
			}
			s, old := text.String(), 0
			for n := 0; n < len(s); {
				n = min(len(s), n+1+r.IntN(5))
				for !utf8.RuneStart((s + "a")[n]) {
					n++ // what is read has whole characters
				}
				want, got := re.FindStringIndex(s[:n]), foundAsAdvised(m, re, s[:n], old)
				if (want == nil) != (got == nil) || want != nil && *(*[2]int)(want) != *(*[2]int)(got) {
					t.Fatalf("%s: %q, of which %d were there: %v, want %v", expr, s[:n], old, got, want)
				}
				if want != nil {
					break
				}
				old = n
			}
		}
	}
}

// foundAsAdvised searches a text, of which some bytes were searched before, as is advised for an expression.
func foundAsAdvised(m matchShape, re *regexp.Regexp, text string, old int) []int {
	begin := 0
	switch {
	case m.start || m.anchor || m.most < 0 && m.lines:
		if !strings.Contains(text[max(0, old-len(m.ends)):], m.ends) {
			return nil
		}
	case m.most < 0:
		begin = strings.LastIndex(text[:old], "\n") + 1
	case m.before:
		begin = strings.LastIndex(text[:max(0, old-m.most)], "\n") + 1
	default:
		begin = max(0, old-(m.most-1))
		for !utf8.RuneStart(text[begin]) {
			begin--
		}
	}
	at := re.FindStringIndex(text[begin:])
	if at != nil {
		at = []int{at[0] + begin, at[1] + begin}
	}
	return at
}
