// Package command has what a subcommand is, a value with a name, a synopsis, help, flags and
// what runs it, and the world as it sees it: files, progress, errors with exit codes, limits.
package command

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"loupe/source"
	"loupe/value/secret"
	"loupe/value/terminal"
	"loupe/value/unit"
)

// Command describes one subcommand. The descriptor feeds the parser, the help
// text, docs/cli.md and shell completion.
type Command struct {
	Name  string
	Short string // one line, lower case
	Args  string // of the usage line: "[flags] URL"
	// Example lines open the help text; each is a command with what it does
	// after two spaces.
	Example []string
	// About is the rest of the help text.
	About string
	// StopAtFirst ends flag parsing at the first argument: what follows
	// belongs to the program that is run.
	StopAtFirst bool
	// Peer tells that the command takes the place of a program of that name, whose flags
	// are those of Go's flag package: what is wrong with them is told in its words.
	Peer bool
	// Verbs are the words that its first argument may be, where it has such.
	Verbs []string
	// Files tells completion that arguments are files.
	Files bool
	// Reads tells that the command looks at files from anywhere: their size bounds
	// the memory that it may need.
	Reads bool
	// Setup declares the flags and returns what runs the command.
	Setup func(fs *FlagSet) func(e *Env, args []string) error
}

// FlagSet is a flag.FlagSet that knows which flags the help leaves out.
type FlagSet struct {
	*flag.FlagSet
	Quiet map[string]bool
	// groups are the headings under which the help lists flags, in the
	// order in which they were declared; in says which flag is where.
	groups []string
	in     map[string]string
	// wants says which flags do something only with another one: any of those
	// that are listed.
	wants map[string][]string
	run   func(e *Env, args []string) error
	// Dashes tells that "--" stood on the command line, Before how many arguments were
	// in front of it.
	Dashes bool
	Before int
	// Typed are the words in front of the first argument, as they were typed.
	Typed []string
}

// Group declares flags that the help lists under a heading of their own.
func (fs *FlagSet) Group(heading string, declare func()) {
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

// Under lists the flags of the groups whose headings end in a text.
func (fs *FlagSet) Under(heading string) (names []string) {
	for name, in := range fs.in {
		if strings.HasSuffix(in, heading) {
			names = append(names, name)
		}
	}
	return names
}

// Needs declares that flags do nothing unless one of others is given: to accept them
// then would be to ignore them in silence.
func (fs *FlagSet) Needs(names []string, others ...string) {
	if fs.wants == nil {
		fs.wants = map[string][]string{}
	}
	for _, name := range names {
		fs.wants[name] = others
	}
}

// useless says which of the given flags does nothing.
func (fs *FlagSet) useless() (err error) {
	fs.Visit(func(f *flag.Flag) {
		others := fs.wants[f.Name]
		if err == nil && len(others) > 0 && !slices.ContainsFunc(others, fs.Given) {
			err = Usagef("-%s has no effect without -%s", f.Name, strings.Join(others, " or -"))
		}
	})
	return err
}

// OnlyFor fails when a flag was given that does nothing for a verb: of lists the verbs
// of such flags.
func OnlyFor(verb string, of map[string][]string, given func(flag string) bool) error {
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if given(name) && !slices.Contains(of[name], verb) {
			return Usagef("-%s is for %s: %s does nothing with it", name, strings.Join(of[name], ", "), verb)
		}
	}
	return nil
}

// Given tells whether the user set a flag.
func (fs *FlagSet) Given(name string) (yes bool) {
	fs.Visit(func(f *flag.Flag) { yes = yes || f.Name == name })
	return yes
}

// hidden declares flags that the help does not list.
func (fs *FlagSet) hidden(declare func()) {
	before := map[string]bool{}
	fs.VisitAll(func(f *flag.Flag) { before[f.Name] = true })
	declare()
	fs.VisitAll(func(f *flag.Flag) {
		if !before[f.Name] {
			fs.Quiet[f.Name] = true
		}
	})
}

// NewFlagSet makes the flags of a command, none so far.
func NewFlagSet(name string) *FlagSet {
	fs := &FlagSet{FlagSet: flag.NewFlagSet(name, flag.ContinueOnError), Quiet: map[string]bool{}}
	fs.SetOutput(io.Discard)
	return fs
}

// Flags declares the flags of the command.
func (c *Command) Flags() *FlagSet {
	fs := NewFlagSet(c.Name)
	fs.run = c.Setup(fs)
	return fs
}

func (c *Command) run(e *Env, fs *FlagSet, args []string) error { return fs.run(e, args) }

// ErrHelp is the error of a command line that asks for help.
var ErrHelp = errors.New("help asked for")

// Parse reads flags before, between and after the arguments; "--" ends them.
func (c *Command) Parse(fs *FlagSet, args []string) (positional []string, err error) {
	for {
		err := fs.Parse(args)
		if errors.Is(err, flag.ErrHelp) {
			return nil, ErrHelp
		}
		if err != nil && c.Peer {
			return nil, Usage(err)
		}
		if err != nil {
			return nil, Usage(fs.explained(err))
		}
		rest := fs.Args()
		if len(positional) == 0 {
			fs.Typed = args[:len(args)-len(rest)]
		}
		ended := len(args) > len(rest) && args[len(args)-len(rest)-1] == "--"
		if ended {
			fs.Dashes, fs.Before = true, len(positional)
		}
		if c.StopAtFirst || ended || len(rest) == 0 {
			return append(positional, rest...), nil
		}
		positional = append(positional, rest[0])
		args = rest[1:]
	}
}

// Meant is ", did you mean …?" for a name that is close to one of some, or "".
func Meant(name string, names []string) string {
	if near := unit.Nearest(name, names); near != "" {
		return fmt.Sprintf(", did you mean %q?", near)
	}
	return ""
}

// explained says of an unknown flag which one may have been meant.
func (fs *FlagSet) explained(err error) error {
	text := strings.TrimPrefix(err.Error(), "flag ")
	name, ok := strings.CutPrefix(text, "provided but not defined: -")
	if !ok {
		return errors.New(text)
	}
	var names []string
	fs.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	if near := unit.Nearest(name, names); near != "" {
		return fmt.Errorf("there is no flag -%s, did you mean -%s?", name, near)
	}
	return fmt.Errorf("there is no flag -%s", name)
}

func (c *Command) usageLine() string { return strings.TrimSpace("loupe " + c.Name + " " + c.Args) }

// Help writes the whole help text, examples first.
func (c *Command) Help(w io.Writer) {
	fmt.Fprintf(w, "%s: %s\n\n", c.usageLine(), c.Short)
	for _, line := range c.Example {
		fmt.Fprintf(w, "\t%s\n", line)
	}
	if c.About != "" {
		fmt.Fprintf(w, "\n%s\n", strings.TrimSpace(c.About))
	}
	fs := c.Flags()
	for _, heading := range append([]string{""}, fs.groups...) {
		first := true
		fs.VisitAll(func(f *flag.Flag) {
			if fs.Quiet[f.Name] || fs.in[f.Name] != heading {
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

// OneArg returns the only argument, or a usage error that names it.
func OneArg(args []string, what string) (string, error) {
	switch len(args) {
	case 0:
		return "", Usagef("%s is missing", what)
	case 1:
		return args[0], nil
	}
	return "", Usagef("too many arguments: %q", args[1:])
}

// NoArgs fails when there are any.
func NoArgs(args []string) error {
	if len(args) > 0 {
		return Usagef("unexpected arguments: %q", args)
	}
	return nil
}

// Main parses the arguments, runs the command and turns its error into a
// message and an exit code.
func (c *Command) Main(e *Env, args []string) int {
	fs := c.Flags()
	var p selfProfile
	p.flags(fs)
	positional, err := c.Parse(fs, args)
	if errors.Is(err, ErrHelp) {
		c.Help(e.Stdout)
		return ExitOK
	}
	if err == nil {
		err = fs.useless()
	}
	if err == nil {
		err = p.start()
	}
	if err == nil {
		before := e.Doors.open()
		err = errors.Join(survive(func() error { return c.run(e, fs, positional) }), shrunk(e))
		defer e.Doors.close(before)
		if perr := p.stop(); err == nil {
			err = perr
		}
	}
	return c.conclude(e, err)
}

func (c *Command) conclude(e *Env, err error) int {
	if err == nil {
		if e.Ctx.Err() != nil {
			return ExitInterrupted
		}
		return ExitOK
	}
	if u, ok := errors.AsType[usageError](err); ok {
		if !c.Peer {
			fmt.Fprintf(e.Stderr, "loupe %s: ", c.Name)
		}
		fmt.Fprintf(e.Stderr, "%v\nusage: %s\n(see loupe help %s)\n", terminal.Text(secret.Text(e.Doors.Rename(u.Error()))), c.usageLine(), c.Name)
		return ExitUsage
	}
	code := ExitFailed
	if x, ok := errors.AsType[exitError](err); ok {
		code = x.code
	} else if errors.Is(err, source.ErrNothing) {
		code = ExitNothing
	}
	if e.Ctx.Err() != nil && (code == ExitFailed || code == ExitNothing) { // what does not answer, because nobody waits
		code = ExitInterrupted
	}
	if text := secret.Text(e.Doors.Rename(message(err))); text != "" {
		fmt.Fprintf(e.Stderr, "loupe %s: %s\n", c.Name, text)
	}
	return code
}
