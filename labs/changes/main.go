// Changes holds what loupe bench says of real performance changes of public modules
// against what their changelogs and their code say.
//
//	go run ./labs/changes                    all of them: some ten minutes
//	go run ./labs/changes -names jwt,html    some of them
//	go run ./labs/changes -keep DIR          keep the two versions, the recordings and the text
//
// Both versions come from the module proxy and get the same benchmark; then it is
//
//	loupe bench -vs OLD -profile cpu,allocs
//
// in the newer one. A line is right when the verdict is, and the line, or the function where there is
// no line, is among the causes. It prints the table of docs/diagnosis.md, and fails
// when one is wrong.
package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed bench/*.txt
var benchmarks embed.FS

func main() {
	names := flag.String("names", "", "measure these `changes`, such as jwt,html")
	keep := flag.String("keep", "", "keep versions and recordings in this `folder`, which is new or empty")
	loupe := flag.String("loupe", "", "use this `program` instead of building loupe")
	budget := flag.String("budget", "1m", "`time` for the rounds of a change")
	flag.Parse()
	if err := run(os.Stdout, *names, *keep, *loupe, *budget); err != nil {
		fmt.Fprintln(os.Stderr, "changes:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, names, keep, loupe, budget string) error {
	dir := keep
	if dir == "" {
		temp, err := os.MkdirTemp("", "changes")
		if err != nil {
			return err
		}
		defer os.RemoveAll(temp)
		dir = temp
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if loupe == "" {
		loupe = filepath.Join(dir, "loupe")
		if text, err := exec.Command("go", "build", "-o", loupe, "loupe/cmd/loupe").CombinedOutput(); err != nil {
			return fmt.Errorf("cannot build loupe: %w\n%s", err, text)
		}
	}
	fmt.Fprintln(w, "| module | versions | figure | verdict | change | cause | right |\n|---|---|---|---|---|---|---|")
	var failed error
	wrong := 0
	for _, c := range changes {
		if names != "" && !slices.Contains(strings.Split(names, ","), c.Name) {
			continue
		}
		got, err := measure(c, filepath.Join(dir, c.Name), loupe, budget)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", c.Name, err))
			continue
		}
		for _, want := range c.Want {
			row := judge(got, want)
			if !row.right {
				wrong++
			}
			fmt.Fprintf(w, "| %s | %s → %s | %s | %s | %s | %s | %s |\n", strings.TrimPrefix(c.Module, "github.com/"), c.Old, c.New,
				want.Unit, row.verdict, row.change, row.cause, map[bool]string{true: "yes", false: "**no**"}[row.right])
		}
	}
	if wrong > 0 {
		failed = errors.Join(failed, fmt.Errorf("%d figures have another verdict or another cause than is known", wrong))
	}
	return failed
}

// result is what loupe bench -json says, as far as it is of interest.
type result struct {
	Figures []struct {
		Unit, Verdict string
		Ratio         *float64
	}
	Causes []struct {
		Of        string
		Functions []struct {
			Name  string
			Lines []struct {
				File string
				Line int
				Text string
			}
		}
	}
}

// measure compares both versions.
func measure(c Change, dir, loupe, budget string) (*result, error) {
	text, err := benchmarks.ReadFile("bench/" + c.Name + ".txt")
	if err != nil {
		return nil, err
	}
	for _, version := range []string{c.Old, c.New} {
		from, err := download(c.Module + "@" + version)
		if err != nil {
			return nil, err
		}
		to := filepath.Join(dir, version)
		if err := os.CopyFS(to, os.DirFS(from)); err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(to, c.Package, "zz_changes_test.go"), text, 0o666); err != nil {
			return nil, err
		}
	}
	name := string(bytes.TrimPrefix(slices.Collect(bytes.SplitSeq(text, []byte("func ")))[1], []byte("Benchmark")))
	name, _, _ = strings.Cut(name, "(")
	cmd := exec.Command(loupe, "bench", "-vs", filepath.Join(dir, c.Old), "-bench", "^Benchmark"+name+"$", "-budget", budget,
		"-profile", "cpu,allocs", "-recording", filepath.Join(dir, "recordings"), "-json", "./"+c.Package)
	cmd.Dir = filepath.Join(dir, c.New)
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	const regressed = 3 // the exit code
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == regressed {
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, errs.String())
	}
	os.WriteFile(filepath.Join(dir, "bench.json"), out, 0o666) // for those who keep the folder
	got := &result{}
	return got, json.Unmarshal(out, got)
}

// download is the folder of a version of a module.
func download(what string) (string, error) {
	out, err := exec.Command("go", "mod", "download", "-json", what).Output()
	var got struct{ Dir, Error string }
	if jerr := json.Unmarshal(out, &got); jerr == nil && got.Error != "" {
		return "", errors.New(got.Error)
	}
	if err == nil && got.Dir == "" {
		err = errors.New("the go command does not say where it is")
	}
	return got.Dir, err
}

// row is what came of an expectation.
type row struct {
	verdict, change, cause string
	right                  bool
}

// judge holds a result against an expectation.
func judge(got *result, want Want) (r row) {
	for _, f := range got.Figures {
		if f.Unit == want.Unit {
			r.verdict = f.Verdict
			if f.Ratio != nil {
				r.change = fmt.Sprintf("×%.3g", *f.Ratio)
			}
		}
	}
	for _, c := range got.Causes {
		if c.Of != want.Unit {
			continue
		}
		for _, f := range c.Functions {
			if !strings.HasSuffix(f.Name, want.Function) || r.cause != "" {
				continue
			}
			if want.Line == "" {
				r.cause = f.Name
			}
			for _, l := range f.Lines {
				if want.Line != "" && strings.Contains(l.Text, want.Line) {
					r.cause = fmt.Sprintf("%s:%d `%s`", filepath.Base(l.File), l.Line, l.Text)
				}
			}
		}
	}
	r.right = r.verdict == want.Verdict && r.cause != ""
	return r
}
