package code

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"loupe/analysis/callers"
	"loupe/capture/static"
	"loupe/format/kind"
	"loupe/format/profile"
	"loupe/internal/cli/command"
	"loupe/internal/cli/door"
	"loupe/internal/cli/examine"
	"loupe/session"
	"loupe/source"
	"loupe/value/callgraph"
	"loupe/value/stack"
	"loupe/value/unit"
)

// callersSchema names the JSON of loupe callers.
const callersSchema = "loupe.callers/1"

// Callers is loupe callers.
var Callers = &command.Command{
	Name:  "callers",
	Short: "who may call a function (from source), and who did (from a profile)",
	Args:  "[flags] FUNC [PACKAGES]",
	Example: []string{
		"loupe callers 'net/http.(*conn).serve' ./cmd/server",
		"loupe callers '(*Cache).Put'                       in the packages below this folder",
		"loupe callers -depth 3 parse ./...                 also the callers of the callers",
		"loupe callers -profile cpu.pb.gz parse ./...       static, seen, or both, with samples",
		"loupe callers -profile loupe-server-20261120-101500 -json parse",
	},
	About: `
FUNC is written as Go prints it: main.run, net/http.(*conn).serve, (*conn).serve, or serve
where one function has that name. Functions of PACKAGES count before those that they import;
an ambiguous name lists what it may mean. A function of a package main may be prefixed with
the import path: example.com/cmd/server.run.

The packages and all that they import are type-checked, and calls through interfaces and func
values are followed by variable type analysis. It lists possible calls, whether or not the
program ever reaches them. It does not see calls by reflection, assembly, C and linkname, nor
calls from packages outside PACKAGES and their imports. PACKAGES defaults to ./...; tests are
included with -tests.

With -profile each caller is static (in the source alone), seen (on the stacks of the profile
alone) or both. A profile is a sample: a caller that was not seen may still call, and what a
go statement starts has its own stack. Samples are those of the first column of the profile.
Below the first level they count the stacks that contain the whole path. Callers and lines are
matched by name and line: if the profiled version has other lines, the caller is still found,
but its line counts as seen only.

The graph is cached in the user's cache folder until a source file changes.`,
	Setup: func(fs *command.FlagSet) func(*command.Env, []string) error {
		f := &callersFlags{}
		f.declare(fs, callersSchema)
		fs.IntVar(&f.depth, "depth", 1, "list callers of callers, `n` levels in all")
		fs.StringVar(&f.profile, "profile", "", "a profile or recording, `FILE`, that says who was seen")
		fs.BoolVar(&f.tests, "tests", false, "also look at the tests of PACKAGES")
		return func(e *command.Env, args []string) error {
			if fs.Given("profile") && f.profile == "" {
				return command.Usagef("-profile: a file is missing (is a variable empty?)")
			}
			return f.run(e, args)
		}
	},
}

type callersFlags struct {
	flags
	depth   int
	profile string
	tests   bool
}

func (f *callersFlags) run(e *command.Env, args []string) error {
	if len(args) == 0 || args[0] == "" {
		return command.Usagef("the function is missing")
	}
	if f.depth < 1 {
		return command.Usagef("-depth %d: want at least 1", f.depth)
	}
	out := &callersAnswer{Schema: callersSchema, depth: f.depth}
	p, err := f.seen(e, out)
	if err != nil {
		return err
	}
	opt := f.options(e, args[1:])
	opt.Tests = f.tests
	out.Packages = opt.Patterns
	g, cached, err := static.Calls(e.Ctx, opt)
	if err != nil {
		return failed(e, err)
	}
	id, err := one(g, args[0], opt.Patterns)
	if err != nil {
		return err
	}
	fn := g.Functions[id]
	out.Function, out.Cached = functionJSON{fn.Name, fn.Package, here(fn.File), fn.Line}, cached
	tree := callers.Of(g, id, f.depth, p)
	out.fill(tree)
	out.foreign = p != nil && tree.Samples == 0 && !mentions(p, fn.Name)
	if f.json {
		return command.WriteJSON(e.Stdout, out)
	}
	return command.Buffered(e.Stdout, out.write)
}

// seen reads the profile, if there is one.
func (f *callersFlags) seen(e *command.Env, out *callersAnswer) (*profile.Profile, error) {
	if f.profile == "" {
		return nil, nil
	}
	in, err := door.TakeOne(e, door.New(e, "cpu:10s", nil), f.profile)
	if err != nil {
		return nil, err
	}
	var p *profile.Profile
	switch {
	case in.Recording:
		p, out.note, err = examine.MainProfile(in)
	case in.Kind != kind.Profile:
		return nil, door.WrongKind(in, "a profile or a recording")
	default:
		p, err = loose(in)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read profile %s: %w", in.Name, err)
	}
	out.Profile = &profileJSON{Name: in.Name}
	if len(p.SampleTypes) > 0 {
		out.Profile.Counts = p.SampleTypes[0].Type
	}
	return p, nil
}

// loose reads a profile that stands alone.
func loose(in *source.Input) (*profile.Profile, error) {
	l := examine.NewLoose([]*source.Input{in})
	s, known, err := session.Loose(l.Files, l.Short)
	if err != nil {
		return nil, err
	}
	for _, f := range known {
		if len(f.Failed) > 0 {
			return nil, errors.New(l.Rename(f.Failed[0]))
		}
	}
	return s.ProfileAt(l.Short[0])
}

// mentions tells whether a profile has any function of the package of one.
func mentions(p *profile.Profile, function string) bool {
	for i := range p.Stacks.NumFrames() {
		if stack.Package(p.Stacks.Frame(stack.FrameID(i)).Func) == stack.Package(function) {
			return true
		}
	}
	return false
}

// maxCandidates is how many meanings of a name are listed.
const maxCandidates = 20

// one finds the function that a name means.
func one(g *callgraph.Graph, name string, patterns []string) (int, error) {
	found := g.Find(name)
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		text := fmt.Sprintf("no function %s in %s and what they import", name, strings.Join(patterns, " "))
		near := g.Near(name, 5)
		if n := unit.Nearest(name, g.Names()); n != "" && !slices.Contains(near, n) {
			near = append([]string{n}, near...)
		}
		if len(near) > 0 {
			text += "; there is " + strings.Join(near, ", ")
		}
		return 0, command.Nothingf("%s", text)
	}
	var lines []string
	for i, id := range found {
		if i == maxCandidates {
			lines = append(lines, fmt.Sprintf("\t(%d more)", len(found)-i))
			break
		}
		f := &g.Functions[id]
		lines = append(lines, fmt.Sprintf("\t%s  %s:%d", f.Path(), here(f.File), f.Line))
	}
	return 0, command.Usagef("%s may mean any of %d functions:\n%s", name, len(found), strings.Join(lines, "\n"))
}
