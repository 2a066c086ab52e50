package insight

import (
	"strings"
	"testing"

	"loupe/format/profile/profiletest"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/value/stack"
)

const (
	matchesText  = "regexp.(*Regexp).Match"
	findsText    = "bytes.Index"
	containsText = "strings.Contains"
)

// TestRegrown: all of a text that grows in each turn of a loop, and is read again there, is told from one
// that begins anew, from what is new of it, and from another one. The frames are at the lines that say
// so.
func TestRegrown(t *testing.T) {
	const feed = "func (c *conn) feed(b []byte) bool {\nc.buf = append(c.buf, b...)\nreturn c.re.Match(c.buf) // here\n}\n"
	const fill = "type conn struct { buf bytes.Buffer; re *regexp.Regexp }\nfunc (c *conn) fill() {\nn, err := c.r.Read(c.b)\nif n > 0 {\nc.buf.Write(c.b[:n])\n}\n}\n"
	const next = "func (c *conn) next() []byte {\nfor {\nif i := bytes.Index(c.buf, nl); i >= 0 { // here\nreturn c.buf[:i]\n}\nc.buf = append(c.buf, read()...)\n}\n}\n"
	for _, c := range []struct {
		name, under, source string
		want                string // what grows
		sure                bool
	}{
		{"up to a prompt", matchesText, "func f() []byte {\nvar out []byte\nfor {\nn, err := r.Read(buf)\nif err != nil {\nreturn nil\n}\nout = append(out, buf[:n]...)\nif prompt.Match(out) { // here\nreturn out\n}\n}\n}\n", "out", true},
		{"one byte after the other", findsText, "func f() {\nfor {\nb, _ := r.ReadByte()\nout = append(out, b)\nif i := bytes.Index(out, sep); i >= 0 { // here\nbreak\n}\n}\n}\n", "out", true},
		{"as the condition", matchesText, "func f() {\nvar out []byte\nfor !prompt.Match(out) { // here\nn, _ := r.Read(buf)\nif n > 0 {\nout = append(out, buf[:n]...)\n}\n}\n}\n", "out", true},
		{"a text, before it grows", containsText, "func f() string {\ns := \"\"\nfor {\ndone := strings.Contains(s, end) // here\nif done {\nreturn s\n}\ns += next()\n}\n}\n", "s", true},
		{"a copy of it", containsText, "func f() string {\nvar out []byte\nfor {\nout = append(out, read()...)\ntext := string(out)\nif strings.Contains(text, end) { // here\nreturn text\n}\n}\n}\n", "out", true},
		{"a buffer", findsText, "func f() {\nvar buf bytes.Buffer\nfor {\nio.CopyN(&buf, r, 512)\nif bytes.Index(buf.Bytes(), end) >= 0 { // here\nreturn\n}\n}\n}\n", "buf", true},
		{"a builder", containsText, "func f() {\nsb := strings.Builder{}\nfor line := range lines {\nsb.WriteString(line)\nif strings.Contains(sb.String(), end) { // here\nreturn\n}\n}\n}\n", "sb", true},
		{"what comes by a channel", matchesText, "func f() {\nfor {\nselect {\ncase b := <-in:\nout = append(out, b...)\nif re.Match(out) { // here\nreturn\n}\ncase <-timeout:\nreturn\n}\n}\n}\n", "out", true},
		{"for one pattern after the other", matchesText, "func f(all []*regexp.Regexp) {\nfor {\nout = append(out, read()...)\nfor _, re := range all {\nif re.Match(out) { // here\nreturn\n}\n}\n}\n}\n", "out", true},
		{"it is cut when the loop ends", findsText, "func (c *conn) line() []byte {\nfor {\nif i := bytes.Index(c.buf, nl); i >= 0 { // here\nline := c.buf[:i]\nc.buf = c.buf[i+1:]\nreturn line\n}\nc.buf = append(c.buf, read()...)\n}\n}\n", "c.buf", false},
		{"a caller cuts off what was found", findsText, next + "func f(c *conn) {\nfor {\nmsg := c.next()\nc.buf = append(c.buf[:0], c.buf[len(msg):]...)\n}\n}\n", "c.buf", false},
		{"a method of another file cuts it", findsText, next + "func (c *conn) drop(n int) {\nc.buf = c.buf[n:]\n}\n", "c.buf", false},
		{"somebody copies the rest down", findsText, next + "func use(c *conn, n int) {\nk := copy(c.buf, c.buf[n:])\nc.buf = c.buf[:k]\n}\n", "c.buf", false},
		{"a function returns the rest", findsText, next + "func use(c *conn, n int) {\nc.buf = cut(c.buf, n)\n}\n", "c.buf", false},
		{"the rest of a buffer is read elsewhere", findsText, fill + "func (c *conn) wait() {\nfor {\nif bytes.Index(c.buf.Bytes(), end) >= 0 { // here\nreturn\n}\nc.fill()\n}\n}\nfunc (c *conn) take(n int) []byte {\nreturn c.buf.Next(n)\n}\n", "c.buf", false},
		{"the loop around cuts a variable", findsText, "func f() {\nvar buf []byte\nfor {\nfor {\nif bytes.Index(buf, end) >= 0 { // here\nbreak\n}\nbuf = append(buf, read()...)\n}\nbuf = buf[use(buf):]\n}\n}\n", "buf", false},
		{"it begins anew with each command", findsText, next + "func (c *conn) run(cmd string) {\nc.buf = c.buf[:0]\nc.send(cmd)\nc.next()\n}\n", "c.buf", true},
		{"a field of the same name of another type is cut", findsText, next + "type conn struct { buf []byte }\ntype ring struct { buf []byte }\nfunc (r *ring) drop(n int) {\nr.buf = r.buf[n:]\n}\n", "c.buf", true},
		{"reads of a megabyte", findsText, "func f() {\nb := make([]byte, 1<<20)\nfor {\nn, _ := r.Read(b)\nout = append(out, b[:n]...)\nif bytes.Index(out, end) >= 0 { // here\nreturn\n}\n}\n}\n", "out", false},
		{"reads of a kilobyte", findsText, "const size = 1 << 10\nfunc f() {\nvar b [size]byte\nfor {\nn, _ := r.Read(b[:])\nout = append(out, b[:n]...)\nif bytes.Index(out, end) >= 0 { // here\nreturn\n}\n}\n}\n", "out", true},
		{"a function that is given it", matchesText, "func done(b []byte, re *regexp.Regexp) bool {\nreturn re.Match(b) // here\n}\nfunc f(re *regexp.Regexp) {\nvar out []byte\nfor {\nout = append(out, read()...)\nif done(out, re) { // second\nbreak\n}\n}\n}\n", "out", true},
		{"methods that fill and look", findsText, fill + "func (c *conn) ready() bool {\nreturn bytes.Index(c.buf.Bytes(), end) >= 0 // here\n}\nfunc (c *conn) wait() {\nfor !c.ready() { // second\nc.fill()\n}\n}\n", "c.buf", true},
		{"a method that does both", matchesText, feed + "func f(c *conn) {\nfor b := range in {\nif c.feed(b) { // second\nreturn\n}\n}\n}\n", "c.buf", true},
		{"a loop over all of it", "", "func complete(b []byte) bool {\ndepth := 0\nfor _, x := range b {\nif x == '{' { // here\ndepth++\n} else if x == '}' {\ndepth--\n}\n}\nreturn depth == 0\n}\nfunc f() {\nfor {\nmsg = append(msg, read()...)\nif complete(msg) { // second\nreturn\n}\n}\n}\n", "msg", true},
		{"an index loop over all of it", "", "func f() {\nfor {\nbuf = append(buf, read()...)\nn := 0\nfor i := 0; i < len(buf); i++ {\nif buf[i] == '\\n' { // here\nn++\n}\n}\nif n > 3 {\nreturn\n}\n}\n}\n", "buf", true},
		{"if there is none, go on", containsText, "func f() {\nfor {\ntext += next()\nif !strings.Contains(text, end) { // here\ncontinue\n}\nreturn\n}\n}\n", "text", true},
		{"by a helper that tells where", findsText, "func at(b []byte) int {\nif i := bytes.Index(b, end); i >= 0 { // here\nreturn i\n}\nreturn -1\n}\nfunc f() {\nfor {\nbuf = append(buf, read()...)\nn := at(buf) // second\nif n != -1 {\nreturn\n}\n}\n}\n", "buf", true},
		{"is it valid now", "encoding/json.Valid", "func f() {\nfor sc.Scan() {\nmsg = append(msg, sc.Bytes()...)\nif json.Valid(msg) { // here\nbreak\n}\n}\n}\n", "msg", true},
		{"counted", "strings.Count", "func f() {\nfor p := range parts {\ntext += p\nshow(strings.Count(text, nl)) // here\n}\n}\n", "text", true},

		{"a match does not end it", containsText, "func f() {\nfor p := range parts {\ntext += p\nif strings.Contains(text, bad) { // here\nfailed = true\n}\n}\n}\n", "text", false},
		{"goes on as long as it is there", containsText, "func f() {\nfor {\ntext += next()\nif !strings.Contains(text, mark) { // here\nreturn\n}\n}\n}\n", "text", false},
		{"a match skips the rest", containsText, "func f() {\nfor p := range parts {\ntext += p\nif strings.Contains(text, mark) { // here\ncontinue\n}\nuse(p)\n}\n}\n", "text", false},
		{"a loop that stops at a line break", "", "func f() {\nfor p := range parts {\ntext += p\nlines := 0\nfor _, x := range text {\nif x == '\\n' { // here\nlines++\nbreak\n}\n}\nuse(lines)\n}\n}\n", "text", false},
		{"at times", "strings.Count", "func f() {\nfor p := range parts {\ntext += p\nif verbose {\nshow(strings.Count(text, nl)) // here\n}\n}\n}\n", "text", false},
		{"after all but a few turns", "strings.Count", "func f() {\nfor p := range parts {\ntext += p\nif len(p) < 3 || !flush {\ncontinue\n}\nshow(strings.Count(text, nl)) // here\n}\n}\n", "text", false},
		{"nobody knows what calls it", matchesText, feed, "c.buf", false},

		{"it begins anew when something was found", matchesText, "func f() {\nfor {\nout = append(out, read()...)\nif re.Match(out) { // here\nuse(out)\nout = out[:0]\n}\n}\n}\n", "", false},
		{"what was found is cut off", findsText, "func f() {\nfor {\nbuf = append(buf, read()...)\ni := bytes.Index(buf, nl) // here\nif i >= 0 {\nuse(buf[:i])\nbuf = buf[i+1:]\n}\n}\n}\n", "", false},
		{"once it is all there", containsText, "func f() {\nfor {\ns, err := next()\nif err != nil {\nbreak\n}\ntext += s\n}\nuse(strings.Contains(text, key)) // here\n}\n", "", false},
		{"once it is all there, in the loop", "strings.Count", "func f() int {\nfor {\ns, err := next()\ntext += s\nif err == io.EOF {\nn := strings.Count(text, nl) // here\nreturn n\n}\n}\n}\n", "", false},
		{"from where the last one ended", findsText, "func f() {\nfor {\nbuf = append(buf, read()...)\nif bytes.Index(buf[from:], sep) >= 0 { // here\nreturn\n}\nfrom = len(buf)\n}\n}\n", "", false},
		{"the last bytes", matchesText, "func f() {\nfor {\nout = append(out, read()...)\ntail := out[max(0, len(out)-200):]\nif re.Match(tail) { // here\nreturn\n}\n}\n}\n", "", false},
		{"the last bytes, by a function", matchesText, "func f() {\nfor {\nout = append(out, read()...)\nif re.Match(tail(out)) { // here\nreturn\n}\n}\n}\n", "", false},
		{"a window", findsText, "func f() {\nfor {\nwin = append(win, read()...)\nif len(win) > 4096 {\nwin = win[len(win)-4096:]\n}\nif bytes.Index(win, sep) >= 0 { // here\nreturn\n}\n}\n}\n", "", false},
		{"a window that moves in place", findsText, "func f() {\nfor {\nwin = append(win, read()...)\ncopy(win, win[512:])\nif bytes.Index(win, sep) >= 0 { // here\nreturn\n}\n}\n}\n", "", false},
		{"a ring", findsText, "type ring struct { b []byte }\nfunc (r *ring) Write(b []byte) {}\nfunc (r *ring) Bytes() []byte { return r.b }\nfunc f() {\nr := new(ring)\nfor {\nr.Write(read())\nif bytes.Index(r.Bytes(), sep) >= 0 { // here\nreturn\n}\n}\n}\n", "", false},
		{"another one than what grows", matchesText, "func f() {\nfor {\nb := read()\nall = append(all, b...)\nif re.Match(b) { // here\nreturn\n}\n}\n}\n", "", false},
		{"a field of another", matchesText, "func f() {\nfor {\nc.all = append(c.all, read()...)\nif re.Match(c.last) { // here\nreturn\n}\n}\n}\n", "", false},
		{"it grows outside of the loop that looks", containsText, "func f() {\nfor _, p := range parts {\ntext += p\nfor i := 0; i < 1000; i++ {\nif strings.Contains(text, key) { // here\nreturn\n}\n}\n}\n}\n", "", false},
		{"it grows at times", containsText, "func f() {\nfor e := range events {\nif e.kind == more {\ntext += e.text\n}\nif strings.Contains(text, key) { // here\nreturn\n}\n}\n}\n", "", false},
		{"for something else each time", containsText, "func f() {\nfor _, name := range names {\nif !strings.Contains(text, name) { // here\ncontinue\n}\ntext += name\n}\n}\n", "", false},
		{"for another one of each turn", containsText, "func f() {\nfor p := range parts {\ntext += p.text\nfor _, k := range p.keys {\nif strings.Contains(text, k) { // here\nreturn\n}\n}\n}\n}\n", "", false},
		{"a set of names, as a text", containsText, "func f() {\nfor _, name := range names {\nif !strings.Contains(seen, mark) { // here\nseen += name\n}\n}\n}\n", "", false},
		{"one line at a time", containsText, "func parse(line string) bool {\nreturn strings.Contains(line, key) // here\n}\nfunc f() {\nfor sc.Scan() {\nline := sc.Text()\nall += line\nparse(line) // second\n}\n}\n", "", false},
		{"the last of a list", containsText, "func f() {\nfor sc.Scan() {\nlines = append(lines, sc.Text())\nif strings.Contains(lines[len(lines)-1], key) { // here\nbreak\n}\n}\n}\n", "", false},
		{"another one in each turn", containsText, "func f() {\nfor _, part := range parts {\ntext := head\ntext += part\nif strings.Contains(text, key) { // here\nreturn\n}\n}\n}\n", "", false},
		{"a buffer of each connection", matchesText, feed + "func f() {\nfor {\nc := &conn{re: re}\nc.feed(read()) // second\n}\n}\n", "", false},
		{"a buffer that is read from", findsText, "func f() {\nvar buf bytes.Buffer\nfor {\nbuf.Write(read())\nif bytes.Index(buf.Bytes(), nl) >= 0 { // here\nuse(buf.Next(80))\n}\n}\n}\n", "", false},
		{"a buffer that somebody else empties", findsText, "func f() {\nvar buf bytes.Buffer\nfor {\nbuf.Write(read())\nif bytes.Index(buf.Bytes(), nl) >= 0 { // here\nflush(&buf)\n}\n}\n}\n", "", false},
		{"a method that is called empties it", matchesText, feed + "func (c *conn) flush() {\nc.w.Write(c.buf)\nc.buf = c.buf[:0]\n}\nfunc f(c *conn) {\nfor b := range in {\nif c.feed(b) { // second\nc.flush()\n}\n}\n}\n", "", false},
		{"a copy from before the loop", containsText, "func f() {\ntext := string(out)\nfor {\nout = append(out, read()...)\nif strings.Contains(text, end) { // here\nreturn\n}\n}\n}\n", "", false},
		{"copies that are kept", "runtime.slicebytetostring", "func f() {\nfor _, b := range in {\npath = append(path, b)\nall = append(all, string(path)) // here\n}\n}\n", "", false},
		{"what a list has is compared with each", "", "func f() {\nfor _, v := range in {\ndup := false\nfor _, x := range out {\nif x == v { // here\ndup = true\n}\n}\nout = append(out, v)\n}\n}\n", "", false},
		{"a screen is drawn again", "", "func f() {\nfor l := range in {\nlines = append(lines, l)\nfor _, x := range lines {\ndraw(x) // here\n}\n}\n}\n", "", false},
		{"a list that is searched for another one each time", "", "func in(v string, all []string) bool {\nfor _, x := range all {\nif x == v { // here\nreturn true\n}\n}\nreturn false\n}\nfunc (s *section) add(v string) {\nif in(v, s.keys) { // second\nreturn\n}\ns.keys = append(s.keys, v)\n}\n", "", false},
		{"a text that is searched for what each call is given", containsText, "func (s *section) add(v string) {\nif strings.Contains(s.keys, v) { // here\nreturn\n}\ns.keys += v\n}\n", "", false},
		{"three tries", containsText, "func f() {\nfor i := 0; i < 3; i++ {\ntext += next()\nif strings.Contains(text, end) { // here\nreturn\n}\n}\n}\n", "", false},
		{"a few parts", containsText, "func f() {\nfor _, p := range []string{a, b, c} {\ntext += p\nif strings.Contains(text, end) { // here\nreturn\n}\n}\n}\n", "", false},
		{"fields of elements, which change", "", "func f() {\nfor p := range in {\nall = append(all, p)\nn := 0\nfor _, x := range all {\nif x.alive { // here\nn++\n}\n}\nuse(n)\n}\n}\n", "", false},
		{"elements that are changed", "", "func f() {\nfor p := range in {\nall = append(all, p)\nn := 0\nfor _, x := range all {\nif x > 3 { // here\nn++\n}\n}\nall[n] = 7\n}\n}\n", "", false},
		{"a key that is looked up", "runtime.mapaccess1_faststr", "func f() {\nfor _, b := range in {\npath = append(path, b)\nif known[string(path)] { // here\nn++\n}\n}\n}\n", "", false},
		{"only its end", "bytes.HasSuffix", "func f() {\nfor {\nout = append(out, read()...)\nif bytes.HasSuffix(out, end) { // here\nreturn\n}\n}\n}\n", "", false},
		{"a method of the same name", "shop.(*matcher).Match", "func f() {\nfor {\nout = append(out, read()...)\nif m.Match(out) { // here\nreturn\n}\n}\n}\n", "", false},
	} {
		text := "package main\nimport \"bytes\"\nimport \"strings\"\n" + c.source
		var way []stack.Frame
		for _, mark := range []string{"// here", "// second"} {
			if i := strings.Index(text, mark); i >= 0 {
				way = append(way, stack.Frame{Func: "main.f", File: "a.go", Line: 1 + strings.Count(text[:i], "\n")})
			}
		}
		g, ok := grownAt(sourceOf(text), way, map[string]int64{c.under: 90})
		if g.of != c.want || ok != (c.want != "") {
			t.Errorf("%s: %q, %v; want %q", c.name, g.of, ok, c.want)
		} else if ok && g.sure() != c.sure {
			t.Errorf("%s: sure is %v: %+v", c.name, g.sure(), g)
		}
	}
}

// TestCP20Grown: what searches a growing text again is a warning by its own share of the line's time,
// with what to do about it, and is not told a second time as a search of the library.
func TestCP20Grown(t *testing.T) {
	record := func(source, samples string) *recordingtest.Recording {
		r := recordingtest.New("title x\ntarget package ./shop module=shop go=go1.26.1\nphase cpu 0s..5s profiler=cpu")
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "/src/a.go"}, []byte(source))
		r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "cpu"}, profiletest.Profile(samples))
		return r
	}
	const loop = "package main\nfunc f() []byte {\nvar out []byte\nfor {\nout = append(out, read()...)\nif bytes.Index(out, end) >= 0 {\nreturn out\n}\n}\n}\n"
	f := expect(t, "a terminator", record(loop, "shop.f:/src/a.go:6                                     shop.g:/src/b.go:1\nbytes.Index:/go/bytes.go:3\n= 90                             10\n"), "CP20", Found,
		"quadratic time: bytes.Index searches all of out again in each turn of the loop at a.go:4, and out grows each time: 90.0% of the CPU time in shop.f at a.go:6")
	severity(t, "a terminator", f, Warning)
	doubted(t, f, "if the loop ends after a turn or two")
	if !strings.Contains(f.Advice, "Search only what is new") || !strings.Contains(f.Advice, "by the length of what is searched for, less one") || f.Title == cp20.Title || !f.grows || !f.saves {
		t.Errorf("%s: %s", f.Title, f.Advice)
	}
	if last := f.Evidence[len(f.Evidence)-1]; last.Line != 5 || last.Text != "out grows here" {
		t.Errorf("it grows at %+v", last)
	}
	// The samples of the line that are in something else do not count.
	f = expect(t, "little of the line", record(loop, "shop.f:/src/a.go:6                                   shop.f:/src/a.go:6\nbytes.Index:/go/bytes.go:3                              other.g:/go/g.go:3\n= 3                                   97\n"), "CP20", Fine)
	const watch = "package main\nfunc f() {\nfor p := range parts {\ntext += p\nif strings.Contains(text, bad) {\nfailed = true\n}\n}\n}\n"
	const framer = "package main\nfunc (c *conn) next() []byte {\nfor {\nc.buf = append(c.buf, read()...)\nif i := bytes.Index(c.buf, end); i >= 0 {\nreturn c.buf[:i]\n}\n}\n}\nfunc (c *conn) drop(n int) {\nc.buf = c.buf[n:]\n}\n"
	f = expect(t, "a framer", record(framer, "shop.f:/src/a.go:5                                     shop.g:/src/b.go:1\nbytes.Index:/go/bytes.go:3\n= 90                             10\n"), "CP20", Found,
		"bytes.Index searches all of c.buf again in each turn of the loop at a.go:3, which adds to it; what was found is cut off at a.go:11: 90.0% of the CPU time")
	severity(t, "a framer", f, Info)
	doubted(t, f, "how many reads one message takes is not known")
	if strings.Contains(f.Title+f.Summary, "uadratic") || f.saves || f.grows {
		t.Errorf("a framer: %s: %s", f.Title, f.Summary)
	}
	// What is copied off the front says how long a message is.
	const session = "package main\nfunc (c *conn) next() string {\nfor {\nif i := bytes.Index(c.buf, end); i >= 0 {\ns := string(c.buf[:i])\nc.buf = append(c.buf[:0], c.buf[i:]...)\nreturn s\n}\nn, _ := c.r.Read(c.chunk)\nc.buf = append(c.buf, c.chunk[:n]...)\n}\n}\nfunc dial(r io.Reader) *conn { return &conn{r: r, chunk: make([]byte, 512)} }\n"
	for size, severityOf := range map[string]Severity{"65536": Warning, "1024": Info} {
		r := record(session, "shop.(*conn).next:/src/a.go:4                           shop.g:/src/b.go:1\nbytes.Index:/go/bytes.go:3\n= 90                             10\n")
		r.Put(recording.Entry{Path: "allocs.pb.gz", Kind: recording.Allocs, Phase: "cpu"}, profiletest.Encode("shop.(*conn).next:/src/a.go:5\n= 1000000\n@ bytes="+size+"\n", profiletest.Options{Types: []string{"alloc_space/bytes"}}))
		f = expect(t, size, r, "CP20", Found, "what was found is cut off at a.go:6")
		severity(t, size, f, severityOf)
		if told := strings.Contains(f.Summary, "has 64.0 KiB on average, and came in reads of 512 B at most"); told != (severityOf == Warning) {
			t.Errorf("%s: %s", size, f.Summary)
		}
	}
	f = expect(t, "it goes on", record(watch, "shop.f:/src/a.go:5                                     shop.g:/src/b.go:1\nstrings.Contains:/go/strings.go:3\n= 90                             10\n"), "CP20", Found, "searches all of text again")
	severity(t, "it goes on", f, Info)
	if strings.Contains(f.Title+f.Summary, "uadratic") {
		t.Errorf("it goes on: %s: %s", f.Title, f.Summary)
	}
	doubted(t, f, "a search ends at the first match")
}
