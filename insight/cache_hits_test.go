package insight

import (
	"strconv"
	"strings"
	"testing"

	repeatsfile "loupe/format/repeats"
	"loupe/session"
	"loupe/value/stack"
)

// TestCacheHits: a cache that hardly ever has what it is asked for is told by the counts of its branches, with what throws its entries away; whether
// that comes again is known by the calls behind it.
func TestCacheHits(t *testing.T) {
	const head = "package main\n\nimport \"sync\"\n\ntype item struct { n int }\ntype store struct {\nmu sync.Mutex\nknown map[string]*item\n}\n\nfunc load(name string) *item {\nn := 0\nfor i := range 1000 { n += i } // A\nreturn &item{n}\n}\n"
	const get = "func (s *store) get(name string) *item { /*9000*/\ns.mu.Lock()\nv, ok := s.known[name]\ns.mu.Unlock()\nif ok { /*HAD*/\nreturn v\n}\nv = load(name) // B\ns.known[name] = v\nreturn v\n}\n"
	const again, once = 7900, 100
	for _, c := range []struct {
		name, source        string
		again               int64
		title, says, advice string
	}{
		{"it is replaced", strings.Replace(get, "HAD", "200", 1) + "func (s *store) trim() { s.known = map[string]*item{} }\n", again, "A cache hardly ever has", "s.known had what it was asked for in 200 of 9,000 times, though 89.8% of the calls behind it had arguments that had been there before (about 900 different ones)", "replaces all of s.known. Let one entry go for each new one"},
		{"it is emptied", strings.Replace(get, "HAD", "200", 1) + "func (s *store) trim() {\nfor k := range s.known {\ndelete(s.known, k)\n}\n}\n", again, "A cache hardly ever has", "200 of 9,000 times", "empties all of s.known"},
		{"another key is put in", "func (s *store) get(name string) *item { /*9000*/\nif v, ok := s.known[name]; ok { /*0*/\nreturn v\n}\nv := load(name) // B\ns.known[\"item \"+name] = v\nreturn v\n}\n", again, "A cache hardly ever has", "in 0 of 9,000 times", "s.known is asked by name, and gets its entries by \"item \" + name"},
		{"where it has nothing", "func (s *store) get(name string) *item { /*9000*/\nv, ok := s.known[name]\nif !ok { /*8900*/\nv = load(name) // B\ns.known[name] = v\n}\nreturn v\n}\n", again, "A cache hardly ever has", "in 100 of 9,000 times", "Look at why s.known does not have it"},
		{"after a check that leaves", "func (s *store) get(name string) *item { /*9000*/\nif name == \"\" { /*8900*/\nreturn nil\n}\nif v, ok := s.known[name]; ok { /*90*/\nreturn v\n}\nv := load(name) // B\ns.known[name] = v\nreturn v\n}\n", again, "", "", ""},
		{"little of what comes again, and it has hardly any", strings.Replace(get, "HAD", "5", 1), 2000, "A cache hardly ever has", "in 5 of 9,000 times, though 22.7% of the calls", "Look at why s.known does not have it"},
		{"little of what comes again, and it has some", strings.Replace(get, "HAD", "800", 1), 2000, "Hot function", "in 800 of 9,000 times", "if nothing comes again"},
		{"a type of its own", "type ring struct { index map[string]*item; oldest string }\nfunc (r *ring) Get(name string) (*item, bool) {\nv, ok := r.index[name]\nreturn v, ok\n}\nfunc (r *ring) Put(name string, v *item) {\ndelete(r.index, r.oldest)\nr.index[name] = v\n}\nfunc (s *store) get(name string) *item { /*9000*/\nif v, ok := known.Get(name); ok { /*20*/\nreturn v\n}\nv := load(name) // B\nknown.Put(name, v)\nreturn v\n}\nvar known = &ring{}\n", again, "A cache hardly ever has", "known had what it was asked for in 20 of 9,000 times", "look at what goes at main.go:22"},
		{"nothing comes again", strings.Replace(get, "HAD", "20", 1), once, "Hot function", "in 20 of 9,000 times", "if nothing comes again"},
		{"it hits often", strings.Replace(get, "HAD", "6000", 1), again, "Hot function", "only where a cache does not have the result", ""},
		{"it is emptied, as what it is made of changes", strings.Replace(get, "HAD", "200", 1) + "func (s *store) trim() { clear(s.known); rate++ }\nvar rate int\nfunc (s *store) more() { load(name(rate)) }\n", again, "A cache hardly ever has", "200 of 9,000 times", "empties all of s.known"},
		{"what fills it reads what changes", strings.Replace(strings.Replace(get, "HAD", "200", 1), "load(name) // B", "s.load(name) // B", 1) + "func (s *store) load(name string) *item {\nreturn &item{rate} // A\n}\nfunc (s *store) trim() { clear(s.known); rate++ }\nvar rate int\n", again, "Hot function", "200 of 9,000 times", "made of what changes"},
		{"it is made for each request", strings.Replace(get, "HAD", "200", 1) + "func serve() { use(&store{known: map[string]*item{}}) }\nfunc use(*store) {}\n", again, "Hot function", "200 of 9,000 times", "lasts no longer than what is made at main.go"},
		{"it is made at the start", strings.Replace(get, "HAD", "200", 1) + "func main() { use(&store{known: map[string]*item{}}) }\nfunc use(*store) {}\n", again, "A cache hardly ever has", "200 of 9,000 times", "Look at why s.known does not have it"},
		{"it was not counted", strings.Replace(strings.Replace(get, " /*9000*/", "", 1), " /*HAD*/", "", 1), again, "Hot function", "only where a cache does not have the result", "count its hits and misses"},
	} {
		source := head + c.source
		load := repeatsfile.Func{Name: "main.load", File: "/src/main.go", Line: 11, Calls: 8800, Time: 800e6, Everywhere: &repeatsfile.Counts{Calls: 8800, Time: 800e6, Distinct: 8800 - c.again, Again: c.again, AgainTime: 7e6}}
		stack := "runtime.main main.main:/src/none.go:1 main.(*store).get@B main.load@A"
		if strings.Contains(source, "func (s *store) load") {
			load.Name = "main.(*store).load"
			source = strings.Replace(source, " // A\n", "\n", 1)
			stack = strings.Replace(stack, "main.load@A", "main.(*store).load@A", 1)
		}
		r := countedRecording(t, source, stackAt(source, stack), load)
		f := answers(t, r, "CP01")[0]
		if !strings.HasPrefix(f.Title, c.title) || !strings.Contains(f.Summary, c.says) || !strings.Contains(f.Advice, c.advice) {
			t.Errorf("%s: %s: %s → %s", c.name, f.Title, f.Summary, f.Advice)
		}
		if told := strings.HasPrefix(f.Title, "A cache"); told != (f.Severity == Warning) {
			t.Errorf("%s is %s", c.name, f.Severity)
		}
	}
}

// TestMissed: what is done behind a cache that does not keep what comes again is told with that, whoever puts its entries in: a cache that hardly ever
// has it, or whose calls fail; not one that has it often, and calls that all succeed.
func TestMissed(t *testing.T) {
	const head = "package main\n\ntype item struct { n int }\ntype store struct {\nknown map[string]*item\n}\n\nfunc load(name string) (*item, error) {\nreturn parse(name), nil // A\n}\n"
	const get = "func (s *store) get(name string) (*item, error) { /*9000*/\nif v, ok := s.known[name]; ok { /*HAD*/\nreturn v, nil\n}\nv, err := load(name) // B\nif err != nil { /*500*/\nreturn nil, err\n}\ns.remember(name, v)\nreturn v, nil\n}\n"
	const put = "func (s *store) remember(name string, v *item) { s.known[name] = v }\n"
	for _, c := range []struct {
		name, source string
		again        int64
		fails        bool
		says         string
	}{
		{"it hardly ever has it", strings.Replace(get, "HAD", "200", 1) + put, 7900, false, "whether all results are put in"},
		{"its calls fail", strings.Replace(get, "HAD", "7000", 1) + put, 1800, true, "Calls behind s.known fail"},
		{"it has it often", strings.Replace(get, "HAD", "7000", 1) + put, 1800, false, ""},
		{"what fails does not come again", strings.Replace(get, "HAD", "7000", 1) + put, 20, true, ""},
		{"nothing is put in", strings.Replace(get, "HAD", "200", 1) + "func (s *store) remember(name string, v *item) { println(name) }\n", 7900, true, ""},
		{"something else is asked", strings.Replace(strings.Replace(get, "HAD", "200", 1), "s.known[name]; ok", "names[name]; ok", 1) + put + "var names map[string]*item\n", 7900, true, ""},
		{"it was not counted", strings.Replace(get, " /*HAD*/", "", 1) + put, 7900, true, ""},
	} {
		source := head + c.source
		load := repeatsfile.Func{Name: "main.load", File: "/src/main.go", Line: 8, Calls: 8800, Time: 800e6, Everywhere: &repeatsfile.Counts{Calls: 2000, Time: 800e6, Distinct: 2000 - c.again, Again: c.again, AgainTime: 7e6, Traits: repeatsfile.Traits{Fails: c.fails}}}
		if c.again > 2000 {
			load.Everywhere.Calls, load.Everywhere.Distinct = 8800, 8800-c.again
		}
		frames := stackAt(source, "main.main:/src/none.go:1 main.(*store).get@B main.load@A")
		in := NewInput(session.New(countedRecording(t, source, frames, load).Open()))
		var f Finding
		v := []stack.Frame{}
		for _, x := range strings.Fields(frames) {
			at := strings.Split(x, ":")
			line, _ := strconv.Atoi(at[2])
			v = append([]stack.Frame{{Func: at[0], File: at[1], Line: line}}, v...)
		}
		if told := tellMissed(in, v, &f); told != (c.says != "") || !strings.Contains(f.Advice, c.says) {
			t.Errorf("%s: %v: %s → %s", c.name, told, f.Summary, f.Advice)
		}
	}
}
