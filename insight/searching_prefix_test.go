package insight

import (
	"strings"
	"testing"

	"loupe/format/profile/profiletest"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/value/stack"
)

// lexer is a text that is cut into tokens, with the line of each.
const lexer = `
type lexer struct { input string; start, pos int }

func (l *lexer) line() int {
	return 1 + strings.Count(l.input[:l.start], "\n") // here
}

func (l *lexer) next() token {
	for l.more() {
		l.pos += width
	}
	t := token{l.line(), l.input[l.start:l.pos]} // second
	l.start = l.pos
	return t
}
`

// TestGrowingPrefix: a growing part of one text that is read again is told from a text of its
// own each time, from a buffer that is filled again and from a search that goes on. The
// frames are at the lines that say so.
func TestGrowingPrefix(t *testing.T) {
	for _, c := range []struct {
		name, source string
		want         readAgain
		same         bool
	}{
		{"the line of each token", lexer + "func all(text string) {\nl := &lexer{input: text}\nfor {\nt := l.next() // third\n}\n}\n", rereadCount, true},
		{"the line of one token of each text", lexer + "func all(texts []string) {\nfor _, text := range texts {\nl := &lexer{input: text}\nt := l.next() // third\n}\n}\n", rereadCount, false},
		{"by the index of a loop", "func f(s string) {\nfor i := range s {\nn += utf8.RuneCountInString(s[:i]) // here\n}\n}\n", rereadCount, true},
		{"by a count of its own", "func f(s string) {\npos := 0\nfor pos < len(s) {\nif bytes.Contains(s[:pos], key) { // here\n}\npos += step\n}\n}\n", rereadSearch, true},
		{"by a parameter", "func at(s string, pos int) int {\nreturn strings.Count(s[:pos], nl) // here\n}\nfunc f(s string) {\nfor i := 0; i < len(s); i++ {\nat(s, i) // second\n}\n}\n", rereadCount, true},
		{"copies", "func f(all []int) {\nfor i := range all {\nuse(append([]int(nil), all[:i+1]...)) // here\n}\n}\n", rereadCopy, true},
		{"joined", "func f(all []string) {\nfor i := range all {\nuse(strings.Join(all[:i], sep)) // here\n}\n}\n", rereadCopy, true},
		{"the rest, counted", "func f(s string) {\nfor i := range s {\nn += strings.Count(s[i:], sep) // here\n}\n}\n", rereadCount, true},
		{"hashes", "func f(all []byte) {\nfor i := 0; i < len(all); i += 64 {\nsums = append(sums, sha256.Sum256(all[:i])) // here\n}\n}\n", rereadHash, true},
		{"a sum over all so far", "func f(in []int) {\nfor i := range in {\nfor _, v := range in[:i] {\nsum += v // here\n}\n}\n}\n", rereadSum, true},
		{"a sum over what was put there", "func f(in []int) {\nfor _, x := range in {\nseen = append(seen, x)\nfor _, v := range seen {\nsum += v // here\n}\n}\n}\n", rereadSum, true},
		{"each with each of the rest", "func f(in []shape) {\nfor i, a := range in {\nfor _, b := range in[i+1:] {\nif same(a, b) { // here\nn++\n}\n}\n}\n}\n", rereadNone, false},
		{"a sum with a weight of the turn", "func f(in []int) {\nfor i, w := range weights {\nfor _, v := range in[:i] {\nsum += v * w // here\n}\n}\n}\n", rereadNone, false},
		{"what came before, counted where it is less", "func f(in []int) {\nfor i := range in {\nx := in[i]\nfor _, v := range in[:i] {\nif v < x { // here\nn++\n}\n}\n}\n}\n", rereadNone, false},

		{"hashes of the parents", "func f(name string) {\nfor i := range name {\nif name[i] == '.' {\nsums = append(sums, sha256.Sum256([]byte(name[:i]))) // here\n}\n}\n}\n", rereadHash, true},
		{"a text that is filled", "func f() {\nfor i := 0; i < len(buf); i++ {\nbuf[i] = next()\nn += bytes.Count(buf[:i+1], sep) // here\n}\n}\n", rereadCount, true},

		{"a part that doubles", "func f(s []byte) {\nfor n := 64; n < len(s); n += n {\nuse(bytes.Count(s[:n], sep)) // here\n}\n}\n", rereadNone, false},
		{"a quarter more each time", "func f(a []float64) {\nfor cut := len(a) / 4; cut < len(a); cut += len(a) / 4 {\nfor _, x := range a[:cut] {\nsum += x // here\n}\n}\n}\n", rereadNone, false},
		{"a fold more each time", "func f(a []float64) {\nstep := len(a) / 5\nfor cut := step; cut < len(a); cut += step {\nfor _, x := range a[:cut] {\nsum += x // here\n}\n}\n}\n", rereadNone, false},
		{"what was summed is changed", "func f(a []float64) {\nfor i := 1; i < len(a); i++ {\nfor _, x := range a[:i] {\nsum += x // here\n}\na[0] = sum\n}\n}\n", rereadNone, false},
		{"copies that are results", "func f(path []int) {\nfor i := range path {\nout = append(out, slices.Clone(path[:i+1])) // here\n}\n}\n", rereadNone, false},
		{"joined for results", "func f(all []string) {\nfor i := range all {\nout = append(out, strings.Join(all[:i], sep)) // here\n}\n}\n", rereadNone, false},
		{"copies that are keys", "func f(b []byte) {\nfor i := range b {\nk := string(b[:i]) // here\nseen[k] = true\n}\n}\n", rereadNone, false},
		{"a search that goes on", "func f(s string) {\nfor i := 0; i < len(s); {\ni += strings.Index(s[i:], sep) // here\n}\n}\n", rereadNone, false},
		{"what was read", "func f(r io.Reader) {\nfor {\nn, err := r.Read(buf)\nuse(string(buf[:n])) // here\n}\n}\n", rereadNone, false},
		{"a buffer that is written out", "type w struct { buf []byte; n int }\nfunc (w *w) add(b byte) {\nw.buf[w.n] = b\nw.n++\n}\nfunc (w *w) flush() {\nuse(string(w.buf[:w.n])) // here\nw.n = 0\n}\nfunc f() {\nfor {\nw.flush() // second\n}\n}\n", rereadNone, false},
		{"a buffer that is filled again", "type r struct { buf []byte; n int }\nfunc (r *r) fill() {\nr.buf = read()\nr.n = 0\n}\nfunc (r *r) line() {\nr.n++\nuse(bytes.Count(r.buf[:r.n], nl)) // here\n}\nfunc f() {\nfor {\nr.line() // second\n}\n}\n", rereadNone, false},
		{"a token", "func f(s string) {\nfor i := range s {\nuse(string(s[start:i])) // here\n}\n}\n", rereadNone, false},
		{"the head of each line", "func f(lines []string) {\nfor _, l := range lines {\nuse(strings.Count(l[:8], sep)) // here\n}\n}\n", rereadNone, false},
		{"a row of each", "func f(rows [][]int) {\nfor _, r := range rows {\nfor _, v := range r {\nsum += v // here\n}\n}\n}\n", rereadNone, false},
		{"an index found first", "func f(lines []string) {\nfor _, l := range lines {\ni := strings.IndexByte(l, ':')\nuse(strings.Fields(l[:i])) // here\n}\n}\n", rereadNone, false},
	} {
		text := "package main\n" + c.source
		var way []stack.Frame
		for _, mark := range []string{"// here", "// second", "// third"} {
			if i := strings.Index(text, mark); i >= 0 {
				way = append(way, stack.Frame{Func: "main.f", File: "a.go", Line: 1 + strings.Count(text[:i], "\n")})
			}
		}
		source := sourceOf(text)
		g, ok := growingAt(source, way)
		if g.does != c.want && ok || ok != (c.want != rereadNone) {
			t.Errorf("%s: %+v, %v; want %d", c.name, g, ok, c.want)
			continue
		}
		if !ok {
			continue
		}
		if where, same, known := g.sameAgain(source, way); same != c.same || !known {
			t.Errorf("%s: the same again is %v (%s), known %v", c.name, same, where, known)
		}
	}
}

// TestCP20Quadratic: a growing part that is read again is a warning by its share, and is not
// told a second time as a search of the library; where the source does not show that it is
// the same text, it is an info with that doubt.
func TestCP20Quadratic(t *testing.T) {
	record := func(last string) *recordingtest.Recording {
		r := recordingtest.New("title x\ntarget package ./shop module=shop go=go1.26.1\nphase cpu 0s..5s profiler=cpu")
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "/src/a.go"}, []byte("package main\n"+lexer+last))
		r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "cpu"}, profiletest.Profile(
			"shop.all:/src/a.go:20           shop.g:/src/b.go:1\nshop.(*lexer).next:/src/a.go:13\nshop.(*lexer).line:/src/a.go:6\nstrings.Count:/go/strings.go:3\n= 90                             10\n"))
		return r
	}
	f := expect(t, "one text", record("func all(text string) {\nl := &lexer{input: text}\nfor {\nt := l.next()\n}\n}\n"), "CP20", Found,
		"quadratic time: strings.Count reads l.input[:l.start] again from the start in each turn of the loop at a.go:19", "90.0% of the CPU time in shop.(*lexer).line at a.go:6")
	severity(t, "one text", f, Warning)
	if !strings.Contains(f.Advice, "Go on from the last place") || len(f.Doubts) > 0 {
		t.Errorf("%s %v", f.Advice, f.Doubts)
	}
	r := record("func f(name string) {\nfor i := range name {\nif name[i] == '.' {\nn += sum(sha256.Sum256([]byte(name[:i])))\n}\n}\n}\n")
	r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "cpu"}, profiletest.Profile("shop.f:/src/a.go:20 shop.g:/src/b.go:1\n= 90                             10\n"))
	f = expect(t, "at times", r, "CP20", Found, "reads name[:i] again from the start in turns of the loop at a.go:18")
	severity(t, "at times", f, Info)
	doubted(t, f, "the text may be short")
	f = expect(t, "unknown", record("func (p *parser) all(text string) {\n\n\nt := p.l.next()\n}\n"), "CP20", Found, "strings.Count reads l.input[:l.start] again from the start in each call")
	severity(t, "unknown", f, Info)
	if strings.Contains(f.Title+f.Summary, "uadratic") {
		t.Errorf("unknown: %s: %s", f.Title, f.Summary)
	}
	doubted(t, f, "if each text comes only once")
	if f := expect(t, "one each", record("func all(texts []string) {\nfor {\nl := &lexer{input: text}\nt := l.next()\n}\n}\n"), "CP20", Found, "linear searches"); f.Title != cp20.Title {
		t.Errorf("one each: %s", f.Title)
	}
}
