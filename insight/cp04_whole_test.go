package insight

import (
	"strings"
	"testing"

	"loupe/analysis/calltree"
	"loupe/recording"
	"loupe/recording/recordingtest"
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
	} {
		source := "package main\n\nimport (\n\t\"os\"\n\t\"path/filepath\"\n)\n\ntype page struct {\n\tname string\n\tbody []byte\n}\n\nfunc build(dir string, pages []page) {\n\tfor _, p := range pages {\n\t\tos.WriteFile(" + c.path + ", p.body, 0o644) // A\n\t}\n}\n\nfunc main() {\n\tbuild(os.Args[1], load()) // B\n}\n"
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\n" + c.run + "phase cpu 0s..5s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
		withProfile(r, recording.CPU, "cpu", column{stackAt(source, "main.main@B main.build@A os.WriteFile os.OpenFile os.openFileNolog os.open syscall.openat syscall.Syscall6 internal/runtime/syscall/linux.Syscall6"), []int64{280}}, column{"main.main:/src/main.go:40 main.other:/src/other.go:3", []int64{120}})
		f := answers(t, r, "CP04")[0]
		if f.State != Found || f.Severity != c.want || strings.Contains(strings.Join(f.Doubts, "\n"), ownFileDoubt) != (c.want == Info) {
			t.Errorf("%s: %s %s %s %q", c.name, f.Severity, f.Summary, f.Advice, f.Doubts)
		}
	}
}
