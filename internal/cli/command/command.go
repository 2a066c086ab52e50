package cli

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// command describes one subcommand. The descriptor feeds the parser, the help
// text, docs/cli.md and shell completion.
type command struct {
	name  string
	short string // one line, lower case
	args  string // of the usage line: "[flags] URL"
	// example lines open the help text; each is a command with what it does
	// after two spaces.
	example []string
	// about is the rest of the help text.
	about string
	// stopAtFirst ends flag parsing at the first argument: what follows
	// belongs to the program that is run.
	stopAtFirst bool
	// files tells completion that arguments are files.
	files bool
	// reads tells that the command looks at files from anywhere: their size bounds
	// the memory that it may need.
	reads bool
	// setup declares the flags and returns what runs the command.
	setup func(fs *flagSet) func(e *env, args []string) error
}

// flagSet is a flag.FlagSet that knows which flags the help leaves out.
type flagSet struct {
	*flag.FlagSet
	quiet map[string]bool
	// groups are the headings under which the help lists flags, in the
	// order in which they were declared; in says which flag is where.
	groups []string
	in     map[string]string
	// wants says which flags do something only with another one: any of those
	// that are listed.
	wants map[string][]string
	run   func(e *env, args []string) error
}

// group declares flags that the help lists under a heading of their own.
func (fs *flagSet) group(heading string, declare func()) {
	before := map[string]bool{}
	fs.VisitAll(func(f *flag.Flag) { before[f.Name] = true })
	declare()
	if fs.in == nil {
		fs.in = map[string]string{}
	}
	fs.groups = append(fs.groups, heading)
	fs.VisitAll(func(f *flag.Flag) {
		if !before[f.Name] {
			fs.in[f.Name] = heading
		}
	})
}

// under lists the flags of the groups whose headings end in a text.
func (fs *flagSet) under(heading string) (names []string) {
	for name, in := range fs.in {
		if strings.HasSuffix(in, heading) {
			names = append(names, name)
		}
	}
	return names
}

// needs declares that flags do nothing unless one of others is given: to accept them
// then would be to ignore them in silence.
func (fs *flagSet) needs(names []string, others ...string) {
	if fs.wants == nil {
		fs.wants = map[string][]string{}
	}
	for _, name := range names {
		fs.wants[name] = others
	}
}

// useless says which of the given flags does nothing.
func (fs *flagSet) useless() (err error) {
	fs.Visit(func(f *flag.Flag) {
		others := fs.wants[f.Name]
		if err == nil && len(others) > 0 && !slices.ContainsFunc(others, fs.given) {
			err = usagef("-%s does nothing without -%s", f.Name, strings.Join(others, " or -"))
		}
	})
	return err
}

// onlyFor fails when a flag was given that does nothing for a verb: of lists the verbs
// of such flags.
func onlyFor(verb string, of map[string][]string, given func(flag string) bool) error {
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if given(name) && !slices.Contains(of[name], verb) {
			return usagef("-%s is for %s: %s does nothing with it", name, strings.Join(of[name], ", "), verb)
		}
	}
	return nil
}

// given tells whether the user set a flag.
func (fs *flagSet) given(name string) (yes bool) {
	fs.Visit(func(f *flag.Flag) { yes = yes || f.Name == name })
	return yes
}

// hidden declares flags that the help does not list.
func (fs *flagSet) hidden(declare func()) {
	before := map[string]bool{}
	fs.VisitAll(func(f *flag.Flag) { before[f.Name] = true })
	declare()
	fs.VisitAll(func(f *flag.Flag) {
		if !before[f.Name] {
			fs.quiet[f.Name] = true
		}
	})
}

func (c *command) flagSet() *flagSet {
	fs := &flagSet{FlagSet: flag.NewFlagSet(c.name, flag.ContinueOnError), quiet: map[string]bool{}}
	fs.SetOutput(io.Discard)
	fs.run = c.setup(fs)
	return fs
}

func (c *command) run(e *env, fs *flagSet, args []string) error { return fs.run(e, args) }

var errHelp = errors.New("help asked for")

// parse reads flags before, between and after the arguments; "--" ends them.
func (c *command) parse(fs *flagSet, args []string) (positional []string, err error) {
	for {
		err := fs.Parse(args)
		if errors.Is(err, flag.ErrHelp) {
			return nil, errHelp
		}
		if err != nil {
			return nil, usageError{fs.explained(err)}
		}
		rest := fs.Args()
		ended := len(args) > len(rest) && args[len(args)-len(rest)-1] == "--"
		if c.stopAtFirst || ended || len(rest) == 0 {
			return append(positional, rest...), nil
		}
		positional = append(positional, rest[0])
		args = rest[1:]
	}
}

// explained says of an unknown flag which one may have been meant.
func (fs *flagSet) explained(err error) error {
	text := strings.TrimPrefix(err.Error(), "flag ")
	name, ok := strings.CutPrefix(text, "provided but not defined: -")
	if !ok {
		return errors.New(text)
	}
	var names []string
	fs.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	if near := nearest(name, names); near != "" {
		return fmt.Errorf("there is no flag -%s, did you mean -%s?", name, near)
	}
	return fmt.Errorf("there is no flag -%s", name)
}

func (c *command) usageLine() string { return strings.TrimSpace("loupe " + c.name + " " + c.args) }

// help writes the whole help text, examples first.
func (c *command) help(w io.Writer) {
	fmt.Fprintf(w, "%s: %s\n\n", c.usageLine(), c.short)
	for _, line := range c.example {
		fmt.Fprintf(w, "\t%s\n", line)
	}
	if c.about != "" {
		fmt.Fprintf(w, "\n%s\n", strings.TrimSpace(c.about))
	}
	fs := c.flagSet()
	for _, heading := range append([]string{""}, fs.groups...) {
		first := true
		fs.VisitAll(func(f *flag.Flag) {
			if fs.quiet[f.Name] || fs.in[f.Name] != heading {
				return
			}
			if first {
				fmt.Fprintf(w, "\n%s:\n", cmp.Or(heading, "Flags"))
				first = false
			}
			fmt.Fprintln(w, flagLine(f))
		})
	}
}

// flagLine prints a flag with its value's name, meaning and default.
func flagLine(f *flag.Flag) string {
	name, usage := flag.UnquoteUsage(f)
	head := "  -" + f.Name
	if name != "" {
		head += " " + name
	}
	if len(head) < 20 {
		head += strings.Repeat(" ", 20-len(head))
	} else {
		head += "\n" + strings.Repeat(" ", 20)
	}
	line := head + strings.ReplaceAll(usage, "\n", "\n"+strings.Repeat(" ", 20))
	if !slices.Contains([]string{"", "0", "false", "0s"}, f.DefValue) {
		line += fmt.Sprintf(" (default %s)", f.DefValue)
	}
	return line
}

// oneArg returns the only argument, or a usage error that names it.
func oneArg(args []string, what string) (string, error) {
	switch len(args) {
	case 0:
		return "", usagef("%s is missing", what)
	case 1:
		return args[0], nil
	}
	return "", usagef("too many arguments: %q", args[1:])
}

// noArgs fails when there are any.
func noArgs(args []string) error {
	if len(args) > 0 {
		return usagef("unexpected arguments: %q", args)
	}
	return nil
}
