package insight

import (
	"strings"
	"testing"
)

// TestMovedFiles: the advice to keep files open begins with the line at which the sources rename, remove or replace the same file; other
// files, and what only the start or the end of the program does, are none of that.
func TestMovedFiles(t *testing.T) {
	const head = "package main\n\nimport (\n\t\"os\"\n\t\"path/filepath\"\n)\n\ntype store struct{ dir, path, other string }\ntype cache struct{ path string }\n\n"
	const read = "func (s *store) read() []byte {\n\tf, err := os.Open(s.path) // A\n\tif err != nil {\n\t\treturn nil\n\t}\n\tdefer f.Close()\n\tb := make([]byte, 8)\n\tf.Read(b)\n\treturn b\n}\n\nfunc serve(s *store) { // B\n\ts.read()\n}\n\n"
	const joined = "func (s *store) read() []byte {\n\tname := filepath.Join(s.dir, \"a.json\")\n\tf, _ := os.Open(name) // A\n\tdefer f.Close()\n\treturn nil\n}\n\nfunc serve(s *store) { // B\n\ts.read()\n}\n\n"
	for _, c := range []struct {
		name, source string
		says         string // "" where the plain advice stays
	}{
		{"renamed by another method", read + "func (s *store) rotate() {\n\tfor {\n\t\tos.Rename(s.path, s.path+\".1\") // C\n\t}\n}\n\nfunc main() { go new(store).rotate() }\n", "is renamed at main.go:%C"},
		{"removed by a function that is given the name", read + "func drop(name string) {\n\tos.Remove(name) // C\n}\n\nfunc tidy(s *store) { drop(s.path) }\n\nfunc main() {\n\tfor {\n\t\ttidy(new(store))\n\t}\n}\n", "is removed at main.go:%C"},
		{"replaced by a new one", read + "func (s *store) save(b []byte) {\n\ttmp := s.path + \".tmp\"\n\tos.WriteFile(tmp, b, 0o600)\n\tos.Rename(tmp, s.path) // C\n}\n\nfunc main() {\n\tfor {\n\t\tnew(store).save(nil)\n\t}\n}\n", "is replaced at main.go:%C"},
		{"by a name that is put together", joined + "func (s *store) cut() {\n\tos.Truncate(filepath.Join(s.dir, \"a.json\"), 0) // C\n}\n\nfunc main() {\n\tfor {\n\t\tnew(store).cut()\n\t}\n}\n", "is truncated at main.go:%C"},

		{"deferred by what runs again", read + "func (s *store) rotate() {\n\tdefer os.Rename(s.path, s.path+\".1\") // C\n}\n\nfunc main() {\n\tfor {\n\t\tnew(store).rotate()\n\t}\n}\n", "is renamed at main.go:%C"},
		{"renamed by main", read + "func main() {\n\ts := new(store)\n\tfor {\n\t\tos.Rename(s.path, \"last\") // C\n\t}\n}\n", "is renamed at main.go:%C"},

		{"when the program begins", read + "func main() {\n\ts := new(store)\n\tos.Remove(s.path)\n\tserve(s)\n}\n", ""},
		{"renamed when the program is over", read + "func main() {\n\ts := new(store)\n\tdefer os.Rename(s.path, \"last\")\n\tserve(s)\n}\n", ""},
		{"another file", read + "func (s *store) rotate() {\n\tos.Rename(s.other, s.other+\".1\")\n}\n\nfunc main() {\n\tfor {\n\t\tnew(store).rotate()\n\t}\n}\n", ""},
		{"the field of another type", read + "func (c *cache) drop() {\n\tos.Remove(c.path)\n}\n\nfunc main() {\n\tfor {\n\t\tnew(cache).drop()\n\t}\n}\n", ""},
		{"another one in the folder", joined + "func (s *store) cut() {\n\tos.Remove(filepath.Join(s.dir, \"b.json\"))\n}\n\nfunc main() {\n\tfor {\n\t\tnew(store).cut()\n\t}\n}\n", ""},
		{"when the program is over", read + "func main() {\n\ts := new(store)\n\tdefer os.Remove(s.path)\n\tserve(s)\n}\n", ""},
		{"a method Rename of the program", read + "func (c *cache) Rename(a, b string) {}\n\nfunc main() {\n\tfor {\n\t\tnew(cache).Rename(new(store).path, \"\")\n\t}\n}\n", ""},
	} {
		source := head + c.source
		f := answers(t, profiledSource(source, column{stackAt(source, "net/http.(*conn).serve main.serve@B main.(*store).read@A") + " os.Open os.OpenFile os.openFileNolog os.open syscall.openat syscall.Syscall6 internal/runtime/syscall/linux.Syscall6", []int64{280}}, column{"main.main:/src/main.go:40 main.other:/src/other.go:3", []int64{120}}), "CP04")[0]
		if c.says == "" {
			if !strings.HasPrefix(f.Advice, "Open, stat and list less often") {
				t.Errorf("%s: %s", c.name, f.Advice)
			}
			continue
		}
		if says := lineMarks(source, c.says); !strings.HasPrefix(f.Advice, "The file that is opened at main.go:") || !strings.Contains(f.Advice, says) {
			t.Errorf("%s: %s, want %s", c.name, f.Advice, says)
		}
	}
}
