package collect

import (
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestBeforeGenerics: the versions of the language that a go.mod names.
func TestBeforeGenerics(t *testing.T) {
	for version, want := range map[string]bool{"": true, "1.9": true, "1.16": true, "1.17": true, "1.17.3": true, "1.18": false, "1.21": false, "1.100": false, "1.22.0": false, "1.21rc2": false, "2.0": false} {
		if got := beforeGenerics.MatchString(version); got != want {
			t.Errorf("%q: %t", version, got)
		}
	}
}

// TestQuietLog: the line with which a program failed is told as a whole, though the runtime writes it in parts.
func TestQuietLog(t *testing.T) {
	for _, c := range []struct {
		want    string
		packets []string
	}{
		{" (fatal error: all goroutines are asleep - deadlock!)", []string{"gc 1 @0.1s\n", "fatal error: ", "all goroutines are asleep - deadlock!", "\n", "\n", "goroutine 1 [select]:\n"}},
		{" (panic: boom)", []string{"panic: boom\n", "goroutine 1 [running]:\n", "panic: other\n"}},
		{"; its last words were: sorry", []string{"sorry\n"}},
		{"", nil},
	} {
		l := &quietLog{done: make(chan struct{})}
		for _, p := range c.packets {
			l.packet([]byte(p), time.Time{}, 0)
		}
		if got := l.words(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestMessagesIn: which files a failed build names, whatever they are called.
func TestMessagesIn(t *testing.T) {
	text := "# example.com/p\n./a.go:3:4: undefined: x\n\t./a.go:9:1: other declaration of x\n../lib/y.go:7:2: no\n# example.com/q [example.com/q.test]\n" +
		"C:\\my files\\b.go:5:1: no\n..\\lib\\c.go:6: no\n/w/some where/d.go:1:2: no\ngrammar.y:8:1: no\ntoo many errors\nsee a.go:3 for more\n"
	want := []message{{"./a.go", "example.com/p"}, {"../lib/y.go", "example.com/p"}, {"C:\\my files\\b.go", "example.com/q"}, {"..\\lib\\c.go", "example.com/q"},
		{"/w/some where/d.go", "example.com/q"}, {"grammar.y", "example.com/q"}}
	if got := messagesIn(text); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestOfOriginals: a message names the file that a copy was laid over, whole.
func TestOfOriginals(t *testing.T) {
	dir := t.TempDir()
	at := func(parts ...string) string { return filepath.Join(append([]string{dir}, parts...)...) }
	laid := map[string]string{at("temp", "3-y.go"): at("lib", "y.go")}
	for text, want := range map[string]string{
		"# p\n" + at("temp", "3-y.go") + ":4:5: no\n":                  "# p\n" + at("lib", "y.go") + ":4: no\n",
		".." + string(filepath.Separator) + "temp/3-y.go:4:5: no: a:1": at("lib", "y.go") + ":4: no: a:1",
		"../temp/33-y.go:4:5: no":                                      at("temp", "33-y.go") + ":4: no",
		"./main.go:4:5: no\n\t./main.go:6:1: other":                    at("build", "main.go") + ":4: no\n\t./main.go:6:1: other",
		"go: no such module":                                           "go: no such module",
	} {
		if got := ofOriginals(text, at("build"), laid); got != want {
			t.Errorf("%q:\n%q, want\n%q", text, got, want)
		}
	}
}

// TestLess: what is left out of a program that does not compile so that it counts.
func TestLess(t *testing.T) {
	dir := t.TempDir()
	at := func(pkg, name string) string { return filepath.Join(dir, pkg, name) }
	for _, test := range []struct {
		name, text string
		exact      []string // packages in which calls of libraries are counted
		all        bool
		left       []string
		more       bool
	}{
		{"calls of libraries in one package", "# m/a\n" + at("a", "y.go") + ":3: no", []string{"m/a", "m/b"}, false, []string{"calls of libraries were not counted at their lines in m/a"}, true},
		{"in all of them, as nothing is named", "link: failed", []string{"m/a", "m/b"}, false, []string{"calls of libraries were not counted at their lines in m/a, m/b"}, true},
		{"in all of them, as it has failed often", at("a", "y.go") + ":3: no", []string{"m/a", "m/b"}, true, []string{"calls of libraries were not counted at their lines in m/a, m/b"}, true},
		{"a file, and none of its name elsewhere", at("a", "y.go") + ":3: no", nil, false, []string{"nothing was counted in a/y.go"}, true},
		{"files of which another lies above", at("a", "x.go") + ":3: no\n" + at("", "main.go") + ":3: no", nil, false, []string{"nothing was counted in a/x.go, main.go"}, true},
		{"a file of the program by its package", "# m\ngrammar.y:3: no", nil, false, []string{"nothing was counted in main.go"}, true},
		{"a package whose files are not named", "# m/b\n" + at("b", "grammar.y") + ":3: no", nil, false, []string{"nothing was counted in b/y.go"}, true},
		{"both", "# m/a\n" + at("a", "x.go") + ":3: no\n# m/b\n" + at("b", "y.go") + ":3: no", []string{"m/a"}, false,
			[]string{"calls of libraries were not counted at their lines in m/a", "nothing was counted in b/y.go"}, true},
		{"a file of somebody else", "# o\n" + filepath.Join(dir, "o", "y.go") + ":3: no", nil, false, nil, false},
		{"nothing", "link: failed", nil, false, nil, false},
	} {
		c := &countable{dir: dir, program: "m", lines: map[string]bool{}, packages: map[string][]string{"main": {at("", "main.go")}, "m/a": {at("a", "x.go"), at("a", "y.go")}, "m/b": {at("b", "y.go")}}}
		for _, pkg := range test.exact {
			c.lines[pkg] = true
		}
		if more := c.less(test.text, test.all); more != test.more || !slices.Equal(c.left(), test.left) {
			t.Errorf("%s: %t %q, want %q", test.name, more, c.left(), test.left)
		}
		rest := 0
		for _, files := range c.packages {
			rest += len(files)
		}
		if rest+len(c.dropped) != 4 {
			t.Errorf("%s: %v are left", test.name, c.packages)
		}
	}
}
