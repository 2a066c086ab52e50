package why_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"loupe/analysis/why"
	"loupe/capture/collect"
	"loupe/format/profile"
)

// sample is a program that has run, with all that is known about it.
type sample struct {
	file, binary string
	profile      *profile.Profile
	compiled     *collect.Compiled
}

// runSample builds and runs testdata/sample in a module of its own.
func runSample(t *testing.T) *sample {
	t.Helper()
	if testing.Short() {
		t.Skip("builds and runs a program")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join("testdata", "sample", "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	s := &sample{file: filepath.Join(dir, "main.go"), binary: filepath.Join(dir, "sample")}
	for name, data := range map[string]string{"main.go": string(text), "go.mod": "module example.com/sample\n\ngo 1.26\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(dir, "mem.pb.gz")
	for _, args := range [][]string{{"go", "build", "-o", s.binary, "."}, {s.binary, out}} {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = dir
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, text)
		}
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if s.profile, err = profile.Decode(data, profile.Options{}); err != nil {
		t.Fatal(err)
	}
	s.compiled, err = collect.Compile(t.Context(), collect.CompileOptions{Dir: dir, Target: ".", Packages: []string{"main", "errors", "strings", "internal/bytealg", "slices", "fmt"}, Cache: filepath.Join(dir, "cache")})
	if err != nil {
		t.Fatal(err)
	}
	again, err := collect.Compile(t.Context(), collect.CompileOptions{Dir: dir, Target: ".", Packages: []string{"main", "errors"}, Cache: filepath.Join(dir, "cache")})
	if err != nil {
		t.Fatal(err)
	}
	if s.compiled.Fresh == 0 || again.Fresh != 0 || again.Cached != 2 || again.Set.Len() == 0 {
		t.Errorf("first %d fresh, then %d fresh and %d cached with %d diagnostics", s.compiled.Fresh, again.Fresh, again.Cached, again.Set.Len())
	}
	return s
}

func (s *sample) explain(t *testing.T, withBinary bool) *why.Report {
	t.Helper()
	index, err := s.profile.Index("alloc_space")
	if err != nil {
		t.Fatal(err)
	}
	opt := why.Options{Source: os.ReadFile}
	if withBinary {
		f, err := os.Open(s.binary)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		if opt.Callee, err = why.Calls(f); err != nil {
			t.Skip(err)
		}
	}
	return why.Explain(s.profile, index, s.compiled.Set, opt)
}

// TestSample holds the answers of a real program against the comments in its
// source. With the binary every line has the answer that it says; without,
// lines with two kinds of objects may be ambiguous, and no answer is wrong.
func TestSample(t *testing.T) {
	s := runSample(t)
	text, err := os.ReadFile(s.file)
	if err != nil {
		t.Fatal(err)
	}
	withBinary, without := s.explain(t, true), s.explain(t, false)
	for i, line := range strings.Split(string(text), "\n") {
		_, want, ok := strings.Cut(line, " // ")
		if !ok || strings.HasPrefix(line, "//") {
			continue
		}
		answers := strings.Split(want, "|")
		for _, r := range []*why.Report{withBinary, without} {
			got := map[string]bool{}
			for _, site := range r.Line(s.file, i+1) {
				answer := site.Certainty.String()
				for _, c := range site.Causes[:min(len(site.Causes), 1)] {
					answer += " " + c.Mechanism.String()
				}
				got[answer] = true
			}
			if list := slices.Sorted(maps.Keys(got)); r == withBinary {
				slices.Sort(answers)
				if !slices.Equal(list, slices.Compact(answers)) {
					t.Errorf("line %d: %s\n\tgot %q, want %q", i+1, strings.TrimSpace(line), list, answers)
				}
			} else if len(answers) == 1 && (len(list) != 1 || !strings.HasPrefix(list[0], strings.Fields(answers[0])[0])) {
				t.Errorf("line %d without the binary: %s\n\tgot %q, want %q", i+1, strings.TrimSpace(line), list, answers)
			}
		}
	}
	// Two makes on a line: the sizes tell whether they were told apart rightly.
	for _, site := range withBinary.Sites {
		for _, c := range site.Causes {
			want := map[string]int64{"make([]byte, n)": 1024, "make([]byte, 2 * n)": 2048, "make([]byte, 4 * n)": 4096}[c.Expr]
			if strings.Contains(site.Frame().Func, "twoMade") && c.Mechanism == why.Slice && !slices.Equal(site.Sizes, []int64{want}) {
				t.Errorf("%s makes %v bytes, want %d", c.Expr, site.Sizes, want)
			}
		}
	}
	if x := withBinary.Explained(); x < 0.99 {
		t.Errorf("%.1f%% are explained", 100*x)
		for _, site := range withBinary.Sites {
			if site.Certainty <= why.Ambiguous {
				t.Logf("%v %v %q %v", site.Certainty, site.Frames, site.Runtime, site.Causes)
			}
		}
	}
	if x := without.Explained(); x < 0.90 {
		t.Errorf("%.1f%% are explained without the binary", 100*x)
	}
}
