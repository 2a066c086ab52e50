// Package lab is loupe labs: it lists the sample workloads, explains them, records them in
// any of their forms, and compares two forms. Their sources are embedded in loupe.
package lab

import (
	"io"
	"slices"
	"strings"

	"loupe/internal/cli/command"
	"loupe/labs"
)

var verbs = []string{"list", "explain", "run", "compare", "copy"}

// Command is loupe labs.
var Command = &command.Command{
	Name:  "labs",
	Short: "list, explain, record and compare the sample workloads",
	Args:  "[VERB] [flags] [NAME]",
	Example: []string{
		"loupe labs                                    the labs and their forms",
		"loupe labs explain mandelbrot                 what to look for, and how to record each form",
		"loupe labs run mandelbrot -form px            record a form",
		"loupe labs run leak -form map -phases bare:20s,heap -- -rate 5000",
		"                                              with flags of loupe run, and of the lab",
		"loupe labs compare newssearch                 record two forms alternately, and compare them",
		"loupe labs compare mandelbrot seq px -rounds 3",
		"loupe labs copy                               their sources, in ./labs: to read, change and benchmark",
	},
	About: `
Verbs: list (the default), explain NAME, run NAME, compare NAME [A B], copy [DIR].

A lab is a small real program in several forms: some have a problem, the others fix it. The
sources are embedded in loupe: all that is needed is Go, no checkout and no network. They are
unpacked into the user's cache directory, where the go command finds what it has built before.

run records a form as loupe run does, with the flags that suit it; further flags of loupe run
are added and take precedence. What follows -- belongs to the lab. A service is put under the
load that its form is about; if its port is taken, it gets a free one. Without -form it is the
first form. A form that ends at once with a stack trace is run without being recorded: its
output is passed on.

compare records two forms alternately, five rounds unless -rounds says otherwise, and compares
them. Without A and B it takes the form with the problem and the one that fixes it. -o names
the folder for both recordings.

-open shows the recordings in the browser afterwards. Exit codes are those of loupe run.`,
	Verbs:       verbs,
	StopAtFirst: true,
	Setup: func(fs *command.FlagSet) func(*command.Env, []string) error {
		var f flags
		f.declare(fs)
		return func(e *command.Env, args []string) error { return f.run(e, fs, args) }
	},
}

// flags are those of loupe labs itself.
type flags struct {
	json, open bool
	form       string
}

func (f *flags) declare(fs *command.FlagSet) {
	fs.BoolVar(&f.json, "json", false, "print JSON")
	fs.StringVar(&f.form, "form", "", "run: the form to record, by `name`")
	fs.BoolVar(&f.open, "open", false, "run, compare: show what was recorded in the browser")
}

// run finds the verb. A lab's name alone stands for explain.
func (f *flags) run(e *command.Env, fs *command.FlagSet, args []string) error {
	verb, rest := "list", args
	if len(args) > 0 {
		verb, rest = args[0], args[1:]
		if _, ok := labs.Named(verb); ok {
			verb, rest = "explain", args
		}
	}
	if verb == "run" || verb == "compare" {
		asked, err := f.read(verb, rest)
		if err != nil {
			return err
		}
		if verb == "run" {
			return asked.run(e)
		}
		return asked.compare(e)
	}
	rest, err := (&command.Command{Name: "labs"}).Parse(fs, rest)
	if err != nil {
		return err
	}
	if f.form != "" || f.open {
		return command.Usagef("-form and -open are for run and compare")
	}
	switch verb {
	case "list":
		if err := command.NoArgs(rest); err != nil {
			return err
		}
		if f.json {
			return writeLabsJSON(e.Stdout, labs.All)
		}
		listLabs(e.Stdout, labs.All)
		return nil
	case "explain":
		name, err := command.OneArg(rest, "the lab")
		if err != nil {
			return err
		}
		l, err := named(name)
		if err != nil {
			return err
		}
		if f.json {
			return writeLabsJSON(e.Stdout, []labs.Lab{l})
		}
		return command.Buffered(e.Stdout, func(w io.Writer) error { return describeLab(w, l) })
	case "copy":
		return f.copy(e, rest)
	}
	return unknown(verb)
}

// named finds a lab, or says which there are.
func named(name string) (labs.Lab, error) {
	l, ok := labs.Named(name)
	if !ok {
		return l, unknown(name)
	}
	return l, nil
}

// unknown says that there is no such lab, and which there are.
func unknown(name string) error {
	var names []string
	for _, l := range labs.All {
		names = append(names, l.Name)
	}
	return command.Usagef("unknown lab %q%s; there are %s", name, command.Meant(name, slices.Concat(names, verbs)), strings.Join(names, ", "))
}

// formOf finds a form of a lab, the first one without a name, or says which there are.
func formOf(l labs.Lab, name string) (labs.Form, error) {
	if name == "" {
		return l.Forms[0], nil
	}
	f, ok := l.Form(name)
	if ok {
		return f, nil
	}
	var names []string
	for _, f := range l.Forms {
		names = append(names, f.Name)
	}
	return f, command.Usagef("%s has no form %q%s; there are %s", l.Name, name, command.Meant(name, names), strings.Join(names, ", "))
}
