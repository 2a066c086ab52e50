package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
	"loupe/recording"
	"loupe/value/stack"
)

// TestWritesSameFile: a file whose path is the same in each turn of a loop is told from those that have one for each item.
func TestWritesSameFile(t *testing.T) {
	const head = "package main\n\nimport (\n\"os\"\n\"os/exec\"\n\"path/filepath\"\n)\n\ntype state struct {\ndir string\ndone []string\n}\n\n"
	for _, c := range []struct {
		name, save, loop string
		want             bool
	}{
		{"a field", "os.WriteFile(s.dir, nil, 0o600)", "s.save(x)", true},
		{"a name in a folder of its own", "os.WriteFile(filepath.Join(s.dir, \"state.json\"), nil, 0o600)", "s.save(x)", true},
		{"the same, with a name", "path := filepath.Join(s.dir, \"state.json\"); os.WriteFile(path, nil, 0o600)", "s.save(x)", true},
		{"a sum", "os.WriteFile(s.dir+\"/state\", nil, 0o600)", "s.save(x)", true},
		{"beside another one in a field of the same name", "os.WriteFile(s.dir, nil, 0o600)", "s.save(x); q.upload()", true},
		{"renamed after that", "os.WriteFile(s.dir, nil, 0o600); os.Rename(s.dir, x)", "s.save(x)", false},
		{"read by a child", "os.WriteFile(s.dir, nil, 0o600)", "s.save(x); exec.Command(\"wc\", s.dir).Run()", false},
		{"read by another method", "os.WriteFile(s.dir, nil, 0o600)", "s.save(x); s.upload()", false},
		{"with a name that is renamed", "path := filepath.Join(s.dir, \"tmp\"); os.WriteFile(path, nil, 0o600); os.Rename(path, x)", "s.save(x)", false},
		{"one of the kernel", "os.WriteFile(\"/proc/self/comm\", nil, 0o600)", "s.save(x)", false},
		{"one for each item", "os.WriteFile(filepath.Join(s.dir, x), nil, 0o600)", "s.save(x)", false},
		{"one for each item, with a name", "path := filepath.Join(s.dir, x); os.WriteFile(path, nil, 0o600)", "s.save(x)", false},
		{"longer each time", "var v any = x; switch p := v.(type) { case string: p = p + \".tmp\"; os.WriteFile(p, nil, 0o600) }", "s.save(x)", false},
		{"twice as long each time", "var v any = s.dir; switch p := v.(type) { case string: p = p + p; os.WriteFile(p, nil, 0o600) }", "s.save(x)", false},
		{"one that is computed", "os.WriteFile(s.pathOf(x), nil, 0o600)", "s.save(x)", false},
		{"another state each time", "os.WriteFile(s.dir, nil, 0o600)", "t := &state{dir: x}; t.save(x)", false},
	} {
		text := head + "func (s *state) save(x string) {\n" + c.save + "\n}\n\nfunc (s *state) pathOf(x string) string { return s.dir + x }; func (s *state) upload() { os.ReadFile(s.dir) }; type queue struct { dir string }; func (q *queue) upload() { os.WriteFile(q.dir, nil, 0o600) }; var q *queue\n\nfunc run(s *state, items []string) {\nfor _, x := range items {\n" + c.loop + "\n}\n}\n"
		way := []stack.Frame{{Func: "main.(*state).save", File: "a.go", Line: 15}, {Func: "main.run", File: "a.go", Line: 22}}
		if got := writesSameFile(sourceOf(text), way, "os.WriteFile"); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestWT02Reopened: the same file that is opened to append to it in each turn is to be kept open, and opened anew behind a rename of the source.
func TestWT02Reopened(t *testing.T) {
	const source = "package main\n\nimport \"os\"\n\ntype journal struct{ path string }\n\nfunc (j *journal) line(b []byte) error {\n\tf, err := os.OpenFile(j.path, os.O_APPEND|os.O_WRONLY, 0o644)\n\tif err != nil {\n\t\treturn err\n\t}\n\tdefer f.Close()\n\t_, err = f.Write(b)\n\treturn err\n}\n\n" +
		"func (j *journal) rotate() error { return os.Rename(j.path, j.path+\".1\") }\n\nfunc main() {\n\tj := &journal{\"log\"}\n\tfor _, b := range records() {\n\t\tj.line(b)\n\t}\n\tj.rotate()\n}\n"
	for text, want := range map[string]string{
		source: "open the new file after the rename at a.go:17",
		strings.Replace(source, "os.OpenFile(j.path,", "os.OpenFile(j.path+string(b),", 1): "If it is the same file each time, open it once",
	} {
		r := mainOf(t, func(p *accounttest.Program) {
			for range 9000 {
				p.Pass(time.Microsecond)
				p.Call(20*time.Microsecond, "syscall.openat@z.go:1;os.OpenFile@file.go:1;main.(*journal).line@a.go:8;main.main@a.go:22")
			}
			p.Pass(10 * time.Millisecond)
		})
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"}, []byte(text))
		if f := answers(t, r, "WT02")[0]; f.State != Found || !strings.Contains(f.Advice, want) {
			t.Errorf("%s: %s → %s, want %q", f.State, f.Summary, f.Advice, want)
		}
	}
}
