package collect

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

const touchedBefore = `package p

func before() {}

type T[K any] struct{}

func (t *T[K]) Run() int {
	f := func() int { return 1 }
	return f()
}

func after() int { return 1 }
`

// TestTouched: a commit counts for the function whose lines it has changed, wherever they have
// moved to.
func TestTouched(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "p.go")
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=x", "-c", "user.email=x@x"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	commit := func(text, subject string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		git("add", "p.go")
		git("commit", "-q", "-m", subject)
	}
	git("init", "-q")
	commit(touchedBefore, "first")
	ctx := t.Context()
	repo, err := RepositoryOf(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	first := repo.Commit(ctx, "HEAD")
	commit("package p\n\n// A comment moves all of it.\n"+touchedBefore[len("package p\n"):], "move")
	commit("package p\n\n// A comment moves all of it.\n"+
		`
func before() {}

type T[K any] struct{}

func (t *T[K]) Run() int {
	f := func() int { return 2 }
	return f()
}

func after() int { return 1 }
`, "two")
	// What is not committed is not asked about.
	if err := os.WriteFile(file, []byte("package p\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(repo.Root, "p.go")
	f := func(since Since, function string, want ...string) {
		t.Helper()
		e, err := repo.Touched(ctx, since, file, function)
		if err != nil || e == nil {
			t.Fatalf("%s: %v, %v", function, e, err)
		}
		var got []string
		for _, c := range e.Commits {
			got = append(got, c.Subject)
		}
		if len(got) != len(want) || len(want) > 0 && got[0] != want[0] {
			t.Errorf("%s: %q, want %q", function, got, want)
		}
	}
	since := Since{Revision: first}
	f(since, "(*T).Run", "two")
	f(since, "after")
	f(since, "before")
	f(Since{Time: time.Now().Add(time.Hour)}, "(*T).Run")
	for _, none := range []string{"gone", "T.Run", "Run", ""} {
		if e, err := repo.Touched(ctx, since, file, none); e != nil || err != nil {
			t.Errorf("%s: %v, %v", none, e, err)
		}
	}
	if e, err := repo.Touched(ctx, since, "/usr/src/other.go", "after"); e != nil || err != nil {
		t.Errorf("a file of elsewhere: %v, %v", e, err)
	}
	if all, err := repo.Commits(ctx, since); err != nil || len(all) != 2 {
		t.Errorf("%v, %v", all, err)
	}
}
