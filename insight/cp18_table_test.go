package insight

import (
	"strings"
	"testing"
)

// TestCP18Tables: a table that is made of files for each item of a loop again, and is given nothing of it, is told from one
// that depends on the item, one that is kept, and one that may be another one each time.
func TestCP18Tables(t *testing.T) {
	const (
		imports = "import (\n\t\"os\"\n\t\"path/filepath\"\n\t\"strings\"\n)\n\n"
		table   = "func (f *tree) table() (map[string]int64, error) {\n\tall := map[string]int64{}\n\td, err := os.Open(filepath.Join(f.root, `dev`))\n\tif err != nil {\n\t\treturn nil, err\n\t}\n\tdefer d.Close()\n\tnames, _ := d.Readdirnames(-1)\n\tfor _, n := range names {\n\t\tst, err := os.Stat(n) // A\n\t\tif err == nil {\n\t\t\tall[strings.TrimSpace(n)] = st.Size()\n\t\t}\n\t}\n\treturn all, nil\n}\n\n"
		types   = "type tree struct{ root string; cached map[string]int64 }\n\ntype proc struct {\n\tfs *tree\n\tid int\n\tname string\n}\n\n"
		fill    = "func (p *proc) fill() int64 {\n\tall, _ := p.fs.table() // B\n\treturn all[p.name]\n}\n\n"
		plain   = "func names() []string {\n\tentries, _ := os.ReadDir(`/data`) // A\n\tvar all []string\n\tfor _, e := range entries {\n\t\tall = append(all, e.Name())\n\t}\n\treturn all\n}\n\n"
		ways    = "runtime.main main.main@D main.(*tree).sample@C main.(*proc).fill@B main.(*tree).table@A os.Stat"
		short   = "runtime.main main.main@B main.names@A os.ReadDir"
	)
	const (
		none   = iota
		info   // with a doubt
		severe // as a warning
	)
	for _, c := range []struct {
		name, frames, source string
		want                 int
	}{
		{"items that are made of the same receiver", ways, types + table + fill + "func (f *tree) proc(id int) *proc { return &proc{fs: f, id: id} }\n\nfunc (f *tree) sample(ids []int) {\n\tfor _, id := range ids {\n\t\tp := f.proc(id)\n\t\tuse(p.fill()) // C\n\t}\n}\n\nfunc main() {\n\tf.sample(ids) // D\n}\n", severe},
		{"another field of what they have in common is set in each turn", ways, types + table + fill + "func (f *tree) proc(id int) *proc { return &proc{fs: f, id: id} }\n\nfunc (f *tree) sample(ids []int) {\n\tfor _, id := range ids {\n\t\tp := f.proc(id)\n\t\tf.cached[p.name] = p.fill() // C\n\t}\n}\n\nfunc main() {\n\tf.sample(ids) // D\n}\n", severe},
		{"a field of the items that have it from one receiver", ways, types + table + fill + "func (f *tree) proc(id int) *proc { return &proc{fs: f, id: id} }\n\nfunc (f *tree) sample(all []*proc) {\n\tfor _, p := range all {\n\t\tuse(p.fill()) // C\n\t}\n}\n\nfunc main() {\n\tf.sample([]*proc{f.proc(1), f.proc(2)}) // D\n}\n", severe},
		{"a field of the items that nobody knows", ways, types + table + fill + "func (f *tree) sample(all []*proc) {\n\tfor _, p := range all {\n\t\tuse(p.fill()) // C\n\t}\n}\n\nfunc load(id int) *proc { return &proc{fs: find(id), id: id} }\n\nfunc main() {\n\tf.sample(all) // D\n}\n", info},
		{"a tree of each item", ways, types + table + fill + "func (f *tree) sample(roots []string) {\n\tfor _, r := range roots {\n\t\tp := &proc{fs: &tree{root: r}}\n\t\tuse(p.fill()) // C\n\t}\n}\n\nfunc main() {\n\tf.sample(roots) // D\n}\n", none},
		{"a field that each item has of its own", ways, types + table + fill + "func (f *tree) sample(all []*proc) {\n\tfor _, p := range all {\n\t\tuse(p.fill()) // C\n\t}\n}\n\nfunc load(trees []*tree) (all []*proc) {\n\tfor _, x := range trees {\n\t\tall = append(all, &proc{fs: x})\n\t}\n\treturn all\n}\n\nfunc main() {\n\tf.sample(all) // D\n}\n", none},
		{"a root that a turn changes", ways, types + table + fill + "func (f *tree) proc(id int) *proc { return &proc{fs: f, id: id} }\n\nfunc (f *tree) sample(ids []int) {\n\tfor _, id := range ids {\n\t\tf.root = next(id)\n\t\tp := f.proc(id)\n\t\tuse(p.fill()) // C\n\t}\n}\n\nfunc main() {\n\tf.sample(ids) // D\n}\n", none},
		{"one that is kept", ways, types + strings.Replace(table, "\tall := ", "\tif f.cached != nil {\n\t\treturn f.cached, nil\n\t}\n\tall := ", 1) + fill + "func (f *tree) proc(id int) *proc { return &proc{fs: f, id: id} }\n\nfunc (f *tree) sample(ids []int) {\n\tfor _, id := range ids {\n\t\tp := f.proc(id)\n\t\tuse(p.fill()) // C\n\t}\n}\n\nfunc main() {\n\tf.cached, _ = f.table()\n\tf.sample(ids) // D\n}\n", none},
		{"one that is kept by itself", ways, types + strings.Replace(table, "\treturn all, nil", "\tf.cached = all\n\treturn all, nil", 1) + fill + "func (f *tree) proc(id int) *proc { return &proc{fs: f, id: id} }\n\nfunc (f *tree) sample(ids []int) {\n\tfor _, id := range ids {\n\t\tp := f.proc(id)\n\t\tuse(p.fill()) // C\n\t}\n}\n\nfunc main() {\n\tf.sample(ids) // D\n}\n", none},
		{"one that is kept by its caller", ways, types + table + "func (p *proc) fill() int64 {\n\tif p.fs.cached == nil {\n\t\tp.fs.cached, _ = p.fs.table() // B\n\t}\n\treturn p.fs.cached[p.name]\n}\n\nfunc (f *tree) proc(id int) *proc { return &proc{fs: f, id: id} }\n\nfunc (f *tree) sample(ids []int) {\n\tfor _, id := range ids {\n\t\tp := f.proc(id)\n\t\tuse(p.fill()) // C\n\t}\n}\n\nfunc main() {\n\tf.sample(ids) // D\n}\n", none},

		{"without anything, in a loop over items", short, plain + "func main() {\n\tfor _, x := range all {\n\t\tuse(x, names()) // B\n\t}\n}\n", severe},
		{"its callee changes what it is given", short, plain + "func main() {\n\tfor _, x := range all {\n\t\tfill(x, names()) // B\n\t}\n}\n\nfunc fill(x string, n []string) {\n\tn[0] = x\n}\n", info},
		{"its callee only reads", short, plain + "func main() {\n\tfor _, x := range all {\n\t\tfill(x, names()) // B\n\t}\n}\n\nfunc fill(x string, n []string) {\n\tx = n[0]\n\tuse(x)\n}\n", severe},
		{"for each line of a file", short, plain + "func main() {\n\tfor sc.Scan() {\n\t\tuse(sc.Text(), names()) // B\n\t}\n}\n", severe},
		{"for each item of a channel", short, plain + "func main() {\n\tvar jobs = make(chan int)\n\tfor x := range jobs {\n\t\tuse(x, names()) // B\n\t}\n}\n", info},
		{"before the loop", short, plain + "func main() {\n\tn := names() // B\n\tfor _, x := range all {\n\t\tuse(x, n)\n\t}\n}\n", none},
		{"what the loop goes through", short, plain + "func main() {\n\tfor _, x := range names() { // B\n\t\tuse(x)\n\t}\n}\n", none},
		{"a round that sleeps in a function", short, plain + "func pause() { time.Sleep(time.Second) }\n\nfunc main() {\n\tfor i := 0; i < total; i++ {\n\t\tuse(i, names()) // B\n\t\tpause()\n\t}\n}\n", none},
		{"a round that writes files", short, plain + "func main() {\n\tfor i := 0; i < total; i++ {\n\t\tuse(i, names()) // B\n\t\tos.WriteFile(`/data/x`, nil, 0o644)\n\t}\n}\n", none},
		{"an item of a count that writes files", short, plain + "func main() {\n\tfor i := 0; i < len(items); i++ {\n\t\tuse(items[i], names()) // B\n\t\tos.WriteFile(`/data/x`, nil, 0o644)\n\t}\n}\n", info},
		{"a round of a loop that polls", short, plain + "func main() {\n\tfor i := 0; i < total; i++ {\n\t\tuse(i, names()) // B\n\t\ttime.Sleep(time.Second)\n\t}\n}\n", none},
		{"without an end", short, plain + "func main() {\n\tfor {\n\t\tuse(names()) // B\n\t}\n}\n", none},
		{"rounds", short, plain + "func main() {\n\tfor range rounds {\n\t\tuse(names()) // B\n\t}\n}\n", none},
		{"the name of the item", short, strings.Replace(strings.Replace(plain, "names()", "names(dir string)", 1), "`/data`", "dir", 1) + "func main() {\n\tfor _, x := range all {\n\t\tuse(names(x)) // B\n\t}\n}\n", none},
		{"a path made of the item", short, strings.Replace(strings.Replace(plain, "names()", "names(dir string)", 1), "`/data`", "dir", 1) + "func main() {\n\tfor _, x := range all {\n\t\tdir := filepath.Join(root, x.id)\n\t\tuse(names(dir)) // B\n\t}\n}\n", none},
		{"the same name", short, strings.Replace(strings.Replace(plain, "names()", "names(dir string)", 1), "`/data`", "dir", 1) + "func main() {\n\tdir := os.Args[1]\n\tfor _, x := range all {\n\t\tuse(x, names(filepath.Join(dir, `a`))) // B\n\t}\n}\n", severe},
		{"turns that write files", short, plain + "func main() {\n\tfor _, x := range all {\n\t\tuse(x, names()) // B\n\t\tos.WriteFile(x.path, x.text, 0o644)\n\t}\n}\n", info},
		{"the first item", short, plain + "func main() {\n\tfor i, x := range all {\n\t\tif i == 0 {\n\t\t\tuse(x, names()) // B\n\t\t}\n\t}\n}\n", none},
		{"what a turn decides", short, plain + "func main() {\n\tstale := true\n\tfor _, x := range all {\n\t\tif stale {\n\t\t\tuse(x, names()) // B\n\t\t\tstale = false\n\t\t}\n\t}\n}\n", info},
		{"the last one", short, plain + "func main() {\n\tfor _, x := range all {\n\t\tif x.ok {\n\t\t\tuse(names()) // B\n\t\t\tbreak\n\t\t}\n\t}\n}\n", none},
		{"one that writes", short, strings.Replace(plain, "\tvar all", "\tos.Remove(`/data/lock`)\n\tvar all", 1) + "func main() {\n\tfor _, x := range all {\n\t\tuse(x, names()) // B\n\t}\n}\n", none},
		{"a number", short, strings.NewReplacer("[]string {", "int {", "return all", "return len(all)").Replace(plain) + "func main() {\n\tfor _, x := range all {\n\t\tuse(x, names()) // B\n\t}\n}\n", none},
	} {
		f := askedAgain(t, imports+c.source, c.frames)
		told := none
		if f.State == Found && f.Title == "The same table is made again for each item" {
			if told = info; f.Severity == Warning {
				told = severe
			}
		}
		if told != c.want {
			t.Errorf("%s: %d, want %d: %s %s: %s %q", c.name, told, c.want, f.State, f.Severity, f.Summary, f.Doubts)
		}
	}
}

// TestTableChanges: a turn that changes the working directory, flags, or what may be a file may change what is read.
func TestTableChanges(t *testing.T) {
	for source, want := range map[string]bool{
		"os.Chdir(dir)":                            true,
		"flag.Set(\"dir\", dir)":                   true,
		"out.Flush()":                              true,
		"fmt.Fprintln(out, 1)":                     true,
		"fmt.Fprintln(os.Stdout, 1)":               false,
		"fmt.Println(1)":                           false,
		"var b bytes.Buffer\nb.WriteString(\"x\")": false,
		"h.Write(data)":                            false,
		"use(m)":                                   false,
	} {
		d := newDerivations(codeOf("package main\n\nimport (\"bytes\"; \"fmt\"; \"os\"; \"flag\")\n\nfunc f() {\nfor {\n" + source + "\n}\n}\n"))
		for _, decl := range d.t.decls {
			if _, found := tableChanges(d, decl, decl.Body, nil); found != want {
				t.Errorf("%s: %v", source, found)
			}
		}
	}
}

// TestCP18TableWritten: a table of a file that the program writes elsewhere may be another one in each turn; one of a file that it
// writes before the loop, or of which another one is written, is not.
func TestCP18TableWritten(t *testing.T) {
	const (
		imports = "import (\n\t\"encoding/json\"\n\t\"os\"\n\t\"os/exec\"\n\t\"path/filepath\"\n)\n\n"
		rules   = "type worker struct{ dir, out string }\n\nfunc (w *worker) rules() []string {\n\tb, _ := os.ReadFile(filepath.Join(w.dir, `rules.json`))\n\tvar rs []string\n\tjson.Unmarshal(b, &rs) // A\n\treturn rs\n}\n\n"
		main    = "func main() {\n\tdir := os.Args[1]\n\tstart(dir)\n\tw := &worker{dir: dir}\n\tfor _, x := range items() {\n\t\tuse(x, w.rules()) // B\n\t}\n}\n\n"
		mode    = "func main() {\n\tif len(os.Args) > 2 {\n\t\tedit(os.Args[1])\n\t\treturn\n\t}\n\tdir := os.Args[1]\n\tw := &worker{dir: dir}\n\tfor _, x := range items() {\n\t\tuse(x, w.rules()) // B\n\t}\n}\n\n"
		frames  = "runtime.main main.main@B main.(*worker).rules@A encoding/json.Unmarshal"
	)
	edit := func(body string) string {
		return main + "func edit(dir string) {\n\tfor range ticks {\n\t\t" + body + "\n\t}\n}\n"
	}
	for _, c := range []struct {
		name, source string
		severity     Severity
	}{
		{"nobody", main, Warning},
		{"a rename", edit("os.Rename(filepath.Join(dir, `new`), filepath.Join(dir, `rules.json`))"), Info},
		{"a rename from it", edit("os.Rename(filepath.Join(dir, `rules.json`), filepath.Join(dir, `old`))"), Warning},
		{"a rename of another file", edit("os.Rename(filepath.Join(dir, `new`), filepath.Join(dir, `words.json`))"), Warning},
		{"a link", edit("os.Symlink(next, dir+`/rules.json`)"), Info},
		{"a temporary file", edit("f, _ := os.CreateTemp(dir, `r`)\n\t\tos.Rename(f.Name(), filepath.Join(dir, `rules.json`))"), Info},
		{"the folder", edit("os.Rename(next, w.dir)"), Info},
		{"another field", edit("os.WriteFile(filepath.Join(w.out, `rules.json`), b, 0o644)"), Warning},
		{"through a helper of a helper", edit("save(filepath.Join(dir, `rules.json`), b)") + "func save(name string, b []byte) {\n\tput(name, b)\n}\n\nfunc put(to string, b []byte) {\n\tos.WriteFile(to+`.tmp`, b, 0o644)\n\tos.Rename(to+`.tmp`, to)\n}\n", Info},
		{"a variable of main, given to both", "func load(name string) []string {\n\tb, _ := os.ReadFile(name)\n\tvar rs []string\n\tjson.Unmarshal(b, &rs) // C\n\treturn rs\n}\n\nfunc main() {\n\tname, _ := find()\n\tgo edit(name)\n\tfor _, x := range items() {\n\t\tuse(x, load(name)) // D\n\t}\n}\n\nfunc edit(to string) {\n\tfor range ticks {\n\t\tos.Rename(to+`.new`, to)\n\t}\n}\n", Info},
		{"another variable of main", "func load(name string) []string {\n\tb, _ := os.ReadFile(name)\n\tvar rs []string\n\tjson.Unmarshal(b, &rs) // C\n\treturn rs\n}\n\nfunc main() {\n\tname, _ := find()\n\tother, _ := find()\n\tgo edit(other)\n\tfor _, x := range items() {\n\t\tuse(x, load(name)) // D\n\t}\n}\n\nfunc edit(to string) {\n\tfor range ticks {\n\t\tos.Rename(to+`.new`, to)\n\t}\n}\n", Warning},
		{"through a helper, another file", edit("save(filepath.Join(dir, `words.json`), b)") + "func save(name string, b []byte) {\n\tos.WriteFile(name, b, 0o644)\n}\n", Warning},
		{"a name by a function", edit("os.WriteFile(in(dir, `rules.json`), b, 0o644)") + "func in(dir, name string) string {\n\treturn dir + `/` + name\n}\n", Info},
		{"another name by it", edit("os.WriteFile(in(dir, `words.json`), b, 0o644)\n\t\tload(in(dir, `rules.json`))") + "func in(dir, name string) string {\n\treturn dir + `/` + name\n}\n", Warning},
		{"a name that is printed", edit("os.WriteFile(fmt.Sprintf(`%s/rules.json`, dir), b, 0o644)"), Info},
		{"another program", edit("exec.Command(`cp`, next, filepath.Join(dir, `rules.json`)).Run()"), Info},
		{"another program that reads it", edit("exec.Command(`wc`, filepath.Join(dir, `rules.json`)).Run()"), Warning},
		{"a file that is opened to write", edit("os.OpenFile(filepath.Join(dir, `rules.json`), os.O_RDWR, 0)"), Info},
		{"a file that is opened to read", edit("os.OpenFile(filepath.Join(dir, `rules.json`), os.O_RDONLY, 0)"), Warning},
		{"at the start", main + "func start(dir string) {\n\tos.WriteFile(filepath.Join(dir, `rules.json`), b, 0o644)\n}\n", Warning},
		{"another mode", mode + "func edit(dir string) {\n\tos.WriteFile(filepath.Join(dir, `rules.json`), b, 0o644)\n}\n", Info},
		{"another mode, chosen by a function", strings.NewReplacer("func main() {", "func run() error {", "\t\treturn\n", "\t\treturn nil\n", "// B\n\t}\n}", "// B\n\t}\n\treturn nil\n}\n\nfunc main() {\n\trun()\n}").Replace(mode) + "func edit(dir string) {\n\tos.WriteFile(filepath.Join(dir, `rules.json`), b, 0o644)\n}\n", Info},
		{"a default that is written where there is none", strings.Replace(mode, "\t\treturn\n", "", 1) + "func edit(dir string) {\n\tos.WriteFile(filepath.Join(dir, `rules.json`), b, 0o644)\n}\n", Warning},
		{"another mode, another file", mode + "func edit(dir string) {\n\tos.WriteFile(filepath.Join(dir, `words.json`), b, 0o644)\n}\n", Warning},
	} {
		way := frames
		if strings.Contains(c.source, "func run()") {
			way = strings.Replace(frames, "main.main@B", "main.run@B", 1)
		}
		if strings.Contains(c.source, "// D") {
			way = "runtime.main main.main@D main.load@C encoding/json.Unmarshal"
		}
		f := askedAgain(t, imports+rules+c.source, way)
		if f.State != Found || f.Title != tablesTitle || f.Severity != c.severity || (strings.Contains(f.Summary, "the program writes the file itself (main.go:") || strings.Contains(f.Summary, "which may write it (main.go:")) != (c.severity == Info) {
			t.Errorf("%s: %s %s: %s %q", c.name, f.State, f.Severity, f.Summary, f.Doubts)
		}
	}
}
