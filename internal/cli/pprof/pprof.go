package cli

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"loupe/pprof"
	"loupe/profile"
	"loupe/symbol"
)

var pprofCommand = &command{
	name:  "pprof",
	short: "all that go tool pprof does, faster, and more",
	args:  "[FORMAT] [flags] [BINARY] SOURCE…",
	example: []string{
		"loupe pprof -top allocs.pb.gz                       functions by bytes allocated",
		"loupe pprof cpu.pb.gz                               the shell: top10, list Re, web, help",
		"loupe pprof -list 'search.*find' -alloc_space allocs.pb.gz",
		"loupe pprof -list find -why ./search allocs.pb.gz   … and why each line allocates",
		"loupe pprof -top -cum -seconds 10 localhost:6060    ten seconds of a running server",
		"loupe pprof -top -diff_base before.pb.gz after.pb.gz",
		"loupe pprof -svg -output graph.svg cpu.pb.gz        without Graphviz",
		"loupe pprof -flame -output flame.html cpu.pb.gz     one file for any browser",
	},
	about: `
Every format, option and shell command of go tool pprof means what it means
there, and the text is the same, byte for byte. Without a format a shell opens.

SOURCE is a file in pprof's format, in one of the older text formats, a dump of
goroutines, folded stacks, the output of perf script, a speedscope file, - for
standard input, or the URL of a profile; several are added up. BINARY is the
program, for disasm and weblist, and for profiles without names.`,
	files: true,
	reads: true,
	setup: func(fs *flagSet) func(*env, []string) error {
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

func (f *pprofFlags) declare(fs *flagSet) {
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

func (f *pprofFlags) declareField(fs *flagSet, field *pprof.Field) {
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
	var command []string
	for name, param := range f.reports {
		if command != nil {
			return nil, usagef("-%s and -%s: only one format at a time", command[0], name)
		}
		if command = []string{name}; pprof.Find(name).Param {
			command = append(command, *param)
		}
	}
	if command == nil && f.json && !f.totals && !f.extra.any() {
		command = []string{"top"}
	}
	return command, nil
}

// formats lists the flags that ask for a report, ours with those of pprof.
func (f *pprofFlags) formats(command []string) (flags []string) {
	x := &f.extra
	isTop := command != nil && (command[0] == "top" || command[0] == "text") // -top -csv is a table
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
	if command != nil {
		flags = append(flags, "-"+command[0])
	}
	return flags
}

// check finds flags that contradict each other.
func (f *pprofFlags) check(command []string) error {
	for i := range pprof.Fields {
		if field := &pprof.Fields[i]; len(field.Choices) > 0 {
			var given []string
			for _, c := range f.choices {
				if slices.Contains(field.Choices, c) && !slices.Contains(given, c) {
					given = append(given, c)
				}
			}
			if len(given) > 1 {
				return usagef("conflicting options set: -%s", strings.Join(given, ", -"))
			}
		}
	}
	switch {
	case f.http != "" && command != nil:
		return usagef("-http is not compatible with an output format on the command line")
	case len(f.formats(command)) > 1:
		return usagef("%s: only one format at a time", strings.Join(f.formats(command), " and "))
	case f.http != "" && len(f.formats(nil)) > 0:
		return usagef("-http is not compatible with an output format on the command line")
	case f.why && (command == nil || command[0] != "list"):
		return usagef("-why goes with -list")
	case f.noBrowser && f.http == "":
		return usagef("-no_browser only makes sense with -http")
	case len(f.bases) > 0 && len(f.diffBases) > 0:
		return usagef("-base and -diff_base flags cannot both be specified")
	case f.config.Normalize && len(f.bases)+len(f.diffBases) == 0:
		return usagef("must have base profile to normalize by")
	}
	return nil
}

func (f *pprofFlags) run(e *env, args []string) error {
	command, err := f.command()
	if err != nil {
		return err
	}
	if err := f.check(command); err != nil {
		return err
	}
	if len(args) == 0 {
		return usagef("the profile is missing")
	}
	if err := f.applySaved(); err != nil {
		return err
	}
	for i, index := range f.sampleIndexes {
		if f.config.SampleIndex == "" {
			f.config.SampleIndex = index
		} else if i > 0 || f.config.SampleIndex != index {
			fmt.Fprintln(e.stderr, "Multiple value selections, ignoring", index)
		}
	}
	s := &pprofSession{e: e, flags: f, binaries: map[string]*openBinary{}}
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
			return usagef("-sample_index: %w", err)
		}
	}
	switch {
	case f.totals:
		return s.totals()
	case f.extra.any():
		return f.extra.run(s)
	case command != nil:
		return s.generate(command, f.config)
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
		return usagef("-config: nothing is saved under %q (there is: %s)", f.saved, strings.Join(settings.Names(), ", "))
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
	e        *env
	flags    *pprofFlags
	p        *profile.Profile
	program  string // the binary that was named on the command line
	binaries map[string]*openBinary
	interact bool            // commands are read from a shell
	sources  *symbol.Sources // nil before they were asked for
	temp     []string
}

// close removes what only viewers needed.
func (s *pprofSession) close() {
	for _, b := range s.binaries {
		if b.file != nil {
			b.file.Close()
		}
	}
	if !s.interact {
		return
	}
	for _, name := range s.temp {
		os.Remove(name)
	}
}

func (s *pprofSession) warn(message string) { fmt.Fprintln(s.e.stderr, message) }

// noMatch is an error that means that there is nothing to show.
func noMatch(err error) error {
	if err != nil && (strings.HasPrefix(err.Error(), "no matches found") || errors.Is(err, os.ErrNotExist)) {
		return exitError{exitNothing, err}
	}
	return err
}
