package pprof

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"loupe/format/profile"
	"loupe/value/stack"
)

// Shell is the interactive mode of pprof: it keeps options between commands.
// A line is
//
//	name=value      an option; a bool needs no value, "//:" begins a comment
//	cmd[N] args     a report: a number limits its entries, a word adds to focus,
//	                -word to ignore, -cum ranks by cumulative weight, >file writes it
//	alloc_space     a sample type; total_alloc_space and mean_alloc_space, too
//	:               clear focus, ignore, hide, tagfocus and tagignore
//	o, help, q      list the options, explain, leave
//	save, load, forget NAME   keep the options under a name, as pprof's web
//	                pages do; without a name load lists them
type Shell struct {
	// Config are the options that the next command starts from.
	Config Config
	// Settings changes the saved options; nil means that nothing can be saved.
	Settings func(change func(*Settings) error) error

	p         *profile.Profile
	out       io.Writer
	warn      func(message string)
	run       func(command []string, cfg Config) error
	functions []string
	shortcuts map[string][]string
}

// NewShell returns a shell for a profile. Answers go to out, errors to warn;
// run prints a report.
func NewShell(p *profile.Profile, cfg Config, out io.Writer, warn func(string), run func(command []string, cfg Config) error) *Shell {
	cfg.CompactLabels = true
	s := &Shell{Config: cfg, p: p, out: out, warn: warn, run: run}
	s.shortcuts = map[string][]string{":": {"focus=", "ignore=", "hide=", "tagfocus=", "tagignore="}}
	for _, t := range p.SampleTypes {
		set := "sample_index=" + t.Type
		s.shortcuts[t.Type] = []string{set}
		s.shortcuts["total_"+t.Type] = []string{"mean=0", set}
		s.shortcuts["mean_"+t.Type] = []string{"mean=1", set}
	}
	return s
}

// Greet prints what the profile is.
func (s *Shell) Greet() {
	if r, err := New(s.p, []string{"top"}, s.Config, nil); err == nil {
		h := r.Header()
		fmt.Fprintln(s.out, strings.Join(h.Facts(r.Total, s.Config.Unit), "\n"))
		if r.Total == 0 && len(s.p.SampleTypes) > 1 {
			fmt.Fprintf(s.out, "No samples were found with the default sample value type.\nTry \"sample_index\" command to analyze different sample values.\n\n")
		}
	}
	fmt.Fprintln(s.out, `Entering interactive mode (type "help" for commands, "o" for options)`)
}

// Exec carries out one line and says whether the user wants to leave.
func (s *Shell) Exec(line string) (leave bool) {
	line = strings.TrimSpace(line)
	lines, ok := s.shortcuts[line]
	if !ok {
		lines = []string{line}
	}
	for _, line := range lines {
		if set, err := s.assign(line); err != nil {
			s.warn(err.Error())
			continue
		} else if set {
			continue
		}
		tokens := strings.Fields(line)
		if len(tokens) == 0 {
			continue
		}
		switch tokens[0] {
		case "o", "options":
			s.options()
		case "q", "quit", "exit":
			return true
		case "help":
			s.help(strings.Join(tokens[1:], " "))
		case "save", "load", "forget":
			if err := s.saved(tokens[0], strings.Join(tokens[1:], " ")); err != nil {
				s.warn(err.Error())
			}
		default:
			command, cfg, err := s.parse(tokens)
			if err == nil {
				err = s.run(command, cfg)
			}
			if err != nil {
				s.warn(err.Error())
			}
		}
	}
	return false
}

// assign sets an option if the line does that.
func (s *Shell) assign(line string) (done bool, err error) {
	name, value, hasValue := strings.Cut(line, "=")
	name = strings.TrimSpace(name)
	f := FindField(name)
	if f == nil {
		return false, nil
	}
	if !hasValue && !f.IsBool(name) {
		return false, fmt.Errorf("please specify a value, e.g. %s=<val>", name)
	}
	if i := strings.LastIndex(value, "//:"); i >= 0 {
		value = value[:i]
	}
	value = strings.TrimSpace(value)
	if !hasValue && f.Name != name {
		value = "true"
	}
	if name == "sample_index" {
		i, err := s.p.Index(value)
		if err != nil {
			return false, err
		}
		value = s.p.SampleTypes[i].Type
	}
	return true, f.Set(&s.Config, name, value)
}

var digits = regexp.MustCompile("[0-9]+$")

// parse reads a command with its arguments. What they set holds for this
// command alone.
func (s *Shell) parse(tokens []string) (command []string, cfg Config, err error) {
	name, args := tokens[0], tokens[1:]
	c := Find(name)
	if c == nil {
		if n := digits.FindString(name); n != "" && n != name { // top10
			name = strings.TrimSuffix(name, n)
			c, args = Find(name), append([]string{n}, args...)
		}
	}
	if c == nil {
		if _, isChoice := choiceHelp[name]; isChoice || FindField(name) != nil {
			return nil, cfg, fmt.Errorf("did you mean: %s=%s", name, cmp.Or(strings.Join(args[:min(1, len(args))], ""), "<val>"))
		}
		return nil, cfg, fmt.Errorf("unrecognized command: %q", name)
	}
	command = []string{name}
	if c.Param {
		if len(args) == 0 {
			return nil, cfg, fmt.Errorf("command %s requires an argument", name)
		}
		command, args = append(command, args[0]), args[1:]
	}
	cfg = s.Config
	var focus, ignore []string
	for i := 0; i < len(args); i++ {
		t := args[i]
		n, err := strconv.ParseInt(t, 10, 32)
		switch {
		case err == nil:
			cfg.NodeCount = int(n)
		case t == ">":
			if i++; i >= len(args) {
				return nil, cfg, errors.New("unexpected end of line after >")
			}
			cfg.Output = args[i]
		case t[0] == '>':
			cfg.Output = t[1:]
		case t == "-cum" || t == "--cum":
			cfg.Sort = "cum"
		case t[0] == '-':
			ignore = append(ignore, t[1:])
		default:
			focus = append(focus, t)
		}
	}
	toFocus, toIgnore := &cfg.Focus, &cfg.Ignore
	if name == "tags" {
		toFocus, toIgnore = &cfg.TagFocus, &cfg.TagIgnore
	}
	if len(focus) > 0 {
		*toFocus = strings.Join(focus, "|")
	}
	if len(ignore) > 0 {
		*toIgnore = strings.Join(ignore, "|")
	}
	if cfg.NodeCount == -1 && (name == "text" || name == "top") {
		cfg.NodeCount = 10
	}
	return command, cfg, nil
}

// saved keeps, uses or forgets options under a name.
func (s *Shell) saved(verb, name string) error {
	if s.Settings == nil {
		return errors.New("options cannot be saved here")
	}
	if name == "" && verb != "load" {
		return fmt.Errorf("please specify a name, e.g. %s mine", verb)
	}
	errUnchanged := errors.New("unchanged")
	err := s.Settings(func(all *Settings) error {
		switch verb {
		case "save":
			all.Save(name, s.Config)
			return nil
		case "forget":
			if !all.Delete(name) {
				return fmt.Errorf("nothing is saved under %q", name)
			}
			return nil
		}
		if name == "" {
			for _, name := range all.Names() {
				fmt.Fprintln(s.out, "  "+name)
			}
			return errUnchanged
		}
		c, ok := all.Find(name, s.Config)
		if !ok {
			return fmt.Errorf("nothing is saved under %q; load alone lists the names", name)
		}
		s.Config = c
		return errUnchanged
	})
	if err == errUnchanged {
		return nil
	}
	return err
}

// options lists the options with their values.
func (s *Shell) options() {
	var types, lines []string
	for _, t := range s.p.SampleTypes {
		types = append(types, t.Type)
	}
	for i := range Fields {
		f := &Fields[i]
		value, comment := f.Get(&s.Config), ""
		switch {
		case f.Name == "source_path", f.Ours && f.Get(&s.Config) == f.Get(&Config{}):
			continue
		case len(f.Choices) > 0:
			comment = "[" + strings.Join(slices.Sorted(slices.Values(f.Choices)), " | ") + "]"
			if value == "" {
				value = "(default)"
			}
		case f.Name == "sample_index":
			if value == "" && len(types) > 0 {
				value = types[len(types)-1]
			}
			comment = "[" + strings.Join(types, " | ") + "]"
		case f.Name == "nodecount" && value == "-1":
			comment = "default"
		case value == "":
			value = `""`
		}
		if comment != "" {
			comment = "//: " + comment
		}
		lines = append(lines, fmt.Sprintf("  %-25s = %-20s %s", f.Name, value, comment))
	}
	slices.Sort(lines)
	fmt.Fprintln(s.out, strings.Join(lines, "\n"))
}

func (s *Shell) help(about string) {
	if about == "" {
		fmt.Fprint(s.out, "  Commands:\n")
		for _, c := range Commands {
			fmt.Fprintf(s.out, "    %-16s %s\n", c.Name, c.Help)
		}
		fmt.Fprintf(s.out, "    %-16s %s\n    %-16s %s\n", "o/options", "list the options and their values", "q/quit/exit/^D", "leave")
		fmt.Fprintf(s.out, "    %-16s %s\n", "save/load/forget", "keep the options under a name")
		fmt.Fprint(s.out, "\n  Options, set with name=value:\n")
		for _, f := range Fields {
			if len(f.Choices) == 0 {
				fmt.Fprintf(s.out, "    %-20s %s\n", f.Name, firstLine(f.plainHelp()))
			}
		}
		for _, f := range Fields {
			if len(f.Choices) > 0 {
				fmt.Fprintf(s.out, "\n  %s, one of:\n", f.Name)
				for _, choice := range f.Choices {
					fmt.Fprintf(s.out, "    %-20s %s\n", choice, choiceHelp[choice])
				}
			}
		}
		fmt.Fprint(s.out, "\n  :   clear focus, ignore, hide, tagfocus and tagignore\n\n  \"help <cmd|option>\" tells more\n")
		return
	}
	if c := Find(about); c != nil {
		fmt.Fprintln(s.out, c.Help)
		if c.Usage != "" {
			fmt.Fprintln(s.out, "  Usage:\n    "+strings.ReplaceAll(c.Usage, "\n", "\n    "))
		}
		fmt.Fprintln(s.out)
		return
	}
	if help, ok := choiceHelp[about]; ok {
		fmt.Fprintln(s.out, help+"\n")
		return
	}
	f := FindField(about)
	if f == nil {
		s.warn("Unknown command: " + about)
		return
	}
	help := f.plainHelp()
	if len(f.Choices) > 0 {
		help = "one of " + strings.Join(f.Choices, ", ")
	}
	if f.Name == "sample_index" {
		for _, t := range s.p.SampleTypes {
			help += "\n  " + t.Type
		}
	}
	fmt.Fprintln(s.out, help+"\n")
}

// plainHelp is the help without the marks around the value's name.
func (f *Field) plainHelp() string { return strings.ReplaceAll(f.Help, "`", "") }

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// Complete returns the line with its last word completed, if there is one way
// only: a command or an option first, behind a command a function.
func (s *Shell) Complete(line string) string {
	tokens := strings.Fields(line)
	switch {
	case len(tokens) == 0:
		return line
	case len(tokens) == 1:
		return cmp.Or(matchName(tokens[0]), line)
	case len(tokens) == 2 && tokens[0] == "help":
		if name := matchName(tokens[1]); name != "" {
			return "help " + name
		}
		return line
	case Find(tokens[0]) == nil || tokens[0] == "tags":
		return line
	}
	if s.functions == nil {
		names := map[string]bool{}
		for id := range s.p.Stacks.NumFrames() {
			names[s.p.Stacks.Frame(stack.FrameID(id)).Func] = true
		}
		s.functions = slices.Sorted(maps.Keys(names))
	}
	last := &tokens[len(tokens)-1]
	word, minus := strings.CutPrefix(*last, "-")
	found := ""
	for _, name := range s.functions {
		if strings.Contains(name, word) {
			if found != "" {
				return line
			}
			found = name
		}
	}
	if found == "" {
		return line
	}
	if *last = found; minus {
		*last = "-" + found
	}
	return strings.Join(tokens, " ")
}

// matchName returns the one command or option that begins like this, or "".
func matchName(prefix string) string {
	prefix = strings.ToLower(prefix)
	var names []string
	for _, c := range Commands {
		names = append(names, c.Name)
	}
	for _, f := range Fields {
		names = append(append(names, f.Name), f.Choices...)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, prefix) })
	if len(names) != 1 {
		return ""
	}
	return names[0]
}
