// Package check is loupe check: benchmarks and loads of a file in the repository, held against a
// base and against what they may grow by.
package check

import (
	"bufio"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"loupe/internal/cli/command"
	"loupe/report"
	"loupe/value/unit"
)

// Command is loupe check.
var Command = &command.Command{
	Name:  "check",
	Short: "in CI: fail on a proven regression beyond a limit",
	Args:  "[flags]",
	Example: []string{
		"loupe check -init                           write .loupe.yml for the current module",
		"loupe check                                 compare the working tree with the branch it came from",
		"loupe check -vs origin/main -budget 5m      against another branch, in five minutes",
		"loupe check -junit check.xml -sarif findings.sarif",
		"loupe check -format md > comment.md         for a pull request",
		"loupe check -keep                           measure now, and keep it for this kind of machine",
		"loupe check -baseline                       compare the working tree with the kept baseline",
	},
	About: `
.loupe.yml says which benchmarks and which loads are measured, and by how much each of
their units may grow, or a metric of their own may fall. docs/guide/check.md has all of its
keys. It is looked for in this folder and in those above, up to the top of the repository;
packages are seen from its folder.

	benchmarks:
	  - packages: ./...
	allow:
	  time: 10%
	  cpu: 5%
	  B/op: 1%
	  allocs/op: 0%

The base is the last commit that HEAD and -vs have in common: without -vs, base in the
file; without that the branch that a pull request on GitHub goes into, or origin/HEAD,
origin/main, origin/master, main or master, whichever is there first. Where nothing has
changed since, it is the commit before HEAD. Both sides are built and take turns on this
machine, as with loupe bench -vs and loupe run -vs.

A check fails when a figure got worse by more than what is allowed and that is proven:
what is undecided passes, with about how many more rounds would tell, unless the file
says "undecided: fail" or -undecided does. All rows of a unit have 5% of false alarms in
common. A finding on a load fails from the severity that the file names (findings:
critical), when the base has not the same one.

A baseline is kept in .loupe/baseline, a file for each kind of machine (CPU model,
number of CPUs, system, version of Go), in Go's benchmark format. One of another kind is
refused. Times that were measured one after the other lie apart on identical code too:
against a baseline wall times fail nothing, and CPU time has to be beyond its limit by
20 points more.

On GitHub ($GITHUB_ACTIONS) what fails is also told as annotations, and
$GITHUB_STEP_SUMMARY gets the Markdown. Ctrl-C ends the rounds; what was measured is
judged and written. The exit code is 3 when the check fails, 1 when something could not
be built or measured, 4 when no benchmark matches.`,
	Setup: func(fs *command.FlagSet) func(*command.Env, []string) error {
		f := flags{set: fs}
		fs.StringVar(&f.config, "config", "", "the `file` that says what to check (default .loupe.yml)")
		fs.StringVar(&f.vs, "vs", "", "compare with the last common commit with this `revision`")
		fs.BoolVar(&f.baseline, "baseline", false, "compare with the baseline kept by -keep on this kind of machine")
		fs.BoolVar(&f.keep, "keep", false, "measure only the working tree, and keep it as the baseline")
		fs.BoolVar(&f.init, "init", false, "write a file for the module, with the packages that have benchmarks")
		fs.StringVar(&f.budget, "budget", "", "`time` for everything, including builds (default from the file, or 10m)")
		fs.IntVar(&f.count, "count", 0, "take `number` rounds of benchmarks and then decide (default as many as needed,\nat most 160; 20 with -keep)")
		fs.StringVar(&f.undecided, "undecided", "", "`what` to do with undecided results: pass or fail (default from the file)")
		fs.StringVar(&f.format, "format", "text", "output `format`: text, json or md")
		fs.BoolVar(&f.json, "json", false, "same as -format json")
		fs.StringVar(&f.junit, "junit", "", "write JUnit's XML to `file`")
		fs.StringVar(&f.sarif, "sarif", "", "write the findings on loads to `file` as SARIF 2.1.0")
		fs.BoolVar(&f.github, "github", false, "report failures as GitHub annotations even without $GITHUB_ACTIONS")
		fs.StringVar(&f.out, "o", "", "keep all rounds and recordings in this `folder`")
		fs.BoolVar(&f.quiet, "quiet", false, "print no progress")
		return f.run
	},
}

// usualBudget is the time for all of a check.
const usualBudget = 10 * time.Minute

// flags are those of the command line.
type flags struct {
	set                           *command.FlagSet
	config, vs, budget, undecided string
	format, junit, sarif, out     string
	baseline, keep, init          bool
	json, github, quiet           bool
	count                         int
	allowed                       time.Duration // of -budget
	seed                          uint64
}

// parse checks the flags.
func (f *flags) parse() (err error) {
	if f.json {
		f.format = "json"
	}
	if known := []string{"text", "json", "md"}; !slices.Contains(known, f.format) {
		return command.Usagef("-format: unknown format %q: there are %s", f.format, strings.Join(known, ", "))
	}
	if f.set.Given("count") && f.count < 1 {
		return command.Usagef("-count: want at least 1")
	}
	if f.set.Given("vs") && f.vs == "" {
		return command.Usagef("-vs: a revision is missing (is a variable empty?)")
	}
	given := 0
	for _, name := range []string{"vs", "baseline", "keep", "init"} {
		if f.set.Given(name) {
			given++
		}
	}
	if given > 1 {
		return command.Usagef("-vs, -baseline, -keep and -init exclude each other: choose one")
	}
	if f.undecided != "" && f.undecided != "pass" && f.undecided != "fail" {
		return command.Usagef("-undecided: want pass or fail, not %q", f.undecided)
	}
	if f.budget != "" {
		if f.allowed, err = unit.ParseDuration(f.budget); err != nil || f.allowed <= 0 {
			return command.Usagef("-budget: want a time such as 5m, not %q", f.budget)
		}
	}
	f.seed = rand.Uint64()
	return nil
}

func (f *flags) run(e *command.Env, args []string) error {
	if err := command.NoArgs(args); err != nil {
		return err
	}
	if err := f.parse(); err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	if f.init {
		return initialise(e, dir, f.config)
	}
	path := f.config
	if path == "" {
		path = findConfig(dir)
	}
	cfg, err := readConfig(path)
	if err != nil {
		return err
	}
	if f.allowed > 0 {
		cfg.budget = f.allowed
	}
	if f.undecided != "" {
		cfg.undecided = f.undecided == "fail"
	}
	if f.keep && len(cfg.benchmarks) == 0 {
		return command.Usagef("-keep: %s has only loads, for which no baseline is kept", cfg.path)
	}
	return e.WithTemp(func(temp string) error {
		k := &checker{e: e, flags: f, cfg: cfg, temp: temp, began: time.Now(), progress: e.Progress(f.quiet)}
		return k.run()
	})
}

// findConfig is the file of the folder or of one above it, up to the top of the repository; that of
// the folder where there is none.
func findConfig(dir string) string {
	exists := func(path string) bool { _, err := os.Stat(path); return err == nil }
	for at := dir; ; at = filepath.Dir(at) {
		if path := filepath.Join(at, ConfigName); exists(path) {
			if rel, err := filepath.Rel(dir, path); err == nil {
				return rel
			}
			return path
		}
		if exists(filepath.Join(at, ".git")) || at == filepath.Dir(at) {
			return ConfigName
		}
	}
}

// write prints what it came to, in all the forms that were asked for, and returns the error that
// makes the exit code.
func (k *checker) write() error {
	c, f := k.out, k.flags
	c.Decide()
	err := command.Buffered(k.e.Stdout, func(w io.Writer) error {
		switch f.format {
		case "json":
			return report.WriteJSON(w, c)
		case "md":
			return report.WriteCheckMarkdown(w, c)
		}
		return report.WriteCheck(w, c, k.e.Style())
	})
	if f.github || os.Getenv("GITHUB_ACTIONS") == "true" {
		to := k.e.Stdout
		if f.format != "text" {
			to = k.e.Stderr // GitHub reads both
		}
		err = errors.Join(err, command.Buffered(to, func(w io.Writer) error { return report.WriteAnnotations(w, c) }))
	}
	if name := os.Getenv("GITHUB_STEP_SUMMARY"); name != "" {
		err = errors.Join(err, appendTo(name, func(w io.Writer) error { return report.WriteCheckMarkdown(w, c) }))
	}
	if f.junit != "" {
		err = errors.Join(err, command.WriteFile(f.junit, func(w *bufio.Writer) error { return report.WriteJUnit(w, c) }))
	}
	if f.sarif != "" {
		err = errors.Join(err, command.WriteFile(f.sarif, func(w *bufio.Writer) error { return k.writeSARIF(w) }))
	}
	if len(c.Broken) > 0 {
		for _, b := range c.Broken {
			err = errors.Join(err, errors.New(b.Text))
		}
	}
	if err == nil && c.Outcome == report.Regressed {
		return command.ErrFound
	}
	return err
}

// appendTo adds to a file that others write to as well.
func appendTo(name string, write func(io.Writer) error) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(command.Buffered(file, write), file.Close())
}
