package insight

import (
	"strings"
	"testing"

	"loupe/value/stack"
)

// TestTakenWhole: what grows and is handed to a function that goes through all of it in each turn is told
// from what is handed on once, or a part of which is, or which begins anew, wherever these stand.
func TestTakenWhole(t *testing.T) {
	const (
		lexer = "type lexer struct { src string; pos int }\nfunc (l *lexer) next() byte {\nfor l.pos < len(l.src) {\nc := l.src[l.pos]\nl.pos++\nif c != ' ' {\nreturn c\n}\n}\nreturn 0\n}\nfunc last(src string) (b byte) {\nl := &lexer{src: src}\nfor c := l.next(); c != 0; c = l.next() { // 1\nb = c\n}\nreturn b\n}\n"
		sum   = "func check(b []byte) bool {\nn := 0\nfor _, x := range b {\nn += int(x) // 1\n}\nreturn n > 9000\n}\n"
		shell = "type shell struct { partial []string; buf bytes.Buffer; raw []byte; state int }\n"
	)
	for _, c := range []struct {
		name, source string
		want         string // what is taken
		emptied      bool
	}{
		{"lines of a statement, joined", lexer + shell + "func (s *shell) run(sc *bufio.Scanner) {\nfor sc.Scan() {\ns.feed(sc.Text()) // 4\n}\n}\nfunc (s *shell) feed(line string) {\nif len(s.partial) == 0 {\nif line == \"\" {\nreturn\n}\n}\ns.partial = append(s.partial, line)\ntext, done := s.assemble() // 3\nif !done {\nreturn\n}\ns.flush(text)\n}\nfunc (s *shell) assemble() (string, bool) {\ntext := strings.Join(s.partial, nl)\nreturn text, last(text) == ';' // 2\n}\nfunc (s *shell) flush(text string) {\ns.partial = s.partial[:0]\nexec(text)\n}\n", "s.partial", true},
		{"a text in one function", lexer + "func run(sc *bufio.Scanner) {\ntext := start\nfor sc.Scan() {\ntext += sc.Text()\nif last(text) == ';' { // 2\nreturn\n}\n}\n}\n", "text", false},
		{"bytes, until there are enough", sum + "func run(r io.Reader) {\nvar all []byte\nchunk := make([]byte, 512)\nfor {\nn, err := r.Read(chunk)\nif err != nil {\nreturn\n}\nall = append(all, chunk[:n]...)\nif check(all) { // 2\nbreak\n}\n}\n}\n", "all", false},
		{"a buffer that another method fills", sum + shell + "func (s *shell) fill(r io.Reader) {\ns.buf.Write(read(r))\n}\nfunc (s *shell) ready() bool {\nreturn check(s.buf.Bytes()) // 2\n}\nfunc (s *shell) wait(r io.Reader) {\nfor {\ns.fill(r)\nif s.ready() { // 3\nreturn\n}\n}\n}\n", "s.buf", false},
		{"it is parsed by the library further down", "func decode(b []byte) (m map[string]int, err error) {\nerr = json.Unmarshal(b, &m) // 1\nreturn m, err\n}\nfunc run(r io.Reader) {\nvar all []byte\nfor {\nall = append(all, read(r)...)\nif _, err := decode(all); err == nil { // 2\nreturn\n}\n}\n}\n", "all", false},
		{"a parameter of a helper", lexer + "func complete(lines []string) bool {\nreturn last(strings.Join(lines, nl)) == ';' // 2\n}\nfunc run(sc *bufio.Scanner) {\nvar lines []string\nfor sc.Scan() {\nlines = append(lines, sc.Text())\nif complete(lines) { // 3\nreturn\n}\n}\n}\n", "lines", false},
		{"a list of events, all of which are counted", "func total(all []int) int {\nn := 0\nfor _, x := range all {\nn += weight(x) // 1\n}\nreturn n\n}\nfunc run(in []int) {\nvar all []int\nfor _, x := range in {\nall = append(all, x)\nshow(total(all)) // 2\n}\n}\n", "all", false},
		{"behind an empty line", lexer + "func run(sc *bufio.Scanner) {\ntext := start\nfor sc.Scan() {\nif sc.Text() == \"\" {\ncontinue\n}\ntext += sc.Text()\nif last(text) == ';' { // 2\nreturn\n}\n}\n}\n", "text", false},

		{"what was read is cut off", sum + shell + "func (s *shell) run(r io.Reader) {\nfor {\ns.raw = append(s.raw, read(r)...)\nif check(s.raw) { // 2\ns.raw = s.raw[8:]\n}\n}\n}\n", "", false},
		{"a rest stays, in another method", sum + shell + "func (s *shell) run(r io.Reader) {\nfor {\ns.raw = append(s.raw, read(r)...)\nif check(s.raw) { // 2\ns.drop(8)\n}\n}\n}\nfunc (s *shell) drop(n int) { s.raw = s.raw[n:] }\n", "", false},
		{"it begins anew in each turn", sum + shell + "func (s *shell) run(r io.Reader) {\nfor {\ns.raw = append(s.raw, read(r)...)\nshow(check(s.raw)) // 2\ns.raw = s.raw[:0]\n}\n}\n", "", false},
		{"it begins anew in each turn, in another method", sum + shell + "func (s *shell) run(r io.Reader) {\nfor {\ns.raw = append(s.raw, read(r)...)\nshow(check(s.raw)) // 2\ns.reset()\n}\n}\nfunc (s *shell) reset() { s.raw = nil }\n", "", false},
		{"only when the line ends it", lexer + shell + "func (s *shell) run(sc *bufio.Scanner) {\nfor sc.Scan() {\ns.partial = append(s.partial, sc.Text())\nif !strings.HasSuffix(sc.Text(), semicolon) {\ncontinue\n}\nshow(last(strings.Join(s.partial, nl))) // 2\ns.partial = s.partial[:0]\n}\n}\n", "", false},
		{"under a condition", lexer + shell + "func (s *shell) run(sc *bufio.Scanner) {\nfor sc.Scan() {\ns.partial = append(s.partial, sc.Text())\nif strings.HasSuffix(sc.Text(), semicolon) {\nshow(last(strings.Join(s.partial, nl))) // 2\n}\n}\n}\n", "", false},
		{"once it is all there", sum + "func run(r io.Reader) {\nvar all []byte\nfor more() {\nall = append(all, read(r)...)\n}\nshow(check(all)) // 2\n}\n", "", false},
		{"another one in each turn", lexer + "func run(sc *bufio.Scanner) {\nfor sc.Scan() {\ntext := start\ntext += sc.Text()\nshow(last(text)) // 2\n}\n}\n", "", false},
		{"each statement has its own", lexer + shell + "func (s *shell) feed(line string) bool {\ns.partial = append(s.partial, line)\nreturn last(strings.Join(s.partial, nl)) == ';' // 2\n}\nfunc run(in []string) {\nfor _, x := range in {\ns := &shell{}\ns.feed(x) // 3\n}\n}\n", "", false},
		{"only what is new", sum + "func run(r io.Reader) {\nvar all []byte\nfor {\nb := read(r)\nall = append(all, b...)\nif check(b) { // 2\nreturn\n}\n}\n}\n", "", false},
		{"the last line", lexer + shell + "func (s *shell) run(sc *bufio.Scanner) {\nfor sc.Scan() {\ns.partial = append(s.partial, sc.Text())\nshow(last(s.partial[len(s.partial)-1])) // 2\n}\n}\n", "", false},
		{"from where the last one ended", "func scan(b []byte, from int) int {\nfor i := from; i < len(b); i++ {\nshow(b[i]) // 1\n}\nreturn len(b)\n}\nfunc run(r io.Reader) {\nvar all []byte\nat := 0\nfor {\nall = append(all, read(r)...)\nat = scan(all, at) // 2\n}\n}\n", "", false},
		{"the end of it", "func done(s string) bool {\nreturn strings.HasSuffix(s, semicolon) // 1\n}\nfunc run(sc *bufio.Scanner) {\ntext := start\nfor sc.Scan() {\ntext += sc.Text()\nif done(text) { // 2\nreturn\n}\n}\n}\n", "", false},
		{"a window", sum + "func run(r io.Reader) {\nvar win []byte\nfor {\nwin = append(win, read(r)...)\nif len(win) > 4096 {\nwin = win[len(win)-4096:]\n}\nif check(win) { // 2\nreturn\n}\n}\n}\n", "", false},
		{"it grows at times", sum + "func run(in []event) {\nvar all []byte\nfor _, e := range in {\nif e.kind == more {\nall = append(all, e.text...)\n}\nshow(check(all)) // 2\n}\n}\n", "", false},
		{"a scanner that goes on", "type lexer struct { src string; pos int }\nfunc (l *lexer) feed(s string) {\nl.src += s\n}\nfunc (l *lexer) step() byte {\nfor l.pos < len(l.src) {\nl.pos++ // 1\n}\nreturn 0\n}\nfunc run(sc *bufio.Scanner) {\nl := &lexer{}\nfor sc.Scan() {\nl.feed(sc.Text())\nl.step() // 2\n}\n}\n", "", false},
	} {
		text := "package main\nimport (\"bufio\"; \"bytes\"; \"io\"; \"strings\"; \"encoding/json\")\n" + c.source
		s := newTakenScan(newDerivations(sourceOf(text)))
		way, user := derivedStack(text, "")
		in, ok := s.at(way[0])
		if !ok {
			t.Fatalf("%s: no function", c.name)
		}
		callee := stack.Frame{Func: "main." + in.decl.Name.Name, File: "a.go", Line: way[0].Line}
		outer, _ := s.at(way[1])
		w, from, call, ok := s.handed(outer, way[1], callee, false)
		if ok {
			w, ok = s.outward(w, from, call, way[1:], user[1:])
		}
		switch {
		case ok != (c.want != "") || ok && (w.name != c.want || (w.empties.line > 0) != c.emptied):
			t.Errorf("%s: %v %q, emptied at %d; want %q", c.name, ok, w.name, w.empties.line, c.want)
		case ok && !strings.Contains(c.source, "append(") && w.grows.line == 0:
			t.Errorf("%s: it grows nowhere", c.name)
		}
	}
}
