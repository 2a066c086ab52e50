package insight

import (
	"strings"
	"testing"

	"loupe/value/stack"
)

// TestWT04OneStep: calls of a peer that one worker, or the holder of the only slot, makes in one step are found; what is made of
// no answer is not.
func TestWT04OneStep(t *testing.T) {
	const head = "type store struct { c *http.Client }\nfunc (s *store) Load(k string) (int, error) {\nr, err := s.c.Get(k) /*8*/\nreturn decode(r), err\n}\nfunc (s *store) Save(k string, n int) error {\n_, err := s.c.Post(k, n) /*9*/\nreturn err\n}\n"
	const serve = "func serve(st *store, in chan req) {\nfor r := range in {\n"
	const enter = "func (c *counter) add(st *store, key string) error {\nc.turn <- struct{}{} /*1*/\ndefer func() { <-c.turn }()\n"
	for _, c := range []struct {
		name, body string
		worker     bool
		want       string // the key, "-" where none is known, and empty where there is no step
	}{
		{"an increment", serve + "n, err := st.Load(r.key) /*2*/\nif err == nil {\nn++\nerr = st.Save(r.key, n) /*3*/\n}\nr.reply <- err\n}\n}", true, "-"},
		{"an increment in a function", serve + "r.reply <- count(st, r.key) /*4*/\n}\n}\nfunc count(st *store, key string) error {\nn, err := st.Load(key) /*2*/\nn++\nreturn st.Save(key, n) /*3*/\n}", true, "key"},
		{"an increment with a slot", enter + "n, err := st.Load(key) /*2*/\nif err != nil {\nreturn err\n}\nn++\nreturn st.Save(key, n) /*3*/\n}", false, "key"},
		{"what is not there yet", enter + "n, err := st.Load(key) /*2*/\nif n > 0 {\nreturn err\n}\nreturn st.Save(key, 1) /*3*/\n}", false, "key"},
		{"two that only read", enter + "n, err := st.Load(key) /*2*/\nm, err := st.Load(key + text(n)) /*3*/\nuse(m)\nreturn err\n}", false, ""},
		{"a write of what is given", serve + "n, err := st.Load(r.other) /*2*/\nuse(n)\nerr = st.Save(r.key, r.n) /*3*/\nr.reply <- err\n}\n}", true, ""},
		{"from one to another", enter + "n, err := c.from.Load(key) /*2*/\nreturn c.to.Save(key, n) /*3*/\n}", false, ""},
		{"the slot is given back between", "func (c *counter) add(st *store, key string) error {\nc.turn <- struct{}{} /*1*/\nn, err := st.Load(key) /*2*/\n<-c.turn /*5*/\nn++\nreturn st.Save(key, n) /*3*/\n}", false, ""},
	} {
		text := head + c.body
		code := sourcesOf(text).code
		at := func(mark string) stack.Frame { return markedIn(code, "package main\n\n"+text, mark) }
		way := func(leaf, in string) (frames []stack.Frame) {
			frames = []stack.Frame{{Func: "net/http.(*Client).do", File: "client.go", Line: 1}, at(in), at(leaf)}
			if by := at("4"); by.Line > 0 {
				frames = append(frames, by)
			}
			return append(frames, stack.Frame{Func: "main.main", File: "z.go", Line: 99})
		}
		holders := [][]stack.Frame{way("2", "8"), way("3", "9")}
		var frees []stack.Frame
		if f := at("5"); f.Line > 0 {
			frees = append(frees, f)
		}
		p := oneStepUnder(code, holders, frees, func(holder []stack.Frame) *underlying {
			if c.worker {
				return servedBy(code, holder)
			}
			return letInBy(code, []stack.Frame{{Func: "runtime.chansend1"}, at("1")}, holder)
		})
		got := ""
		if p != nil {
			if got = p.key; got == "" {
				got = "-"
			}
			if p.first != at("2").Line || p.second != at("3").Line {
				t.Errorf("%s: lines %d and %d", c.name, p.first, p.second)
			}
			f := Finding{}
			p.tellOneStep(&f, "Do not just start more workers:")
			if !strings.Contains(f.Advice, "one of their changes would be lost") {
				t.Errorf("%s: %s", c.name, f.Advice)
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// markedIn is the line of a source with a mark, in its function; zero where there is none.
func markedIn(c *code, text, mark string) (f stack.Frame) {
	i := strings.Index(text, "/*"+mark+"*/")
	if i < 0 {
		return f
	}
	f = stack.Frame{File: "a.go", Line: strings.Count(text[:i], "\n") + 1}
	fn := c.function(f)
	f.Func = "main." + fn.Name.Name
	if of := receiverType(fn); of != "" {
		f.Func = "main.(*" + of + ")." + fn.Name.Name
	}
	return f
}

// TestWT04Things: a channel that is filled with things, one for each that there is, is told from one of tokens.
func TestWT04Things(t *testing.T) {
	const use = "func (b *bench) measure(s string) int {\nd := <-b.free /*1*/\ndefer func() { b.free <- d }()\nreturn d.measure(s)\n}\n"
	for _, c := range []struct{ name, of, fill, want string }{
		{"one for each address", "*device", "func (b *bench) fill(addrs []string) {\nfor _, a := range addrs {\nb.free <- &device{a}\n}\n}", "addrs"},
		{"as many as it says", "*device", "func (b *bench) fill(n int) {\nfor i := range n {\nb.free <- newDevice(i)\n}\n}", "count"},
		{"as many as it counts to", "*device", "func (b *bench) fill(n int) {\nfor i := 0; i < n; i++ {\nb.free <- newDevice(i)\n}\n}", "count"},
		{"tokens", "struct{}", "func (b *bench) fill(n int) {\nfor range n {\nb.free <- struct{}{}\n}\n}", ""},
		{"numbers of slots", "int", "func (b *bench) fill(n int) {\nfor i := range n {\nb.free <- i\n}\n}", ""},
		{"filled by whoever comes", "*device", "func (b *bench) add(d *device) { b.free <- d }", ""},
		{"another channel", "*device", "func (b *bench) fill(addrs []string) {\nfor _, a := range addrs {\nb.idle <- &device{a}\n}\n}", ""},
	} {
		text := "type bench struct { free, idle chan " + c.of + " }\ntype device struct { addr string }\n" + use + c.fill
		at := numbered("package main\n\n" + text)
		x, ok := thingsIn(sourcesOf(text).code, at[0])
		got := x.of
		if ok && x.counts {
			got = "count"
		}
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%s: %q %v, want %q", c.name, got, ok, c.want)
		}
	}
}
