package insight

import (
	"strings"
	"testing"

	"loupe/analysis/facts"
	"loupe/value/stack"
)

// TestSkippable: the callback of a walk that leaves out what can be folders, and does not say so to the walk, is told from
// one that skips them, that asks of files alone, or that wants them all.
func TestSkippable(t *testing.T) {
	const matches = "\nfunc (ig *Ignore) Match(rel string) bool {\n\tfor _, p := range ig.prefixes {\n\t\tif strings.HasPrefix(rel, p) {\n\t\t\treturn true\n\t\t}\n\t}\n\treturn false\n}\n"
	const image = "\nfunc image(p string) bool { return strings.HasSuffix(p, `.png`) }\n"
	const prune = "\nfunc prune(p string) error {\n\tif p == `x` {\n\t\treturn fs.SkipDir\n\t}\n\treturn nil\n}\n"
	const rel = "rel, err := filepath.Rel(root, path)\nif err != nil {\nreturn err\n}\n"
	const add = "\nfiles = append(files, path)\nreturn nil"
	for _, c := range []struct {
		name, walk, body, more string
		want, byNames          bool
	}{
		{"by a prefix of the path", "filepath.Walk", rel + "if ig.Match(rel) {\nreturn nil\n}" + add, matches, true, false},
		{"by a part of it", "filepath.WalkDir", "if strings.Contains(path, `/node_modules/`) {\nreturn nil\n}" + add, "", true, false},
		{"by a function that is called so", "fs.WalkDir", "if opts.Ignored(path) {\nreturn nil\n}" + add, "", true, false},
		{"it logs that", "filepath.Walk", "if strings.HasPrefix(path, skip) {\nlog.Println(path)\nreturn nil\n}" + add, "", true, false},
		{"with a second condition", "filepath.Walk", "if depth > 0 && strings.HasPrefix(path, skip) {\nreturn nil\n}" + add, "", true, false},
		{"folders by their names", "filepath.WalkDir", "if info.IsDir() && info.Name() == `vendor` {\nreturn nil\n}" + add, "", true, true},
		{"folders by their names, inside", "filepath.WalkDir", "if info.IsDir() {\nname := info.Name()\nif skip[name] {\nreturn nil\n}\nreturn nil\n}" + add, "", true, true},

		{"it skips them", "filepath.Walk", "if ig.Match(path) {\nif info.IsDir() {\nreturn filepath.SkipDir\n}\nreturn nil\n}" + add, matches, false, false},
		{"a function says so", "filepath.Walk", "if ig.Match(path) {\nreturn nil\n}\nif err := prune(path); err != nil {\nreturn err\n}" + add, matches + prune, false, false},
		{"by the extension", "filepath.Walk", "if filepath.Ext(path) != `.go` {\nreturn nil\n}" + add, "", false, false},
		{"by the end of the name", "filepath.Walk", "if strings.HasSuffix(path, `_test.go`) {\nreturn nil\n}" + add, "", false, false},
		{"by a function that asks for the end", "filepath.Walk", "if image(path) {\nreturn nil\n}" + add, image, false, false},
		{"files alone", "filepath.Walk", "if info.IsDir() {\nreturn nil\n}\nif strings.HasPrefix(path, skip) {\nreturn nil\n}" + add, "", false, false},
		{"files alone, in one condition", "filepath.Walk", "if !info.IsDir() && strings.HasPrefix(path, skip) {\nreturn nil\n}" + add, "", false, false},
		{"what is wanted", "filepath.Walk", "if !strings.HasPrefix(path, want) {\nreturn nil\n}" + add, "", false, false},
		{"single files by their names", "filepath.Walk", "if info.Name() == `README` {\nreturn nil\n}" + add, "", false, false},
		{"the root", "filepath.Walk", "if path == root {\nreturn nil\n}" + add, "", false, false},
		{"all", "filepath.Walk", "n++\nreturn nil", "", false, false},
		{"something is done with it", "filepath.Walk", "if strings.HasPrefix(path, old) {\nmoved = append(moved, path)\nreturn nil\n}" + add, "", false, false},
		{"by something else", "filepath.Walk", "if len(files) > most {\nreturn nil\n}" + add, "", false, false},
		{"another function", "tree.Visit", "if strings.HasPrefix(path, skip) {\nreturn nil\n}" + add, "", false, false},
	} {
		text := "package main\n\nfunc collect(root string) {\n\terr := " + c.walk + "(root, func(path string, info os.FileInfo, err error) error {\n" + c.body + "\n})\n_ = err\n}\n" + c.more
		w, ok := skippable(sourceOf(text), stack.Frame{Func: "main.collect", File: "a.go", Line: 4})
		if ok != c.want || w.byNames != c.byNames || ok && !strings.HasPrefix(strings.TrimSpace(strings.Split(text, "\n")[w.line-1]), "if ") {
			t.Errorf("%s: %v %+v", c.name, ok, w)
		}
	}
}

// TestSameCalls: the CPU time of system calls and the time that units spend in them at the same line are one card.
func TestSameCalls(t *testing.T) {
	waits, calls := seenAt("WT01", Warning, 60, "/src/a.go", 9), seenAt("CP04", Warning, 50, "/src/a.go", 9)
	waits.waits, waits.waitsFor, waits.Advice, calls.Advice = []*facts.UnitRow{{Kind: kindOf("file_call")}}, "file_call", "x", "x"
	if !sameCalls(&calls, &waits) || sameCalls(&waits, &calls) {
		t.Error("the same advice")
	}
	calls.Advice = "y"
	if sameCalls(&calls, &waits) || !sameCalls(&waits, &calls) {
		t.Error("what says more")
	}
	waits.Severity, calls.Severity = Warning, Info
	if !sameCalls(&calls, &waits) || sameCalls(&waits, &calls) {
		t.Error("what counts more")
	}
	calls = seenAt("CP04", Warning, 50, "/src/a.go", 10)
	if sameCalls(&calls, &waits) || sameCalls(&waits, &calls) {
		t.Error("another line")
	}
}
