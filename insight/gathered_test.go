package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/value/timeline"
)

// gatherHead are the types that the sources of these tests use.
const gatherHead = `package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
)

var name, tmp, dir string
type item struct { name string; size int }
type source struct { items, more map[string]item; queue []item; sink sink; store *store }
type sink struct { out chan item; path, from string; w *textFile; store *store }
type store struct { n int }
type textFile struct { n int }
func (s *source) add(x item) { s.items[x.name+"!"] = x }
func (s *source) other(x item) { s.more[x.name] = x }
func (s *source) through(do func(item)) { for _, x := range s.items { do(x) } }
func (s *source) pop() (item, bool) { x := s.queue[0]; s.queue = s.queue[1:]; return x, true }
func (s *source) push(x item) { s.queue = append(s.queue, item{}) }
func (k *sink) rewrite(all []item) { f, _ := os.Create(k.path); for _, x := range all { fmt.Fprintln(f, x) } }
func (k *sink) log(x item) { f, _ := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0); fmt.Fprintln(f, x) }
func openLines(path string) *os.File { f, _ := os.Open(path); return f }
func saveLines(all []item) { f, _ := os.Create(name); for _, x := range all { fmt.Fprintln(f, x) } }
func (s *source) next() (item, bool) { return item{}, false }
func (s *source) each(do func(item) error) error { return nil }
func (s *sink) write(x item) error { return nil }
type index struct { all []item; by map[string]item }
func (x *index) put(i item) { x.by[i.name] = i }
func show(k *sink, all []item) { for _, x := range all { k.write(x) } }
func order(all []item) { sort.Slice(all, func(i, j int) bool { return all[i].size < all[j].size }) }
`

const gatherLoop = "var all []item\nfor {\nx, ok := s.next()\nif !ok {\nbreak\n}\nall = append(all, x)\n}\n"

// TestGathered: what can be handled when it comes is told from what needs all items, or keeps them.
func TestGathered(t *testing.T) {
	const handle = "for _, x := range all {\nk.write(x)\n}\n"
	for _, c := range []struct{ name, body, against, keeps string }{ // against is "-" where there is no such list
		{"written", gatherLoop + handle, "", ""},
		{"sent", gatherLoop + "for _, x := range all {\nk.out <- x\n}\n", "", ""},
		{"by a callback", "var all []item\nerr := s.each(func(x item) error {\nall = append(all, x)\nreturn nil\n})\nif err != nil {\nreturn\n}\n" + handle, "", ""},
		{"in a condition", "var all []item\nif err := s.each(func(x item) error {\nall = append(all, x)\nreturn nil\n}); err != nil {\nreturn\n}\n" + handle, "", ""},
		{"by their numbers", gatherLoop + "for i := range all {\nk.write(all[i])\n}\n", "", ""},
		{"by a counter", gatherLoop + "for i := 0; i < len(all); i++ {\nk.write(all[i])\n}\n", "", ""},
		{"in batches", gatherLoop + "for batch := range slices.Chunk(all, 100) {\nuse(batch)\n}\n", "", ""},
		{"on goroutines", gatherLoop + "for _, x := range all {\nwg.Go(func() { k.write(x) })\n}\n", "", "each turn starts a goroutine"},
		{"added up", gatherLoop + "n := 0\nfor _, x := range all {\nn += x.size\n}\n", "", ""},
		{"handed to a function", gatherLoop + "show(k, all)\n", "", ""},
		{"none at all", gatherLoop + "if len(all) == 0 {\nreturn\n}\n" + handle, "", ""},
		{"counted in the end", gatherLoop + handle + "log.Print(len(all))\n", "", ""},
		{"widths", gatherLoop + "w := 0\nfor _, x := range all {\nw = max(w, len(x.name))\n}\n" + handle, "", ""},
		{"widths, compared", gatherLoop + "w := 0\nfor _, x := range all {\nif n := len(x.name); n > w {\nw = n\n}\n}\n" + handle, "", ""},
		{"something is made and dropped", gatherLoop + "for _, x := range all {\ny := x.name + \"!\"\nuse(y)\n}\n", "", ""},
		{"the last one", gatherLoop + "var last item\nfor _, x := range all {\nlast = x\n}\nuse(last)\n", "", ""},
		{"numbers are kept", gatherLoop + "var sizes []int\nfor _, x := range all {\nsizes = append(sizes, x.size)\n}\nuse(sizes)\n", "", ""},
		{"each folder's by itself", "for range 3 {\n" + gatherLoop + handle + "}\n", "", ""},

		{"sorted", gatherLoop + "sort.Slice(all, less)\n" + handle, "it needs all of them: sort.Slice", ""},
		{"sorted by slices", gatherLoop + "slices.SortFunc(all, less)\n" + handle, "it needs all of them", ""},
		{"sorted by a function", gatherLoop + "order(all)\n" + handle, "it needs all of them", ""},
		{"backwards", gatherLoop + "for _, x := range slices.Backward(all) {\nk.write(x)\n}\n", "it needs all of them", ""},
		{"its length first", gatherLoop + "k.header(len(all))\n" + handle, "its length is asked for before all", ""},
		{"how far it is", gatherLoop + "for i, x := range all {\nlog.Print(i, len(all))\nk.write(x)\n}\n", "or asks how many there are", ""},
		{"the next one", gatherLoop + "for i, x := range all {\nuse(x, all[i+1])\n}\n", "a turn looks at other items", ""},
		{"taken by number", gatherLoop + "use(all[7])\n" + handle, "items are taken from it by their number", ""},
		{"checked first", gatherLoop + "for _, x := range all {\nif x.size < 0 {\nreturn\n}\n}\n" + handle, "once more behind it", ""},
		{"added up first", gatherLoop + "n := 0\nfor _, x := range all {\nn += x.size\n}\n" + handle, "once more behind it", ""},
		{"again and again", gatherLoop + "for range 3 {\n" + handle + "}\n", "again and again", ""},
		{"given away", gatherLoop + "use(all)\n" + handle, "all of it is handed to use", ""},
		{"encoded", gatherLoop + "json.NewEncoder(w).Encode(all)\n", "all of it is handed to", ""},
		{"stored", gatherLoop + "cache.items = all\n", "it goes on as a whole", ""},
		{"into another list", gatherLoop + "rest = append(rest, all...)\n", "it goes on into another list", ""},
		{"under a lock", "mu.Lock()\nvar all []item\nfor _, x := range s.items {\nall = append(all, x)\n}\nmu.Unlock()\n" + handle, "is released before they are handled: mu.Unlock", ""},
		{"a sum of all first", "var all []item\ntotal := 0\nfor _, x := range s.items {\nall = append(all, x)\ntotal += x.size\n}\nfor _, x := range all {\nk.share(x, total)\n}\n", "total, which the turns set, is used before all have been handled", ""},
		{"a sum of all at the end", "var all []item\ntotal := 0\nfor _, x := range s.items {\nall = append(all, x)\ntotal += x.size\n}\n" + handle + "log.Print(total)\n", "", ""},
		{"an earlier item is changed", "var all []*item\nby := map[string]*item{}\nfor _, x := range s.items {\ny := &item{}\nall = append(all, y)\nby[x.name] = y\np := by[x.parent]\np.children++\n}\nfor _, x := range all {\nk.write(*x)\n}\n", "a later one may change an earlier item", ""},
		{"the one before is changed", "var all []*item\nvar last *item\nfor range s.items {\ny := &item{}\nall = append(all, y)\nlast.next = y\nlast = y\n}\nfor _, x := range all {\nk.write(*x)\n}\n", "a later one may change an earlier item", ""},
		{"perhaps again", gatherLoop + "retry(3, func() {\n" + handle + "})\n", "which may run more than once", ""},
		{"the same file", "f, _ := os.Open(name)\n" + gatherLoop + "os.Create(name)\n" + handle, "name is what they are read from", ""},
		{"the same file, by another name", "f, _ := os.Open(name)\n" + gatherLoop + "to := name\nos.Create(to)\n" + handle, "to is what they are read from", ""},
		{"the same file, by a helper", "f := openLines(name)\n" + gatherLoop + "saveLines(all)\n", "name is what they are read from", ""},
		{"the same file, by a field", "k.path = name\nf, _ := os.Open(k.path)\n" + gatherLoop + "k.rewrite(all)\n", "k.path is what they are read from", ""},
		{"another field", "f, _ := os.Open(k.from)\n" + gatherLoop + "k.rewrite(all)\n", "", ""},
		{"the same field of another", "f, _ := os.Open(s.sink.path)\n" + gatherLoop + "k.rewrite(all)\n", "", ""},
		{"renamed over it behind it", "f, _ := os.Open(name)\n" + gatherLoop + "out, _ := os.Create(name + \".new\")\nfor _, x := range all {\nfmt.Fprintln(out, x)\n}\nos.Rename(tmp, name)\n", "", ""},
		{"the file that is open", "f, _ := os.OpenFile(name, os.O_RDWR, 0)\nlines := bufio.NewScanner(f)\nvar all []string\nfor lines.Scan() {\nall = append(all, lines.Text())\n}\nf.Truncate(0)\nfor _, x := range all {\nf.WriteString(x)\n}\n", "f is what they are read from", ""},
		{"appended to", "f, _ := os.Open(name)\n" + gatherLoop + "for _, x := range all {\nk.log(x)\n}\n", "name is what they are read from", ""},
		{"another file is appended to", "f, _ := os.Open(tmp)\n" + gatherLoop + "for _, x := range all {\nk.log(x)\n}\n", "", ""},
		{"a line by its end", "f, _ := os.Open(name)\nr := bufio.NewReader(f)\nvar all []string\nfor {\nx, err := r.ReadString('\\n')\nif err != nil {\nbreak\n}\nall = append(all, x)\n}\nfor _, x := range all {\nk.w.WriteString(x)\nk.w.WriteByte('\\n')\n}\n", "", ""},
		{"into the folder that is walked", "var all []string\nfilepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {\nall = append(all, p)\nreturn nil\n})\nfor _, p := range all {\nos.WriteFile(filepath.Join(dir, filepath.Base(p)+\".gz\"), nil, 0o644)\n}\n", "os.WriteFile changes the folder", ""},
		{"beside the files that are walked", "var all []string\nfilepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {\nall = append(all, p)\nreturn nil\n})\nfor _, p := range all {\nto := p + \".gz\"\nos.Create(to)\n}\n", "os.Create changes the folder", ""},
		{"renamed in the folder that is walked", "var all []string\nfilepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {\nall = append(all, p)\nreturn nil\n})\nfor _, p := range all {\nos.Rename(p, filepath.Join(filepath.Dir(p), \"old\"))\n}\n", "os.Rename changes the folder", ""},
		{"into another folder", "var all []string\nfilepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {\nall = append(all, p)\nreturn nil\n})\nfor _, p := range all {\nos.WriteFile(filepath.Join(tmp, filepath.Base(p)), nil, 0o644)\n}\n", "", ""},
		{"a folder that is read at once", "entries, _ := os.ReadDir(dir)\nvar all []string\nfor _, e := range entries {\nall = append(all, e.Name())\n}\nfor _, p := range all {\nos.WriteFile(filepath.Join(dir, p+\".gz\"), nil, 0o644)\n}\n", "", ""},
		{"put into the table", "var all []item\nfor _, x := range s.items {\nall = append(all, x)\n}\nfor _, x := range all {\ns.add(x)\n}\n", "it changes s.items, which the first loop goes through", ""},
		{"put into another table", "var all []item\nfor _, x := range s.items {\nall = append(all, x)\n}\nfor _, x := range all {\nx.name = \"\"\ns.other(x)\n}\n", "", "s.more"},
		{"back into the queue", "var all []item\nfor len(s.queue) > 0 {\nx := s.queue[0]\ns.queue = s.queue[1:]\nall = append(all, x)\n}\nfor _, x := range all {\ns.queue = append(s.queue, x)\n}\n", "s.queue is set by the turns", ""},
		{"back into the channel", "var all []item\nfor x := range k.out {\nall = append(all, x)\n}\nfor _, x := range all {\nk.out <- x\n}\n", "it sends to k.out", ""},
		{"by what calls back", "var all []item\ns.through(func(x item) {\nall = append(all, x)\n})\nfor _, x := range all {\ns.add(x)\n}\n", "it changes s.items", ""},
		{"rows of an open query", "rows, _ := s.store.Query(q)\nvar all []int\nfor rows.Next() {\nvar x int\nrows.Scan(&x)\nall = append(all, x)\n}\nfor _, x := range all {\ns.store.Exec(\"DELETE\", x)\n}\n", "s.store has the query open", ""},
		{"rows of another store", "rows, _ := s.store.Query(q)\nvar all []int\nfor rows.Next() {\nvar x int\nrows.Scan(&x)\nall = append(all, x)\n}\nfor _, x := range all {\nk.store.Exec(\"INSERT\", x)\n}\n", "", ""},
		{"put in its place first", gatherLoop + "os.Rename(tmp, name)\n" + handle, "put in its place before", ""},
		{"taken out behind it", "var all []string\nfor k, x := range s.items {\nif x.size > 9 {\nall = append(all, k)\n}\n}\nfor _, k := range all {\ndelete(s.items, k)\n}\n", "it takes entries out of s.items, which the first loop goes through", ""},
		{"on one transaction", "rows := tx.Query(q)\nvar all []int\nfor rows.Next() {\nvar x int\nrows.Scan(&x)\nall = append(all, x)\n}\nfor _, x := range all {\ntx.Exec(d, x)\n}\n", "tx is used while the items are handled", ""},
		{"two sources", gatherLoop + "for {\nx, ok := s.next()\nif !ok {\nbreak\n}\nall = append(all, x)\n}\n" + handle, "-", ""},

		{"an index is made of it", gatherLoop + "by := map[string]item{}\nfor _, x := range all {\nby[x.name] = x\n}\nuse(by)\n", "", "goes on into by[x.name]"},
		{"an index by a method", gatherLoop + "for _, x := range all {\nix.put(x)\n}\n", "", "goes on into x.by"},
		{"another list is made of it", gatherLoop + "var names []string\nfor _, x := range all {\nname := strings.ToUpper(x.name)\nnames = append(names, name)\n}\nuse(names)\n", "", "goes on into names"},
		{"kept by a library", gatherLoop + "for _, x := range all {\ntree.Insert(x)\n}\n", "", "goes on into tree"},

		{"a batch with a bound", "var all []item\nfor {\nx, ok := s.next()\nif !ok {\nbreak\n}\nif all = append(all, x); len(all) == 100 {\nshow(k, all)\nall = all[:0]\n}\n}\nshow(k, all)\n", "-", ""},
		{"a batch, emptied", "var all []item\nfor {\nx, ok := s.next()\nif !ok {\nbreak\n}\nall = append(all, x)\nif full(x) {\nshow(k, all)\nall = nil\n}\n}\n" + handle, "-", ""},
		{"a bound", "var all []item\nfor len(all) < 100 {\nx, _ := s.next()\nall = append(all, x)\n}\n" + handle, "-", ""},
		{"goroutines add to it", "var all []item\nfor range 8 {\ngo func() {\nx, _ := s.next()\nmu.Lock()\nall = append(all, x)\nmu.Unlock()\n}()\n}\n" + handle, "-", ""},
		{"a field", "for {\nx, ok := s.next()\nif !ok {\nbreak\n}\nk.all = append(k.all, x)\n}\n", "-", ""},
		{"a row of it", "for {\nvar all []string\nall = append(all, next())\nuse(all)\n}\n", "-", ""},
	} {
		text := gatherHead + "func f(s *source, k *sink, ix *index) {\n" + c.body + "}\n"
		d := newDerivations(sourceOf(text))
		g := (*gathered)(nil)
		for _, decl := range d.t.decls {
			if decl.Name.Name == "f" {
				for _, x := range gatheredLists(d, decl) {
					if x.of.Name() == "all" {
						g = x
					}
				}
			}
		}
		switch {
		case (g == nil) != (c.against == "-"):
			t.Errorf("%s: found is %v", c.name, g != nil)
		case g != nil && (!strings.Contains(g.against, c.against) || c.against == "" && g.against != "" || !strings.Contains(g.keeps, c.keeps) || c.keeps == "" && c.against == "" && g.keeps != ""):
			t.Errorf("%s: against %q, keeps %q", c.name, g.against, g.keeps)
		case g != nil && c.against == "" && g.measured() != strings.HasPrefix(c.name, "widths"):
			t.Errorf("%s: measured is %v", c.name, g.measured())
		}
	}
}

// TestGatheredReturned: a list that is returned is followed into the only caller; where there are several, it is kept by somebody.
func TestGatheredReturned(t *testing.T) {
	const load = "func f(s *source) ([]item, error) {\n" + gatherLoop + "return all, nil\n}\n"
	for _, c := range []struct{ name, callers, against string }{
		{"gone through", "func g(s *source, k *sink) {\nall, err := f(s)\nif err != nil {\nreturn\n}\nfor _, x := range all {\nk.write(x)\n}\n}\n", ""},
		{"handed on", "func g(s *source, k *sink) {\nall, _ := f(s)\nshow(k, all)\n}\n", ""},
		{"sorted", "func g(s *source, k *sink) {\nall, _ := f(s)\norder(all)\nshow(k, all)\n}\n", "it needs all of them"},
		{"kept", "func g(s *source, k *index) {\nk.all, _ = f(s)\n}\n", "it is returned"},
		{"several callers", "func g(s *source, k *sink) {\nall, _ := f(s)\nshow(k, all)\n}\nfunc h(s *source, k *sink) {\nall, _ := f(s)\nshow(k, all)\n}\n", "it is returned"},
		{"nobody", "", "it is returned"},
	} {
		d := newDerivations(sourceOf(gatherHead + load + c.callers))
		for _, decl := range d.t.decls {
			if decl.Name.Name != "f" {
				continue
			}
			all := gatheredLists(d, decl)
			if len(all) != 1 || !strings.HasPrefix(all[0].against, c.against) || c.against == "" && all[0].against != "" {
				t.Errorf("%s: %+v", c.name, all)
			}
		}
	}
}

// TestGC16Gathered: what the turns of one loop allocate is added up, at whichever lines; it is a warning where it is much and
// only gone through once.
func TestGC16Gathered(t *testing.T) {
	const read = "package shop\n\ntype row struct { a, b []byte }\ntype table struct { cache [][]byte }\n\nfunc (t *table) next() (*row, bool) {\n\ta := make([]byte, 10)\n\tb := make([]byte, 10)\n\treturn &row{a, b}, true\n}\n\nfunc f(t *table, w *out) {\n\tvar all []*row\n\tfor {\n\t\tx, ok := t.next()\n\t\tif !ok {\n\t\t\tbreak\n\t\t}\n\t\tt.warm()\n\t\tall = append(all, x)\n\t}\n"
	const handle = "\tfor _, x := range all {\n\t\tw.Write(x.a)\n\t}\n}\n"
	const rest = "\nfunc (t *table) warm() {\n\tt.cache = append(t.cache, make([]byte, 99))\n}\n"
	for _, c := range []struct {
		name, source string
		mb           [4]int64 // at the first line of a row, at the second one, at the append, and in the cache
		state        State
		title        string
		severity     Severity
		says         string
	}{
		{"a bad one ends it", strings.NewReplacer("w *out) {", "w *out) error {", "\t\tt.warm()", "\t\tt.warm(); if x.a == nil { return errForm }").Replace(read) + handle + rest, [4]int64{45, 45, 10, 0}, Found, gatheredTitle, Info, "is only gone through once, at a.go:22"},
		{"the end of it is no error", strings.NewReplacer("w *out) {", "w *out) error {", "\t\tt.warm()", "\t\tt.warm(); if x.a == nil { return nil }").Replace(read) + handle + rest, [4]int64{45, 45, 10, 0}, Found, gatheredTitle, Warning, "is only gone through once"},
		{"an error while they are handled", strings.Replace(read, "w *out) {", "w *out) error {", 1) + strings.Replace(handle, "w.Write(x.a)", "if err := w.Write(x.a); err != nil { return err }", 1) + rest, [4]int64{45, 45, 10, 0}, Found, gatheredTitle, Warning, "is only gone through once"},
		{"an error before it", strings.Replace(read, "\tvar all []*row\n", "\tvar all []*row; if err := t.open(); err != nil { return }\n", 1) + handle + rest, [4]int64{45, 45, 10, 0}, Found, gatheredTitle, Warning, "is only gone through once"},
		{"an error behind it", read + strings.Replace(handle, "\tfor _", "\tif err := t.err(); err != nil { return }; for _", 1) + rest, [4]int64{45, 45, 10, 0}, Found, gatheredTitle, Info, "is only gone through once"},
		{"two lines", read + handle + rest, [4]int64{45, 45, 10, 0}, Found, gatheredTitle, Warning, "of 100 MiB in use, 100% were allocated by the turns of the loop at a.go:14 for the items that a.go:20 appends to all"},
		{"one line", read + handle + rest, [4]int64{80, 10, 10, 0}, Found, gatheredTitle, Warning, "is only gone through once, at a.go:22"},
		{"little", read + handle + rest, [4]int64{15, 15, 2, 0}, Found, gatheredTitle, Info, "of 32.0 MiB in use"},
		{"very little", read + handle + rest, [4]int64{4, 4, 2, 0}, Fine, "", "", "at others less"},
		{"sorted", read + "\tsort.Slice(all, less)\n" + handle + rest, [4]int64{45, 45, 10, 0}, Fine, "", "", "but an item cannot simply be handled when it comes: it needs all of them: sort.Slice"},
		{"one line, sorted", read + "\tsort.Slice(all, less)\n" + handle + rest, [4]int64{80, 10, 10, 0}, Found, gc16.Title, Info, "80.0% were allocated at a.go:7"},
		{"one line, never gone through", read + "\tw.n = len(all)\n}\n\n\n" + rest, [4]int64{80, 10, 10, 0}, Found, gc16.Title, Info, "80.0% were allocated at a.go:7"},
		{"returned", strings.Replace(read, "w *out) {", "w *out) []*row {", 1) + "\treturn all\n}\n" + rest, [4]int64{45, 45, 10, 0}, Fine, "", "", "it is returned"},
		{"another thing of the turns", read + handle + rest, [4]int64{20, 15, 5, 60}, Found, gc16.Title, Info, "60.0% were allocated at a.go:27"},
	} {
		r := recordingtest.New("title x\ntarget package ./shop module=shop\nphase bare 0s..9s\nphase heap 9s..10s profiler=heap\n")
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "/src/a.go"}, []byte(c.source))
		mb := func(n int64) []int64 { return []int64{100 * n, n << 20, 100 * n, n << 20} }
		r.Put(recording.Entry{Path: "heap.pb.gz", Kind: recording.Heap, Phase: "heap", Span: timeline.Span{Start: 9e9, End: 10e9}}, heapProfile(
			column{"main.main shop.f:/src/a.go:15 shop.(*table).next:/src/a.go:7", mb(c.mb[0])},
			column{"main.main shop.f:/src/a.go:15 shop.(*table).next:/src/a.go:8", mb(c.mb[1])},
			column{"main.main shop.f:/src/a.go:20", mb(c.mb[2])},
			column{"main.main shop.f:/src/a.go:19 shop.(*table).warm:/src/a.go:27", mb(c.mb[3])}))
		f := answers(t, r, "GC16")[0]
		if f.State != c.state || c.title != "" && f.Title != c.title || f.Severity != c.severity || !strings.Contains(f.Summary, c.says) {
			t.Errorf("%s: %s %s %q: %s", c.name, f.State, f.Severity, f.Title, f.Summary)
		}
		if all := strings.Contains(strings.Join(f.Doubts, ""), "nothing has been handled"); all != (c.name == "a bad one ends it" || c.name == "an error behind it") {
			t.Errorf("%s: %q", c.name, f.Doubts)
		}
		if c.title == gatheredTitle && (len(f.Evidence) < 2 || f.Evidence[0].Line != 20 || f.Evidence[1].Line != 22) {
			t.Errorf("%s: %+v", c.name, f.Evidence)
		}
	}
}
