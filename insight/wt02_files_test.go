package insight

import (
	"testing"

	"loupe/value/stack"
)

// TestWritesSameFile: a file whose path is the same in each turn of a loop is told from those that have one for each item.
func TestWritesSameFile(t *testing.T) {
	const head = "package main\n\nimport (\n\"os\"\n\"path/filepath\"\n)\n\ntype state struct {\ndir string\ndone []string\n}\n\n"
	for _, c := range []struct {
		name, save, loop string
		want             bool
	}{
		{"a field", "os.WriteFile(s.dir, nil, 0o600)", "s.save(x)", true},
		{"a name in a folder of its own", "os.WriteFile(filepath.Join(s.dir, \"state.json\"), nil, 0o600)", "s.save(x)", true},
		{"the same, with a name", "path := filepath.Join(s.dir, \"state.json\"); os.WriteFile(path, nil, 0o600)", "s.save(x)", true},
		{"a sum", "os.WriteFile(s.dir+\"/state\", nil, 0o600)", "s.save(x)", true},
		{"one for each item", "os.WriteFile(filepath.Join(s.dir, x), nil, 0o600)", "s.save(x)", false},
		{"one for each item, with a name", "path := filepath.Join(s.dir, x); os.WriteFile(path, nil, 0o600)", "s.save(x)", false},
		{"one that is computed", "os.WriteFile(s.pathOf(x), nil, 0o600)", "s.save(x)", false},
		{"another state each time", "os.WriteFile(s.dir, nil, 0o600)", "t := &state{dir: x}; t.save(x)", false},
	} {
		text := head + "func (s *state) save(x string) {\n" + c.save + "\n}\n\nfunc (s *state) pathOf(x string) string { return s.dir + x }\n\nfunc run(s *state, items []string) {\nfor _, x := range items {\n" + c.loop + "\n}\n}\n"
		way := []stack.Frame{{Func: "main.(*state).save", File: "a.go", Line: 14}, {Func: "main.run", File: "a.go", Line: 21}}
		if got := writesSameFile(sourceOf(text), way, "os.WriteFile"); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
