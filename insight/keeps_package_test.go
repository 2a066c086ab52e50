package insight

import (
	"strings"
	"testing"

	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestPackageHolds: what a variable of the package is set to, or what is appended to it, is kept by it.
func TestPackageHolds(t *testing.T) {
	for _, c := range []struct{ name, source, says string }{
		{"appended", "all = append(all, data)", "It is appended to all"},
		{"appended within", "boxes = append(boxes, &box{data: data})", "It is appended to boxes"},
		{"appended and cut", "all = append(all, data)\nif len(all) > 8 {\nall = all[1:]\n}", "It is appended to all"},
		{"a variable of its own of that name", "var all [][]byte\nall = append(all, data)\nuse(all)", ""},
		{"its own by a declaration with a value", "all := [][]byte{}\nall = append(all, data)\nuse(all)", ""},
		{"a copy", "all = append(all, bytes.Clone(data))", ""},
		{"bytes behind others", "all = append(all, append([]byte(\"x\"), data...))", ""},
		{"its length", "sum += len(data)", ""},
	} {
		r := recordingtest.New("title x")
		withSource(r, "a.go", "package main\n\nfunc load(name string) {\ndata, err := os.ReadFile(name)\n"+c.source+"\n}\n")
		withSource(r, "b.go", "package main\n\nvar (\nall [][]byte\nboxes []*box\nsum int\n)\n\ntype box struct { data []byte }\n")
		at := stack.Frame{Func: "main.load", File: "a.go", Line: 4}
		h, ok := sourceHolders{NewInput(session.New(r.Open())).code}.holder(at, []stack.Frame{at})
		if ok != (c.says != "") || !strings.Contains(h.advice, c.says) {
			t.Errorf("%s: %v, %s", c.name, ok, h.advice)
		}
	}
}

// TestPackageMap: what is deleted from a variable of the same name in another function is another one's, and a new map in
// the place of the old one lets go of all.
func TestPackageMap(t *testing.T) {
	for _, c := range []struct{ name, source, says string }{
		{"for ever", "", "nothing in the source deletes"},
		{"deleted", "func drop(k string) { delete(pages, k) }", "from which entries are deleted"},
		{"deleted from a variable of a function", "func uniq() {\npages := map[string]bool{}\ndelete(pages, \"a\")\n}", "nothing in the source deletes"},
		{"deleted from a parameter", "func uniq(pages map[string]bool) {\ndelete(pages, \"a\")\n}", "nothing in the source deletes"},
		{"replaced when it is full", "func main() {\nif len(pages) > 100 {\npages = map[string][]byte{}\n}\n}", "which is replaced by a new one at b.go:"},
		{"replaced by a function", "func reset() { pages = make(map[string][]byte) }", "which is replaced by a new one at b.go:"},
		{"made at the start", "func main() { pages = make(map[string][]byte) }", "nothing in the source deletes"},
		{"made where there is none", "func put() {\nif pages == nil {\npages = make(map[string][]byte)\n}\n}", "nothing in the source deletes"},
		{"given by its address", "func main() { rotate(&pages) }\nfunc rotate(m *map[string][]byte) { *m = make(map[string][]byte) }", "passed to functions that may delete"},
	} {
		r := recordingtest.New("title x")
		withSource(r, "a.go", "package main\n\nfunc load(name string) {\ndata, err := os.ReadFile(name)\npages[name] = data\n}\n\nvar pages = map[string][]byte{}\n")
		withSource(r, "b.go", "package main\n\n"+c.source+"\n")
		at := stack.Frame{Func: "main.load", File: "a.go", Line: 4}
		h, ok := sourceHolders{NewInput(session.New(r.Open())).code}.holder(at, []stack.Frame{at})
		if !ok || !strings.Contains(h.advice, c.says) {
			t.Errorf("%s: %v, %s", c.name, ok, h.advice)
		}
	}
}
