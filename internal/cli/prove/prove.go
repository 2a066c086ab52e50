// Package prove is loupe prove: what a recording ran is run again, before and after a change, to
// find out whether the change has mended a finding.
package prove

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"loupe/insight"
	"loupe/internal/cli/command"
	"loupe/internal/cli/examine"
	"loupe/internal/cli/record"
	"loupe/report"
	"loupe/value/unit"
)

// Command is loupe prove.
var Command = &command.Command{
	Name:  "prove",
	Short: "has a change fixed a finding? yes, no or undecided",
	Args:  "[flags] FINDING RECORDING",
	Example: []string{
		"loupe prove AL08 before                     the recorded revision against the working tree",
		"loupe prove AL08@rss.go:143 before          the finding at that line, if there are several AL08",
		"loupe prove -vs main LK01 before            the 'before' side is main",
		"loupe prove -vs ./old -with ./new CP01 rec  two copies of the module, or two binaries",
		"loupe prove -env GOGC=400 GC18 before       the same program, with another setting",
	},
	About: `
FINDING is a rule that loupe report has found in RECORDING, such as AL08; if it was found in
several places, add @ and a file, line or function. The recorded program is run again, in the
same folder, with the same arguments, load and phases: as it was, and as it is now. Both are
interleaved in rounds, in random order, and examined after 10, 20, 40, 80 and 160 rounds,
until it is decided or -budget is spent.

The "before" side is the revision that was recorded, unless -vs names another revision, folder
or binary. The "after" side is the working tree, unless -with names something else. The answer
is

  yes        the figure that the finding is about (CPU time, allocated bytes or objects,
             waits for locks, latency, memory, goroutines, pauses) has become less, beyond
             chance, by a quarter of what the finding had cost at least, and the finding is
             gone: what is after is recorded once more to see that again
  no         it is still found, or found as large elsewhere; or the figure is not less
  undecided  anything else, with about how many more pairs of rounds it needs

and says what got worse that users notice: requests per second, latency, CPU time, memory,
errors. Both sides do the same work: benchmarks run as many operations as they did in the
recording (-benchtime Nx). Ctrl-C ends the rounds, and the complete ones are judged.

The exit code is 0 for yes; 3 for no, and for a yes if something that users notice got worse
by more than -fail; 4 for undecided; 1 if a program failed or could not be built; and 130
after Ctrl-C, whatever the answer is.`,
	Files: true,
	Setup: func(fs *command.FlagSet) func(*command.Env, []string) error {
		f := &flags{set: fs}
		fs.StringVar(&f.vs, "vs", "", "the 'before' `version`: a revision, a folder or a binary (default the recorded\nrevision)")
		fs.StringVar(&f.with, "with", "", "the 'after' `version` (default the working tree)")
		fs.Func("env", "set the environment `NAME=value` for the 'after' side only (repeatable)", func(s string) error {
			if !assignment.MatchString(s) {
				return errors.New("want NAME=value")
			}
			f.env = append(f.env, s)
			return nil
		})
		fs.IntVar(&f.rounds, "rounds", 0, "take `number` rounds and then decide (default as many as needed, at most 160)")
		fs.StringVar(&f.budget, "budget", "", "end after the last round that fits into this `time` (default 5m where rounds go on\nuntil all is decided)")
		fs.StringVar(&f.fail, "fail", "0%", "exit with 3 if something that users notice got worse by more than `percent`")
		fs.StringVar(&f.out, "o", "", "write the recordings of both sides into `dir` (default loupe-prove-RULE-TIME)")
		fs.StringVar(&f.dir, "dir", "", "run in this `folder` instead of the one in which it was recorded")
		fs.BoolVar(&f.quiet, "quiet", false, "print no progress")
		fs.BoolVar(&f.json, "json", false, "print JSON ("+report.ProofSchema+")")
		return f.run
	},
}

var assignment = regexp.MustCompile(`^[^=]+=`)

// flags are those of the command line.
type flags struct {
	set               *command.FlagSet
	vs, with, out     string
	budget, fail, dir string
	env               []string
	rounds            int
	quiet, json       bool

	allowed time.Duration // of -budget
	share   float64       // of -fail
}

// ruleName is how rules are called; what follows is a place.
var ruleName = regexp.MustCompile(`^[A-Za-z]{2}[0-9]{2}(@|$)`)

func (f *flags) run(e *command.Env, args []string) (err error) {
	if len(args) == 2 && !ruleName.MatchString(args[0]) && ruleName.MatchString(args[1]) {
		args[0], args[1] = args[1], args[0]
	}
	switch {
	case len(args) < 2:
		return command.Usagef("want a finding and a recording, as in loupe prove AL08 RECORDING (loupe report RECORDING lists its findings)")
	case len(args) > 2:
		return command.Usagef("too many arguments: %q", args[2:])
	case !ruleName.MatchString(args[0]):
		return command.Usagef("%q is not a finding: want a rule such as AL08, or AL08@main.go:17", args[0])
	case f.set.Given("rounds") && f.rounds < 1:
		return command.Usagef("-rounds: want at least 1")
	}
	for _, name := range []string{"vs", "with"} {
		if f.set.Given(name) && f.set.Lookup(name).Value.String() == "" {
			return command.Usagef("-%s: a version is missing (is a variable empty?)", name)
		}
	}
	if f.budget != "" {
		if f.allowed, err = unit.ParseDuration(f.budget); err != nil || f.allowed <= 0 {
			return command.Usagef("-budget: want a time such as 2m, not %q", f.budget)
		}
	}
	if f.share, err = command.ParsePercent("fail", f.fail); err != nil {
		return err
	}
	c, err := f.take(e, args[0], args[1])
	if err != nil {
		return err
	}
	return f.prove(e, c)
}

// prove takes the rounds and says what came of them.
func (f *flags) prove(e *command.Env, c *repeated) error {
	defer e.Keeps()()
	out := &report.Proved{Schema: report.ProofSchema, Finding: *c.finding, Sides: [2]string{c.before, c.after}}
	if c.same {
		out.Proof = insight.Proof{Answer: insight.No, Because: insight.SameBuild}
		out.Notes = []string{"this is what git says about the folder; ignored files are not considered"}
		out.Say()
		return f.conclude(e, out, nil)
	}
	again, err := f.again(c)
	if err != nil {
		return err
	}
	dirs, failed := again.Take(e)
	os.Remove(again.Out) // where nothing was recorded; what holds something stays
	if len(dirs) < 2 {
		return failed
	}
	all, closeAll, err := examine.All(examine.Recorded(dirs))
	if err != nil {
		return errors.Join(failed, err)
	}
	defer closeAll()
	if len(all) == 3 {
		c.again, all = all[2].Report.Findings, all[:2]
	}
	if len(all[0].Facts.Rounds) == 0 || len(all[1].Facts.Rounds) == 0 {
		if failed == nil && e.Ctx.Err() != nil {
			failed = e.Ctx.Err()
		}
		return errors.Join(failed, fmt.Errorf("nothing was measured: no round of both sides was completed (partial results are in %s)", again.Out))
	}
	out.Table, out.Proof = c.judged(all)
	out.Notes = append(out.Table.Notes, c.notes(e, all)...)
	out.Recordings = dirs
	out.Say()
	return f.conclude(e, out, failed)
}

// again is how the rounds are taken.
func (f *flags) again(c *repeated) (*record.Again, error) {
	out := f.out
	if out == "" {
		out, _ = record.Place("", "prove "+c.finding.Rule)
	} else if err := record.CheckPlace(out); err != nil {
		return nil, err
	}
	out, err := filepath.Abs(out)
	if err != nil {
		return nil, err
	}
	a := &record.Again{
		Made: c.made, Before: c.version(f.vs, c.base), After: c.version(f.with, ""), Env: c.env, AfterEnv: f.env, Out: out,
		Rounds: f.rounds, Budget: f.allowed, Quiet: f.quiet,
		Decided: func(dirs []string) (bool, error) {
			because, err := c.because(dirs)
			return because != insight.Open, err
		},
		Confirm: func(dirs []string) (bool, error) {
			because, err := c.because(dirs)
			return because == insight.Fell, err
		},
	}
	return a, nil
}

// conclude prints the answer, and returns what makes the exit code.
func (f *flags) conclude(e *command.Env, p *report.Proved, failed error) error {
	e.HoldWhenLeaving()
	err := command.Buffered(e.Stdout, func(w io.Writer) error {
		if f.json {
			return report.WriteJSON(w, p)
		}
		return report.WriteProof(w, p, e.Style())
	})
	if err == nil && !f.json && len(p.Recordings) > 0 {
		examine.Next(e, relative(p.Recordings[:min(2, len(p.Recordings))]), f.quiet)
	}
	worse := false
	for _, r := range p.Worse {
		worse = worse || r.Changes[0].WorseBy(r.Better, f.share)
	}
	switch {
	case err != nil || failed != nil:
		return errors.Join(failed, err)
	case p.Answer == insight.No || p.Answer == insight.Yes && worse:
		return command.ErrFound
	case p.Answer == insight.Unproven:
		return command.Exit(command.ExitNothing)
	}
	return nil
}

// relative are folders as seen from here, where they lie below.
func relative(dirs []string) (out []string) {
	here, _ := os.Getwd()
	for _, d := range dirs {
		if rel, err := filepath.Rel(here, d); err == nil && filepath.IsLocal(rel) {
			d = rel
		}
		out = append(out, d)
	}
	return out
}
