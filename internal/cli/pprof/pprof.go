// Package pprof is loupe pprof: the flags, the sources, the shell and the pages of go tool pprof.
package pprof

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"loupe/analysis/pprof"
	"loupe/format/profile"
	"loupe/internal/cli/command"
	"loupe/internal/cli/programs"
)

// Command is loupe pprof.
var Command = &command.Command{
	Name:  "pprof",
	Short: "everything go tool pprof does, faster, and more",
	Args:  "[FORMAT] [flags] [BINARY] SOURCE…",
	Example: []string{
		"loupe pprof -top allocs.pb.gz                       functions by bytes allocated",
		"loupe pprof cpu.pb.gz                               the shell: top10, list Re, web, help",
		"loupe pprof -list 'search.*find' -alloc_space allocs.pb.gz",
		"loupe pprof -list find -why ./search allocs.pb.gz   … and why each line allocates",
		"loupe pprof -top -cum -seconds 10 localhost:6060    ten seconds of a running server",
		"loupe pprof -top -diff_base before.pb.gz after.pb.gz",
		"loupe pprof -svg -output graph.svg cpu.pb.gz        without Graphviz",
		"loupe pprof -flame -output flame.html cpu.pb.gz     one file for any browser",
	},
	About: `
Every format, option and shell command of go tool pprof means what it means there, and the
text is the same, byte for byte. Without a format an interactive shell opens.

SOURCE is a file in pprof's format, in one of the older text formats, a goroutine dump, folded
stacks, perf.data or the output of perf script, a heap profile of jemalloc or tcmalloc, a
speedscope file, a .cpuprofile of V8, a Chrome trace, - for standard input, or the URL of a
profile; several are added up. BINARY is the program, for disasm and weblist, and for profiles
without names.`,
	Files: true,
	Reads: true,
	Setup: func(fs *command.FlagSet) func(*command.Env, []string) error {
		f := &pprofFlags{config: pprof.Defaults(), reports: map[string]*string{}}
		f.declare(fs)
		return f.run
	},
}

// pprofFlags are the flags of pprof, and a few of our own.
type pprofFlags struct {
	config  pprof.Config
	choices []string // options of which one of several values is given by its own name

	reports map[string]*string // by command; nil is one that was not asked for
	json    bool
	why     bool
	target  string // package that the program was built from
	totals  bool
	extra   pprofExtra

	bases, diffBases   []string
	symbolize, buildID string
	comment            string
	seconds, timeout   int
	http               string
	noBrowser          bool
	allFrames          bool
	tools              string
	saved              string
	sampleIndexes      []string // by the old names
}

func (f *pprofFlags) declare(fs *command.FlagSet) {
	for i := range pprof.Commands {
		c := &pprof.Commands[i]
		if c.Param {
			fs.Func(c.Name, c.Help+", matching `regexp`", func(s string) error {
				if f.reports[c.Name] = &s; s == "" { // as if it were not there
					delete(f.reports, c.Name)
				}
				return nil
			})
			continue
		}
		fs.BoolFunc(c.Name, c.Help, func(s string) error {
			if s == "true" {
				f.reports[c.Name] = &s
			} else {
				delete(f.reports, c.Name)
			}
			return nil
		})
	}
	for i := range pprof.Fields {
		f.declareField(fs, &pprof.Fields[i])
	}
	list := func(name, usage string, to *[]string) {
		fs.Func(name, usage, func(s string) error {
			if *to = append(*to, s); s == "" { // as if it were not there
				*to = nil
			}
			return nil
		})
	}
	list("base", "subtract the profile `source`", &f.bases)
	list("diff_base", "compare with the profile `source`: percentages are of it", &f.diffBases)
	fs.IntVar(&f.seconds, "seconds", -1, "take a profile of `n` seconds from a URL")
	fs.IntVar(&f.timeout, "timeout", -1, "wait `n` seconds for a URL")
	fs.StringVar(&f.symbolize, "symbolize", "", "where names come from: `mode` is none, local, fastlocal, remote or force")
	fs.StringVar(&f.buildID, "buildid", "", "`id` of the main binary, if the profile has none")
	fs.StringVar(&f.comment, "add_comment", "", "`text` to add to the profile")
	fs.StringVar(&f.http, "http", "", "show the profile in a browser, at `host:port`")
	fs.BoolVar(&f.noBrowser, "no_browser", false, "with -http: open no browser")
	fs.BoolVar(&f.allFrames, "all_frames", false, "keep the frames that the writer of the profile calls uninteresting")
	fs.StringVar(&f.tools, "tools", "", "`folders` of other tools: accepted and not needed")
	fs.StringVar(&f.saved, "config", "", "start from the options saved under this `name`")
	fs.BoolVar(&f.json, "json", false, "print JSON (without a format: of -top)")
	fs.BoolVar(&f.why, "why", false, "with -list: the compiler's reason below every line that allocates")
	fs.StringVar(&f.target, "package", "", "with -why: the `package` that the program was built from, if there is no binary")
	fs.BoolVar(&f.totals, "totals", false, "the total of every sample type")
	f.extra.declare(fs)
	for name, index := range oldNames {
		fs.BoolFunc(name, "same as -sample_index="+index, func(s string) error {
			if s == "true" {
				f.sampleIndexes = append(f.sampleIndexes, index)
				f.config.Mean = f.config.Mean || name == "mean_delay"
			}
			return nil
		})
	}
}

// oldNames are flags for sample types, which pprof keeps for old scripts.
var oldNames = map[string]string{
	"inuse_space": "inuse_space", "inuse_objects": "inuse_objects", "alloc_space": "alloc_space",
	"alloc_objects": "alloc_objects", "total_delay": "delay", "contentions": "contentions", "mean_delay": "delay",
}

// optionFlag sets an option by its name.
type optionFlag struct {
	field  *pprof.Field
	config *pprof.Config
}

func (o optionFlag) String() string {
	if o.field == nil {
		return ""
	}
	return o.field.Get(o.config)
}

func (o optionFlag) Set(s string) error { return o.field.Set(o.config, o.field.Name, s) }

func (o optionFlag) IsBoolFlag() bool { return o.field.IsBool(o.field.Name) }

func (f *pprofFlags) declareField(fs *command.FlagSet, field *pprof.Field) {
	if len(field.Choices) == 0 {
		fs.Var(optionFlag{field, &f.config}, field.Name, field.Help)
		return
	}
	for _, choice := range field.Choices {
		fs.BoolFunc(choice, pprof.ChoiceHelp(choice), func(s string) error {
			if s == "true" {
				f.choices = append(f.choices, choice)
				return field.Set(&f.config, choice, s)
			}
			return nil
		})
	}
}

var _ flag.Value = optionFlag{}

// command returns the report that was asked for; nil means the shell.
func (f *pprofFlags) command() ([]string, error) {
	var words []string
	for name, param := range f.reports {
		if words != nil {
			return nil, command.Usagef("-%s and -%s: only one format at a time", words[0], name)
		}
		if words = []string{name}; pprof.Find(name).Param {
			words = append(words, *param)
		}
	}
	if words == nil && f.json && !f.totals && !f.extra.any() {
		words = []string{"top"}
	}
	return words, nil
}

// formats lists the flags that ask for a report, ours with those of pprof.
func (f *pprofFlags) formats(words []string) (flags []string) {
	x := &f.extra
	isTop := words != nil && (words[0] == "top" || words[0] == "text") // -top -csv is a table
	for _, format := range []struct {
		given bool
		flag  string
	}{
		{f.totals, "-totals"}, {(x.table || x.categories) && !isTop, "-table or -categories"}, {x.flame, "-flame"}, {x.folded, "-folded"},
		{x.speedscope, "-speedscope"}, {x.pgo, "-pgo"}, {x.pgoMatch != "", "-pgo_match"},
	} {
		if format.given {
			flags = append(flags, format.flag)
		}
	}
	if words != nil {
		flags = append(flags, "-"+words[0])
	}
	return flags
}

// check finds flags that contradict each other.
func (f *pprofFlags) check(words []string) error {
	for i := range pprof.Fields {
		if field := &pprof.Fields[i]; len(field.Choices) > 0 {
			var given []string
			for _, c := range f.choices {
				if slices.Contains(field.Choices, c) && !slices.Contains(given, c) {
					given = append(given, c)
				}
			}
			if len(given) > 1 {
				return command.Usagef("conflicting options set: -%s", strings.Join(given, ", -"))
			}
		}
	}
	switch {
	case f.http != "" && words != nil:
		return command.Usagef("-http is not compatible with an output format on the command line")
	case len(f.formats(words)) > 1:
		return command.Usagef("%s: only one format at a time", strings.Join(f.formats(words), " and "))
	case f.http != "" && len(f.formats(nil)) > 0:
		return command.Usagef("-http is not compatible with an output format on the command line")
	case f.why && (words == nil || words[0] != "list"):
		return command.Usagef("-why needs -list")
	case f.noBrowser && f.http == "":
		return command.Usagef("-no_browser only makes sense with -http")
	case len(f.bases) > 0 && len(f.diffBases) > 0:
		return command.Usagef("-base and -diff_base flags cannot both be specified")
	case f.config.Normalize && len(f.bases)+len(f.diffBases) == 0:
		return command.Usagef("must have base profile to normalize by")
	}
	return nil
}

func (f *pprofFlags) run(e *command.Env, args []string) error {
	words, err := f.command()
	if err != nil {
		return err
	}
	if err := f.check(words); err != nil {
		return err
	}
	if len(args) == 0 {
		return command.Usagef("the profile is missing")
	}
	if err := f.applySaved(); err != nil {
		return err
	}
	for i, index := range f.sampleIndexes {
		if f.config.SampleIndex == "" {
			f.config.SampleIndex = index
		} else if i > 0 || f.config.SampleIndex != index {
			fmt.Fprintln(e.Stderr, "Multiple value selections, ignoring", index)
		}
	}
	s := newSession(e, f)
	defer s.close()
	for _, list := range []*[]string{&f.bases, &f.diffBases} {
		if n := len(*list); n > 1 {
			s.warn(fmt.Sprintf("several bases: the last, %s, is taken, as go tool pprof does", (*list)[n-1]))
			*list = (*list)[n-1:]
		}
	}
	if s.p, err = s.fetch(args); err != nil {
		return err
	}
	if f.config.SampleIndex != "" {
		if _, err := s.p.Index(f.config.SampleIndex); err != nil {
			return command.Usagef("-sample_index: %w", err)
		}
	}
	switch {
	case f.totals:
		return s.totals()
	case f.extra.any():
		return f.extra.run(s)
	case words != nil:
		return s.generate(words, f.config)
	case f.http != "":
		return s.serve()
	}
	return s.shell()
}

// applySaved starts from saved options, with the flags of the command line on
// top: those that differ from the defaults.
func (f *pprofFlags) applySaved() error {
	if f.saved == "" {
		return nil
	}
	settings, err := readSettings()
	if err != nil {
		return err
	}
	saved, ok := settings.Find(f.saved, f.config)
	if !ok {
		return command.Usagef("-config: nothing is saved under %q (there is: %s)", f.saved, strings.Join(settings.Names(), ", "))
	}
	defaults := pprof.Defaults()
	for i := range pprof.Fields {
		field := &pprof.Fields[i]
		if now := field.Get(&f.config); now != field.Get(&defaults) {
			if err := field.Set(&saved, field.Name, now); err != nil {
				return err
			}
		}
	}
	f.config = saved
	return nil
}

// pprofSession is a profile with what reports need.
type pprofSession struct {
	e        *command.Env
	flags    *pprofFlags
	p        *profile.Profile
	find     *programs.Finder
	interact bool // commands are read from a shell
	temp     []string

	in profileDoor
}

func newSession(e *command.Env, f *pprofFlags) *pprofSession {
	s := &pprofSession{e: e, flags: f}
	s.find = programs.NewFinder(e.Ctx, s.warn)
	s.find.BuildID = f.buildID
	return s
}

// close removes what only viewers needed.
func (s *pprofSession) close() {
	s.find.Close()
	if !s.interact {
		return
	}
	for _, name := range s.temp {
		os.Remove(name)
	}
}

func (s *pprofSession) warn(message string) { warn(s.e, message) }

func warn(e *command.Env, message string) { fmt.Fprintln(e.Stderr, message) }

// noMatch is an error that means that there is nothing to show.
func noMatch(err error) error {
	if err != nil && (strings.HasPrefix(err.Error(), "no matches found") || errors.Is(err, os.ErrNotExist)) {
		return command.Nothing(err)
	}
	return err
}
