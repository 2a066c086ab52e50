package main

import (
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"loupe/insight"
)

// TestTruths: every truth can be read, its lines are there, and so are its rules.
func TestTruths(t *testing.T) {
	all, err := Truths("bugs")
	if err != nil {
		t.Fatal(err)
	}
	rules := map[string]bool{}
	for _, r := range insight.Rules() {
		rules[r.ID] = true
	}
	type half struct {
		class string
		odd   bool
	}
	have := map[half]int{}
	for i, truth := range all {
		if truth.Number != i+1 {
			t.Errorf("%s: want number %d", truth.Folder(), i+1)
		}
		have[half{truth.Class, truth.Number%2 == 1}]++
		if _, err := Places(filepath.Join("bugs", truth.Folder()), truth.At); err != nil {
			t.Error(err)
		}
		for _, id := range truth.Rules {
			if !rules[id] {
				t.Errorf("%s: there is no rule %s", truth.Folder(), id)
			}
		}
		if d, err := time.ParseDuration(truth.Bare); err != nil || d > 10*time.Second {
			t.Errorf("%s: bare: want a length up to ten seconds, not %q", truth.Folder(), truth.Bare)
		}
	}
	if len(all) < 60 {
		t.Errorf("there are %d bugs, want 60", len(all))
	}
	for _, class := range Classes {
		for _, odd := range []bool{true, false} {
			if n := have[half{class, odd}]; n < 2 {
				t.Errorf("%d bugs are of the class %s with odd=%v, want two", n, class, odd)
			}
		}
	}
}

// TestTruthRefused: what is missing or wrong is said.
func TestTruthRefused(t *testing.T) {
	whole := `source: https://github.com/golang/go/issues/1
wrong: It is slow.
class: cpu
rules: CP01
advice: once
effect: cpu 1.5
`
	f := func(folder, old, new, want string) {
		t.Helper()
		dir := filepath.Join(t.TempDir(), folder)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, "truth.txt")
		if err := os.WriteFile(file, []byte(strings.Replace(whole, old, new, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := readTruth(file)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q instead of %q in %s: %v, want %q", new, old, folder, err, want)
		}
	}
	f("001-slow", "", "", "")
	f("slow", "", "", "folder")
	f("001-slow", "https://github.com/golang/go/issues/1", "memory", "source")
	f("001-slow", "It is slow.", "", "want wrong")
	f("001-slow", "class: cpu", "class: slow", "class")
	f("001-slow", "CP01", "", "rules")
	f("001-slow", "cpu 1.5", "cpu 1.2", "1.3 at least")
	f("001-slow", "cpu 1.5", "speed 1.5", "effect")
	f("001-slow", "class", "kind", "unknown key")
	f("001-slow", "advice: once", "advice: once\nat: main.go main", "line 6: at")
}

// TestPrograms: the programs compile, and no comment in them tells what is wrong.
func TestPrograms(t *testing.T) {
	vet := exec.Command("go", "vet", "./...")
	vet.Dir = "bugs"
	if out, err := vet.CombinedOutput(); err != nil {
		t.Errorf("go vet: %v\n%s", err, out)
	}
	files, err := filepath.Glob("bugs/[0-9]*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]int{}
	for _, name := range files {
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Comments) > 0 {
			t.Errorf("%s has comments", name)
		}
		lines[filepath.Dir(name)] += set.File(f.Pos()).LineCount()
	}
	for dir, n := range lines {
		if n < 40 || n > 200 {
			t.Errorf("%s has %d lines: want a program to read in a minute or two", dir, n)
		}
	}
}

// TestPlaces: a mark stands for its whole statement, and for the head of one with a
// block.
func TestPlaces(t *testing.T) {
	dir := t.TempDir()
	text := `package p

type s struct{}

func (s *s) load(names []string) {
	for _, name := range names {
		go func() {
			fetch(
				name,
			)
		}()
	}
	if x := fetch("a"); x {
		fetch("b")
	}
}

func fetch(name string) bool {
	return name == ""
}
`
	if err := os.WriteFile(filepath.Join(dir, "p.go"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	f := func(function, text string, first, last int) {
		t.Helper()
		places, err := Places(dir, []Mark{{"p.go", function, text}})
		if err != nil {
			t.Fatal(err)
		}
		if want := (Place{"p.go", first, last}); places[0] != want {
			t.Errorf("%s in %s is at %v, want %v", text, function, places[0], want)
		}
	}
	f("s.load", "range names", 6, 6)
	f("s.load", "go func()", 7, 7)
	f("s.load", "name,", 8, 10)
	f("s.load", `fetch("a")`, 13, 13)
	f("fetch", "return", 19, 19)
	for _, m := range []Mark{{"p.go", "s.load", `fetch("`}, {"p.go", "fetch", "range"}, {"p.go", "load", "range"}, {"q.go", "load", "range"}} {
		if _, err := Places(dir, []Mark{m}); err == nil {
			t.Errorf("%v has a place", m)
		}
	}
}
