package insight

import (
	"strings"
	"testing"

	"loupe/analysis/calltree"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/value/stack"
)

// TestTellWhole: of whole files that are written again and again it is told which are appended to, and which replace a state that has to survive a crash.
func TestTellWhole(t *testing.T) {
	const head = "package main\n\nimport \"os\"\n\nfunc f(path string, b []byte) error {\n"
	for _, c := range []struct {
		name, body, advice, doubt string
		severity                  Severity
	}{
		{"one for each", "return os.WriteFile(path, b, 0o644) // here", "Each call is for a whole file", "", Warning},
		{"appended to", "w, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o644) // here\nif err != nil {\nreturn err\n}\ndefer w.Close()\n_, err = w.Write(b)\nreturn err", "a.go:6 opens a file to append to it", "", Warning},
		{"replaced", "if err := os.WriteFile(path+`.tmp`, b, 0o644); err != nil { // here\nreturn err\n}\nreturn os.Rename(path+`.tmp`, path)", "Each call is for a whole file", "is renamed at a.go:9", Info},
		{"where it is renamed", "os.WriteFile(path+`.tmp`, b, 0o644)\nreturn os.Rename(path+`.tmp`, path) // here", "Each call is for a whole file", "is renamed at a.go:7", Info},
		{"beside another one that is renamed", "os.WriteFile(path, b, 0o644) // here\nreturn os.Rename(path+`.tmp`, path)", "Each call is for a whole file", "", Warning},
	} {
		text := head + c.body + "\n}\n"
		h := &hit{in: sourceInput(text), lines: []*hitLine{{Site: calltree.Site{Caller: lineWith(text, "// here")}}}}
		f := Finding{Severity: Warning}
		tellWhole(h, &f)
		if doubts := strings.Join(f.Doubts, "\n"); !strings.Contains(f.Advice, c.advice) || (doubts != "") != (c.doubt != "") || !strings.Contains(doubts, c.doubt) || f.Severity != c.severity {
			t.Errorf("%s: %s %s %q", c.name, f.Severity, f.Advice, f.Doubts)
		}
	}
}

// TestMakesFiles: to make many files, each once, may be what a tool is for; the same file again and again is a fault, and so is what a
// service does.
func TestMakesFiles(t *testing.T) {
	const ended, stopped = "run 0s..5s exit=\"exit status 0\"\n", "run 0s..5s exit=\"signal: interrupt\" stopped\n"
	for _, c := range []struct {
		name, run, path string
		want            Severity
	}{
		{"one for each", ended, "filepath.Join(dir, p.name)", Info},
		{"the same one", ended, "filepath.Join(dir, `state.json`)", Warning},
		{"in a service", stopped, "filepath.Join(dir, p.name)", Warning},
		{"by its number", ended, "fmt.Sprint(dir, i)", Info},
		{"one of a few", ended, "fmt.Sprint(dir, i%10)", Warning},
		{"one that is picked", ended, "filepath.Join(dir, pages[i/2].name)", Warning},
	} {
		source := "package main\n\nimport (\n\t\"os\"\n\t\"path/filepath\"\n)\n\ntype page struct {\n\tname string\n\tbody []byte\n}\n\nfunc build(dir string, pages []page) {\n\tfor i, p := range pages {\n\t\tos.WriteFile(" + c.path + ", p.body, 0o644) // A\n\t}\n}\n\nfunc main() {\n\tbuild(os.Args[1], load()) // B\n}\n"
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\n" + c.run + "phase cpu 0s..5s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
		withProfile(r, recording.CPU, "cpu", column{stackAt(source, "main.main@B main.build@A os.WriteFile os.OpenFile os.openFileNolog os.open syscall.openat syscall.Syscall6 internal/runtime/syscall/linux.Syscall6"), []int64{280}}, column{"main.main:/src/main.go:40 main.other:/src/other.go:3", []int64{120}})
		f := answers(t, r, "CP04")[0]
		if f.State != Found || f.Severity != c.want || strings.Contains(strings.Join(f.Doubts, "\n"), ownFilesDoubt) != (c.want == Info) {
			t.Errorf("%s: %s %s %s %q", c.name, f.Severity, f.Summary, f.Advice, f.Doubts)
		}
	}
}

// TestEachOwnFile: a path is another one each time where it has what each loop on the way goes through.
func TestEachOwnFile(t *testing.T) {
	const write = "os.WriteFile(name, nil, 0o644) // A\n"
	for _, c := range []struct {
		name, source, frames string
		want                 bool
	}{
		{"by a function", "func save(dir string, p page) {\nname := filepath.Join(dir, p.name)\n" + write + "}\nfunc main() {\nfor _, p := range load() {\nsave(os.Args[1], p) // B\n}\n}\n", "main.save@A main.main@B", true},
		{"by a method", "func (p *page) save(dir string) {\nname := filepath.Join(dir, p.name)\n" + write + "}\nfunc main() {\nfor _, p := range load() {\np.save(os.Args[1]) // B\n}\n}\n", "main.(*page).save@A main.main@B", true},
		{"of one that is picked", "func (p *page) save(dir string) {\nname := filepath.Join(dir, p.name)\n" + write + "}\nfunc main() {\nall := load()\nfor e := 0; e < 40000; e++ {\np := all[e*7%100]\np.save(os.Args[1]) // B\n}\n}\n", "main.(*page).save@A main.main@B", false},
		{"folders and files", "func main() {\nfor d := range 10 {\ndir := fmt.Sprint(d)\nfor f := range 10 {\nname := filepath.Join(dir, fmt.Sprint(f))\n" + write + "}\n}\n}\n", "main.main@A", true},
		{"in rounds", "func main() {\nfor range 10 {\nfor _, p := range load() {\nname := p.name\n" + write + "}\n}\n}\n", "main.main@A", false},
		{"in rounds of a caller", "func all() {\nfor _, p := range load() {\nname := p.name\n" + write + "}\n}\nfunc main() {\nfor {\nall() // B\n}\n}\n", "main.all@A main.main@B", false},
		{"of an archive", "func main() {\nfor {\nh, err := tr.Next()\nif err != nil {\nbreak\n}\nname := filepath.Join(dir, h.Name)\n" + write + "}\n}\n", "main.main@A", true},
		{"of a tree", "func main() {\nfilepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {\nname := out + path\n" + write + "return nil\n})\n}\n", "main.main.func1@A path/filepath.WalkDir main.main@B", true},
		{"without a loop", "func main() {\nname := os.Args[1]\n" + write + "}\n", "main.main@A", false},
	} {
		text := "package main\n\nimport (\n\"fmt\"\n\"io/fs\"\n\"os\"\n\"path/filepath\"\n)\n\ntype page struct{ name string }\n\n" + c.source
		var way []stack.Frame
		for frame := range strings.FieldsSeq(c.frames) {
			if name, mark, ok := strings.Cut(frame, "@"); ok && mark != "B" || strings.Contains(text, "// B") && ok {
				way = append(way, stack.Frame{Func: name, File: "a.go", Line: lineOfMark(text, mark)})
			}
		}
		if got := eachOwnFile(sourceOf(text), way, "os.WriteFile"); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
