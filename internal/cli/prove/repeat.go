package prove

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"loupe/analysis/compare"
	"loupe/capture/collect"
	"loupe/insight"
	"loupe/internal/cli/command"
	"loupe/internal/cli/examine"
	"loupe/recording"
	"loupe/session"
)

// repeated is a finding, and how what it was found in is run again.
type repeated struct {
	finding *insight.Finding
	target  recording.Target
	made    recording.Made
	// base is the version that was recorded, before and after are what the sides are called.
	base          string
	before, after string
	// env is set for both sides.
	env []string
	// same tells that nothing but what was recorded is asked for.
	same bool
	// again is what a second recording of what is after shows.
	again []insight.Finding
}

// take finds the finding in a recording, and how the recording can be made again.
func (f *flags) take(e *command.Env, name, path string) (*repeated, error) {
	x, err := open(path)
	if err != nil {
		return nil, err
	}
	defer x.Close()
	c := &repeated{target: x.Session.Manifest().Target}
	if c.finding, err = named(name, path, x.Report.Findings); err != nil {
		return nil, err
	}
	if len(c.finding.Figures()) == 0 {
		return nil, fmt.Errorf("cannot prove %s by running it again: no figure of the rounds shows what it is about. %s", c.finding.Rule, c.finding.Verify)
	}
	if err := c.repeatable(e, path, x.Session.Manifest()); err != nil {
		return nil, err
	}
	if f.dir != "" {
		if c.made.Dir, err = filepath.Abs(f.dir); err != nil {
			return nil, err
		}
	}
	if info, err := os.Stat(c.made.Dir); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("cannot run it again: it was recorded in %s, which does not exist here (-dir says where it is now)", c.made.Dir)
	}
	if err := c.operations(x.Session, path); err != nil {
		return nil, err
	}
	return c, f.versions(e, c)
}

// open opens a recording.
func open(path string) (*examine.Examined, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("%w (loupe prove needs a recording of loupe run: a running process cannot be run again)", err)
	}
	if info.IsDir() {
		_, manifest := os.Stat(filepath.Join(path, recording.ManifestName))
		_, journal := os.Stat(filepath.Join(path, recording.JournalName))
		if manifest != nil && journal != nil {
			return nil, fmt.Errorf("%s is a folder but not a recording: record the program with loupe run, and prove a finding from that", path)
		}
	}
	all, _, err := examine.All(examine.Recorded([]string{path}))
	if err != nil && !info.IsDir() {
		return nil, fmt.Errorf("%s does not say how to run the program again, as a recording of loupe run does: record the program, and prove a finding from that (%w)", path, err)
	}
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// named is the finding that a name stands for.
func named(name, path string, all []insight.Finding) (*insight.Finding, error) {
	found := insight.Named(name, all)
	rule, _, _ := strings.Cut(name, "@")
	rule = strings.ToUpper(rule)
	if !slices.ContainsFunc(insight.Rules(), func(r *insight.Rule) bool { return r.ID == rule }) {
		return nil, command.Usagef("there is no rule %s (loupe rules lists them)", rule)
	}
	var names []string
	if len(found) == 1 {
		return found[0], nil
	}
	among := found
	for i := range all {
		if len(found) == 0 && all[i].State == insight.Found && len(all[i].Figures()) > 0 {
			among = append(among, &all[i])
		}
	}
	for _, one := range among {
		names = append(names, one.Name(all))
	}
	switch {
	case len(found) > 1:
		return nil, command.Usagef("%s has %d findings that match %s: %s", path, len(found), name, strings.Join(names, ", "))
	case len(names) == 0:
		return nil, command.Nothingf("neither %s nor anything else was found in %s", name, path)
	}
	return nil, command.Nothingf("%s was not found in %s; the findings there are: %s", name, path, strings.Join(names, ", "))
}

// repeatable finds out whether a recording can be made again, and as what.
func (c *repeated) repeatable(e *command.Env, path string, m *recording.Manifest) error {
	switch kind := m.Target.Kind; {
	case kind == "url" || kind == "pid":
		return fmt.Errorf("cannot run it again: %s was recorded from a process that was already running. Record the program from its start with loupe run, and prove a finding from that", path)
	case m.Made == nil:
		return fmt.Errorf("cannot run it again: %s does not say how it was made (it is not from loupe run, or from an older version). Record it again, and prove a finding from that", path)
	case m.Made.Masked:
		return fmt.Errorf("cannot run it again: the command line contained a secret, which %s does not keep. Do it by hand: loupe run -vs REV with the same flags, and look at the findings of both sides", path)
	case m.Made.Input != recording.NoInput && !regular(e.Stdin):
		return fmt.Errorf("cannot run it again: its standard input was a %s, which %s does not keep. Give it as a file: loupe prove … < FILE (an empty one if the program reads nothing)", m.Made.Input, path)
	}
	c.made = *m.Made
	for _, name := range []string{"GODEBUG", "GOGC", "GOMEMLIMIT", "GOMAXPROCS"} {
		at := slices.IndexFunc(m.Target.Env, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
		if at >= 0 {
			c.env = append(c.env, m.Target.Env[at])
		} else if os.Getenv(name) != "" {
			c.env = append(c.env, name+"=") // it was not set
		}
	}
	return nil
}

func regular(f *os.File) bool {
	if f == nil {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode().IsRegular()
}

// operations has benchmarks do as much as they did in the recording: left to themselves they run for
// a length of time, and what is faster does more.
func (c *repeated) operations(s *session.Session, path string) error {
	if c.target.Kind != "test" {
		return nil
	}
	own := slices.Index(c.made.Args, "-args")
	if own < 0 {
		own = len(c.made.Args)
	}
	benches := false
	for i, arg := range c.made.Args[:own] {
		name, value, _ := strings.Cut(strings.TrimPrefix(strings.TrimLeft(arg, "-"), "test."), "=")
		switch {
		case name == "bench":
			benches = true
		case name == "benchtime" && (strings.HasSuffix(value, "x") || value == "" && i+1 < own && strings.HasSuffix(c.made.Args[i+1], "x")):
			return nil
		}
	}
	if !benches {
		return nil
	}
	least := session.Operations(s)
	if least == 0 {
		return fmt.Errorf("cannot run it again: %s does not have the number of operations its benchmarks ran. Record them again with -benchtime 1000x, or with their output", path)
	}
	c.made.Args = slices.Insert(slices.Clone(c.made.Args), own, fmt.Sprintf("-test.benchtime=%dx", least))
	return nil
}

// versions finds out what is before and what is after.
func (f *flags) versions(e *command.Env, c *repeated) error {
	c.base = ""
	c.before, c.after = f.vs, f.with
	if c.after == "" {
		c.after = "the working tree"
	}
	if c.target.Kind == "binary" {
		return f.binaries(c)
	}
	for _, kv := range f.env {
		c.after += " with " + kv
	}
	if f.vs != "" {
		return nil
	}
	m, elsewhere := &c.made, " (name the 'before' side with -vs: a revision, a folder or a binary)"
	switch {
	case m.Commit == "":
		return fmt.Errorf("the recorded revision is not known: there was no git repository in %s%s", m.Dir, elsewhere)
	case m.Edited:
		return fmt.Errorf("the recorded source is gone: its files differed from commit %.12s%s", m.Commit, elsewhere)
	}
	repo, err := collect.RepositoryOf(e.Ctx, m.Dir)
	if err != nil {
		return fmt.Errorf("%w%s", err, elsewhere)
	}
	if repo.Commit(e.Ctx, m.Commit) == "" {
		return fmt.Errorf("commit %.12s, which was recorded, is not in the repository of %s%s", m.Commit, m.Dir, elsewhere)
	}
	c.before = fmt.Sprintf("%.12s", m.Commit)
	c.base = "@" + c.before
	c.same = f.with == "" && len(f.env) == 0 && collect.Unchanged(e.Ctx, m.Dir, m.Commit)
	return nil
}

// binaries finds out what is before and after of a program that was ready.
func (f *flags) binaries(c *repeated) error {
	file := c.made.Target
	if !filepath.IsAbs(file) {
		file = filepath.Join(c.made.Dir, file)
	}
	there := collect.Digest(file)
	if f.with == "" {
		c.after = c.made.Target
	}
	for _, kv := range f.env {
		c.after += " with " + kv
	}
	switch recorded := there != "" && there == c.target.Build; {
	case f.vs != "":
		if f.with == "" && there == "" {
			return fmt.Errorf("the recorded program, %s, is gone: name the 'after' side with -with", c.made.Target)
		}
		return nil
	case !recorded && there == "":
		return fmt.Errorf("the recorded program, %s, is gone: name the 'before' side with -vs, and the 'after' side with -with", c.made.Target)
	case !recorded:
		return fmt.Errorf("the recorded program is gone: %s is now a different build. Name the 'before' side with -vs", c.made.Target)
	case f.with == "" && len(f.env) == 0:
		return fmt.Errorf("%s is still the recorded program: name the 'after' side with -with", c.made.Target)
	}
	c.before = c.made.Target
	return nil
}

// version is a name of -vs or -with as it is to be seen from another folder.
func (c *repeated) version(name, otherwise string) string {
	if name == "" {
		return otherwise
	}
	if _, err := os.Stat(name); err == nil {
		if abs, err := filepath.Abs(name); err == nil {
			return abs
		}
	}
	return name
}

// because is why the answer of the rounds that are taken is what it is. Where it is not
// [insight.Open] more rounds are of no use: the figure that the finding is about is decided, or the
// finding is still there and no figure makes it fixed.
func (c *repeated) because(dirs []string) (insight.Because, error) {
	all, closeAll, err := examine.All(examine.Recorded(dirs))
	if err != nil {
		return insight.Open, err
	}
	defer closeAll()
	_, proof := c.judged(all)
	return proof.Because, nil
}

// judged is what the rounds of both sides come to.
func (c *repeated) judged(all []*examine.Examined) (*compare.Table, insight.Proof) {
	t := examine.SideBySide(all).Table
	failed := len(examine.Failed(all)) > 0
	p := insight.Prove(insight.Trial{
		Finding: c.finding, Table: t, Before: all[0].Report.Findings, After: all[1].Report.Findings, Again: c.again,
		SameBuild: t.Closed() && !failed, Failed: failed,
	})
	p.Each = compare.PairTime(all[0].Facts, all[1].Facts)
	return t, *p
}

// notes say what casts a doubt on the comparison.
func (c *repeated) notes(e *command.Env, all []*examine.Examined) (notes []string) {
	a, b := all[0].Session.Manifest(), all[1].Session.Manifest()
	if e.Ctx.Err() != nil {
		notes = append(notes, "the rounds were interrupted: these are the results up to then")
	}
	if a.Target.Agent != b.Target.Agent {
		notes = append(notes, "one side is a prebuilt binary without the agent: runtime profiles and counters exist only for the other")
	}
	first, second := printed(a), printed(b)
	if first != "" && second != "" && first != second {
		notes = append(notes, "the two sides produce different output: is it still the same work?")
	}
	return notes
}

// printed is what a program prints in every round, by its digest; empty where that varies.
func printed(m *recording.Manifest) (same string) {
	for _, entry := range m.Of(recording.Stdout) {
		at := slices.IndexFunc(m.Phases, func(p recording.Phase) bool { return p.Run == entry.Run && p.Bare() && !p.Cut })
		switch {
		case at < 0 || entry.SHA256 == "":
		case same == "":
			same = entry.SHA256
		case same != entry.SHA256:
			return ""
		}
	}
	return same
}
