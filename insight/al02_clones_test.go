package insight

import (
	"go/ast"
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// clonedEntry is a program with a type whose values are copied.
const clonedEntry = "package main\n\ntype id struct{ path string }\n\ntype entry struct {\n\tname string\n\tid *id\n\ttags []string\n}\n\n" +
	"func (e *entry) Clone() *entry {\n\tc := *e\n\tc.id = &id{e.id.path}\n\tc.tags = append([]string(nil), e.tags...)\n\treturn &c\n}\n\n"

// declNamed is the function of a name.
func declNamed(d *derivations, name string) *ast.FuncDecl {
	for _, decl := range d.t.decls {
		if decl.Name.Name == name {
			return decl
		}
	}
	return nil
}

// TestClones: a function that returns a new value filled from its receiver alone copies; one that changes it meanwhile, that is
// given more, or that makes something else, does not.
func TestClones(t *testing.T) {
	for source, want := range map[string]bool{
		"func (e *entry) f() *entry {\n\tc := *e\n\tc.tags = append([]string(nil), e.tags...)\n\treturn &c\n}":                                   true,
		"func (e *entry) f() entry {\n\treturn entry{name: e.name, tags: slices.Clone(e.tags)}\n}":                                               true,
		"func (e *entry) f() *entry {\n\tif e == nil {\n\t\treturn nil\n\t}\n\tc := new(entry)\n\t*c = *e\n\treturn c\n}":                        true,
		"func f(e *entry) *entry {\n\treturn &entry{name: e.name}\n}":                                                                            true,
		"func (e *entry) f(name string) *entry {\n\tc := *e\n\tc.name = name\n\treturn &c\n}":                                                    false,
		"func (e *entry) f() *id {\n\treturn &id{e.id.path}\n}":                                                                                  false,
		"func (e *entry) f() *entry {\n\treturn e\n}":                                                                                            false,
		"func f() *entry {\n\treturn &entry{name: `a`}\n}":                                                                                       false,
		"func f(all []*entry) []*entry {\n\tout := make([]*entry, 0)\n\tfor _, e := range all {\n\t\tout = append(out, e)\n\t}\n\treturn out\n}": false,
		"func (e *entry) f() *entry {\n\treturn find(e.name)\n}":                                                                                 false,
	} {
		d := newDerivations(codeOf(clonedEntry + source + "\n"))
		if got := isCloner(d, declNamed(d, "f")); got != want {
			t.Errorf("%s\n%v, want %v", source, got, want)
		}
	}
}

// TestClonesShared: to share instead of copying is advised where nobody writes through a copy; of fields that are set alone
// a shallow copy is enough.
func TestClonesShared(t *testing.T) {
	const use = "func get(e *entry) *entry {\n\tc := e.Clone()\n\tshow(c.name)\n\treturn c\n}\n\n"
	for source, want := range map[string]string{
		use: "share the original where nobody modifies it",
		use + "func serve(e *entry) {\n\tc := get(e)\n\tc.id = nil\n}\n":                                                                         "A shallow copy is enough",
		use + "func mask(e *entry) { e.tags = nil }\n\nfunc serve(e *entry) {\n\tmask(get(e))\n}\n":                                              "A shallow copy is enough",
		use + "func serve(e *entry) {\n\tc := get(e)\n\tc.id.path = `b`\n}\n":                                                                    "Somebody writes through the copy, at a.go:",
		use + "func serve(e *entry) {\n\tc := get(e)\n\tc.tags[0] = `b`\n}\n":                                                                    "Somebody writes through the copy, at a.go:",
		use + "type box struct{ e *entry }\n\nfunc keep(b *box, e *entry) {\n\tb.e = get(e)\n}\n\nfunc mark(b *box) {\n\tb.e.tags[0] = `b`\n}\n": "Somebody may write through the copy, at a.go:",
		use + "func (e *entry) rename(to string) { e.id.path = to }\n":                                                                           "The source also writes to what the original refers to, as at a.go:",
		use + "func touch(e *entry) {\n\te.tags[0] = `b`\n}\n":                                                                                   "The source also writes to what the original refers to, as at a.go:",
		use + "func next(e *entry) *entry {\n\tc := (&entry{name: e.name, tags: e.tags}).own()\n\tc.tags[0] = `b`\n\treturn c\n}\n\nfunc (e *entry) own() *entry {\n\tn := *e\n\tn.tags = append([]string(nil), e.tags...)\n\treturn &n\n}\n": "share the original where nobody modifies it",
		use + "func next(e *entry) *entry {\n\tc := e.half()\n\tc.tags[0] = `b`\n\treturn c\n}\n\nfunc (e *entry) half() *entry {\n\tn := *e\n\tn.id = &id{}\n\treturn &n\n}\n":                                                               "The source also writes to what the original refers to, as at a.go:",
		use + "type other struct{ path string }\n\nfunc (o *other) set() { o.path = `b` }\n":                                                                                                                                                  "share the original where nobody modifies it",
		use + "func other() {\n\tc := &entry{}\n\tc.name = `b`\n\tshow(c)\n}\n":                                                                                                                                                               "share the original where nobody modifies it",
	} {
		r := recordingtest.New("title x")
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"}, []byte(clonedEntry+source))
		in := NewInput(session.New(r.Open()))
		x := &clones{decl: declNamed(newDerivations(in.code), "Clone"), name: "main.(*entry).Clone", lines: map[stack.Frame]int64{{File: "a.go", Line: 12}: 1}}
		var f Finding
		if needed := x.advise(in, &f, ""); !strings.Contains(f.Advice, want) || needed != (strings.HasPrefix(want, "Somebody") || strings.HasPrefix(want, "The source also")) {
			t.Errorf("%s\n%s (needed: %v)", source, f.Advice, needed)
		}
	}
}
