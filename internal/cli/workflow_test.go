//go:build linux

package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// workflow is a workflow of GitHub, as far as its steps go.
type workflow struct {
	On   any `yaml:"on"`
	Jobs map[string]struct {
		Steps []step `yaml:"steps"`
	} `yaml:"jobs"`
}

type step struct {
	Name string            `yaml:"name"`
	Uses string            `yaml:"uses"`
	If   string            `yaml:"if"`
	Run  string            `yaml:"run"`
	With map[string]string `yaml:"with"`
}

// documented reads the workflow that docs/guide/check.md shows.
func documented(t *testing.T) []step {
	t.Helper()
	text, err := os.ReadFile("../../docs/guide/check.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(text, -1) {
		var w workflow
		if err := yaml.Unmarshal(block[1], &w); err == nil && len(w.Jobs) == 1 {
			if on := fmt.Sprint(w.On); !strings.Contains(on, "pull_request") || !strings.Contains(on, "push") {
				t.Errorf("the workflow is for %s", on)
			}
			for _, job := range w.Jobs {
				return job.Steps
			}
		}
	}
	t.Fatal("docs/guide/check.md shows no workflow")
	return nil
}

// runner does what a runner of GitHub does with steps: one after the other in a workspace, with
// what the environment of a pull request has.
type runner struct {
	t *testing.T
	// dir has the repository, the workspace and what is beside them.
	dir    string
	env    []string
	failed bool
	// code is the exit code of the last command, out what it printed.
	code int
	out  string
}

func (r *runner) bash(dir, script string) {
	r.t.Helper()
	c := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script)
	c.Dir, c.Env = dir, r.env
	out, err := c.CombinedOutput()
	r.code, r.out = c.ProcessState.ExitCode(), string(out)
	if r.code < 0 {
		r.t.Fatalf("%s: %v", script, err)
	}
	r.failed = r.failed || r.code != 0
}

// must runs what prepares the test.
func (r *runner) must(dir, script string) {
	r.t.Helper()
	if r.bash(dir, script); r.code != 0 {
		r.t.Fatalf("%s: %d\n%s", script, r.code, r.out)
	}
}

// step does one step. Of actions there is what they would do here.
func (r *runner) step(s step) {
	r.t.Helper()
	if r.failed && !strings.Contains(s.If, "always()") {
		return
	}
	action, _, _ := strings.Cut(s.Uses, "@")
	switch action {
	case "":
		r.bash(filepath.Join(r.dir, "workspace"), s.Run)
	case "actions/checkout":
		depth := "--depth 1"
		if d, ok := s.With["fetch-depth"]; ok && d == "0" {
			depth = ""
		}
		// A pull request is checked out as the merge of it, which no branch has.
		r.must(r.dir, fmt.Sprintf(`git init -q workspace && cd workspace && git remote add origin "file://$PWD/../origin"
			if [ -z "%s" ]; then git fetch -q origin '+refs/heads/*:refs/remotes/origin/*'; fi
			git fetch -q %s origin refs/pull/1/merge && git checkout -q --detach FETCH_HEAD`, depth, depth))
	case "actions/setup-go": // it is there
	case "github/codeql-action/upload-sarif":
		r.read(s.With["sarif_file"])
	case "actions/upload-artifact":
		for _, name := range strings.Fields(s.With["path"]) {
			r.read(name)
		}
	default:
		r.t.Errorf("the workflow uses %s, which this test does not know", s.Uses)
	}
}

// read wants a file or a folder of the workspace to be there.
func (r *runner) read(name string) {
	r.t.Helper()
	if info, err := os.Stat(filepath.Join(r.dir, "workspace", name)); err != nil || info.Size() == 0 {
		r.t.Errorf("a step uploads %q: %v", name, err)
	}
}

// newRunner makes the repository of a module, with a pull request whose allocation is twice as
// large, and a copy of loupe to be installed.
func newRunner(t *testing.T) *runner {
	dir := t.TempDir()
	r := &runner{t: t, dir: dir}
	bin := filepath.Join(dir, "bin")
	loupe, err := exec.LookPath("loupe")
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r.env = append(os.Environ(), goEnvironment(t)...)
	r.env = append(r.env,
		"HOME="+dir, "GOBIN="+bin, "RUNNER_TEMP="+filepath.Join(dir, "runner"), "PATH="+bin+":"+pathWithout(filepath.Dir(loupe)),
		"GIT_AUTHOR_NAME=n", "GIT_AUTHOR_EMAIL=e", "GIT_COMMITTER_NAME=n", "GIT_COMMITTER_EMAIL=e", "GIT_CONFIG_GLOBAL="+filepath.Join(dir, "gitconfig"),
		"GITHUB_ACTIONS=true", "CI=true", "GITHUB_BASE_REF=main", "GITHUB_WORKSPACE="+filepath.Join(dir, "workspace"), "GITHUB_STEP_SUMMARY="+filepath.Join(dir, "summary.md"),
	)
	// What the workflow installs is a program that becomes this one. Its address is the only thing
	// that is another one here.
	write("loupe/go.mod", "module loupe\n\ngo 1.22\n")
	write("loupe/cmd/loupe/main.go", fmt.Sprintf(`package main

import (
	"os"
	"syscall"
)

func main() {
	os.Args[0] = "loupe"
	panic(syscall.Exec(%q, os.Args, os.Environ()))
}
`, loupe))
	write("gitconfig", fmt.Sprintf("[url \"file://%s/loupe\"]\n\tinsteadOf = https://example.com/loupe\n", dir))
	write("origin/go.mod", "module example.com/m\n\ngo 1.22\n")
	// No machine is asked how fast it is, and 20,000 operations leave nothing of what the runtime
	// allocates for itself.
	write("origin/.loupe.yml", "benchmarks:\n  - packages: ./...\n    benchtime: 20000x\nallow: {time: any, cpu: any}\n")
	write("origin/parser/p.go", "package parser\n\nfunc Alloc() []byte { return make([]byte, 1000) }\n")
	write("origin/parser/p_test.go", "package parser\n\nimport \"testing\"\n\nvar sink []byte\n\nfunc BenchmarkAlloc(b *testing.B) {\n\tfor i := 0; i < b.N; i++ {\n\t\tsink = Alloc()\n\t}\n}\n")
	r.must(filepath.Join(dir, "loupe"), "git init -q -b main && git add . && git commit -qm loupe")
	r.must(filepath.Join(dir, "origin"), `git init -q -b main && git add . && git commit -qm first
		git checkout -qb change && sed -i s/1000/2000/ parser/p.go && git commit -qam change
		git checkout -q main && echo more > README && git add . && git commit -qm more
		git checkout -q --detach && git merge -q change -m merge && git update-ref refs/pull/1/merge HEAD && git checkout -q main`)
	return r
}

// pathWithout is PATH without a folder.
func pathWithout(dir string) string {
	var kept []string
	for _, d := range filepath.SplitList(os.Getenv("PATH")) {
		if d != dir {
			kept = append(kept, d)
		}
	}
	return strings.Join(kept, ":")
}

// TestWorkflow runs the steps of the workflow that the guide shows, one by one, in a pull request
// with one allocation too much, as far as that goes without GitHub.
func TestWorkflow(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	checked := false
	for _, s := range documented(t) {
		before := r.failed
		if r.step(s); s.Run == "" {
			continue
		}
		if !strings.Contains(s.Run, "loupe check") {
			if r.failed != before {
				t.Fatalf("step %q failed: %s", s.Name, r.out)
			}
			continue
		}
		checked = true
		if r.code != 3 {
			t.Fatalf("%s ended with %d:\n%s", s.Run, r.code, r.out)
		}
		for _, want := range []string{
			"check FAILED: 1 regression", "(origin/main): more",
			"\n::error file=parser/p_test.go,line=7,title=loupe%3A Alloc", "::B/op +100%25, from 1,024 B to 2,048 B in every round; the limit is +1%25",
		} {
			if !strings.Contains(r.out, want) {
				t.Errorf("the check does not say %q:\n%s", want, r.out)
			}
		}
	}
	if !checked {
		t.Error("the workflow has no step that runs loupe check")
	}
	summary, err := os.ReadFile(filepath.Join(r.dir, "summary.md"))
	if err != nil || !strings.Contains(string(summary), "## loupe check FAILED: 1 regression") {
		t.Errorf("the summary of the job is %q, %v", summary, err)
	}
}

// TestWorkflowShallow: without the depth that the guide sets, loupe says what to set.
func TestWorkflowShallow(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	for _, s := range documented(t) {
		if delete(s.With, "fetch-depth"); !strings.Contains(s.If, "always()") {
			r.step(s)
		}
	}
	if r.code != 1 || !strings.Contains(r.out, "with actions/checkout set fetch-depth: 0") {
		t.Errorf("it ended with %d:\n%s", r.code, r.out)
	}
}
