package lab

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"loupe/capture/collect"
	"loupe/internal/cli/command"
	"loupe/internal/cli/record"
	"loupe/labs"
	"loupe/source/system"
)

// asked is what loupe labs run and compare are to do.
type asked struct {
	lab   labs.Lab
	forms []labs.Form
	// flags are those of loupe run that were typed, program what is the lab's own.
	flags, program []string
	set            *command.FlagSet // of flags
	open           bool
	// places are the addresses that the services listen on, by those of their URLs.
	places map[string]place
}

// place is an address that is reserved for a service.
type place struct {
	addr    string
	release func()
}

// read reads the words behind run or compare. The flags of labs itself may stand anywhere
// among those of loupe run.
func (f *flags) read(verb string, words []string) (*asked, error) {
	a := &asked{open: f.open}
	form := f.form
	if i := slices.Index(words, "--"); i >= 0 {
		words, a.program = words[:i], words[i+1:]
	}
	if f.json {
		a.flags = append(a.flags, "-json")
	}
	a.set = record.Run.Flags()
	var names []string
	for len(words) > 0 {
		word := words[0]
		name := strings.TrimPrefix(strings.TrimPrefix(word, "-"), "-")
		value, joined := strings.CutPrefix(name, "form=")
		switch {
		case word == name:
			names, words = append(names, word), words[1:]
		case name == "h" || name == "help":
			return nil, command.ErrHelp
		case name == "open":
			a.open, words = true, words[1:]
		case joined:
			form, words = value, words[1:]
		case name == "form" && len(words) > 1:
			form, words = words[1], words[2:]
		case name == "form":
			return nil, command.Usagef("-form: the name of a form is missing")
		default: // one of loupe run, with its value
			n := 1
			_, err := record.Run.Parse(a.set, words[:n])
			if err != nil && len(words) > 1 {
				n = 2
				_, err = record.Run.Parse(a.set, words[:n])
			}
			if err != nil {
				return nil, err
			}
			a.flags, words = append(a.flags, words[:n]...), words[n:]
		}
	}
	if len(names) == 0 {
		return nil, command.Usagef("the lab is missing (loupe labs lists them)")
	}
	var err error
	if a.lab, err = named(names[0]); err != nil {
		return nil, err
	}
	if verb == "compare" && form != "" {
		return nil, command.Usagef("-form is for run: loupe labs compare %s A B names two forms", a.lab.Name)
	}
	return a, a.choose(verb, form, names[1:])
}

// choose finds the forms.
func (a *asked) choose(verb, form string, names []string) error {
	switch {
	case verb == "run" && len(names) > 0:
		return command.Usagef("unexpected arguments: %q (-form chooses a form; arguments of the lab follow --)", names)
	case verb == "run":
		names = []string{form}
	case len(names) == 0:
		before, after := a.lab.Compared()
		a.forms = []labs.Form{before, after}
	case len(names) != 2:
		return command.Usagef("want two forms to compare, such as loupe labs compare %s %s %s", a.lab.Name, a.lab.Forms[0].Name, a.lab.Forms[1].Name)
	}
	for _, name := range names {
		f, err := formOf(a.lab, name)
		if err != nil {
			return err
		}
		if f.Dies && verb == "compare" {
			return command.Usagef("form %s of %s ends at once with a stack trace: there is nothing to compare", f.Name, a.lab.Name)
		}
		a.forms = append(a.forms, f)
	}
	return nil
}

// Unpack writes the labs' sources into the user's cache and returns the folder of their
// module. Where the cache cannot be written they go below temp, which progress is told.
// It keeps what the user has set for the go command in other modules away from this one.
func Unpack(temp string, progress func(string, ...any)) (string, error) {
	for name, value := range map[string]string{"GOFLAGS": "-buildvcs=false", "GOWORK": "off", "GO111MODULE": "on", "GOOS": "", "GOARCH": ""} {
		if err := os.Setenv(name, value); err != nil {
			return "", err
		}
	}
	cache, err := system.UserCache()
	if err == nil {
		var dir string
		if dir, err = labs.CacheSources(cache); err == nil {
			return dir, nil
		}
	}
	progress("%v: using a temporary folder instead", err)
	return labs.CacheSources(temp)
}

// run records a form.
func (a *asked) run(e *command.Env) error {
	form := a.forms[0]
	progress := e.Progress(a.set.Given("quiet"))
	defer a.leave()
	return e.WithTemp(func(temp string) error {
		dir, err := Unpack(temp, progress)
		if err != nil {
			return err
		}
		if form.Dies {
			return a.launch(e, filepath.Join(dir, a.lab.Name), form, temp)
		}
		title := a.lab.Name + " " + form.Name
		flags, args := a.words(form, progress)
		out := a.set.Lookup("o").Value.String()
		if out == "" {
			out, _ = record.Place("", title)
			flags = append(flags, "-o", out)
		}
		words := slices.Concat([]string{"run", "-title", title}, flags, []string{filepath.Join(dir, a.lab.Name)}, args)
		code := e.Call(words)
		return a.show(e, code, out)
	})
}

// words are the flags of loupe run and the arguments of the lab for a form. What was typed
// stands behind what suits the form, and wins.
func (a *asked) words(form labs.Form, progress func(string, ...any)) (flags, args []string) {
	flags, args = slices.Clone(form.Record), slices.Clone(form.Args)
	if url := cmp.Or(form.URL, a.lab.URL); url != "" && !a.set.Given("load") {
		taken := Address(url)
		if addr := a.place(taken, progress); addr != taken {
			url = strings.Replace(url, taken, addr, 1)
			args = append(args, "-addr", addr)
		}
		flags = append(flags, "-load", url)
	}
	return append(flags, a.flags...), append(args, a.program...)
}

// place reserves an address for a service: the usual one, or another where that is taken.
func (a *asked) place(usual string, progress func(string, ...any)) string {
	if p, ok := a.places[usual]; ok {
		return p.addr // the forms of a comparison take turns
	}
	addr, release := collect.ReservePort(usual)
	if addr != usual {
		progress("%s is taken; the service will listen on %s", usual, addr)
	}
	if a.places == nil {
		a.places = map[string]place{}
	}
	a.places[usual] = place{addr, release}
	return addr
}

// leave gives the reserved addresses back.
func (a *asked) leave() {
	for _, p := range a.places {
		p.release()
	}
}

// show opens the recordings where that was asked for, whatever became of them.
func (a *asked) show(e *command.Env, code int, dirs ...string) error {
	if a.open && (code == command.ExitOK || code == command.ExitFound) {
		return command.Exit(e.Call(append([]string{"open", "-browser", "yes"}, dirs...)))
	}
	if code != command.ExitOK {
		return command.Exit(code)
	}
	return nil
}

// compare records two forms alternately.
func (a *asked) compare(e *command.Env) error {
	progress := e.Progress(a.set.Given("quiet"))
	defer a.leave()
	return e.WithTemp(func(temp string) error {
		dir, err := Unpack(temp, progress)
		if err != nil {
			return err
		}
		var all []record.Alternative
		for i, form := range a.forms {
			flags, args := a.words(form, progress)
			name := form.Name
			if i > 0 && name == a.forms[0].Name {
				name += "-again" // how much two runs of one form differ
			}
			all = append(all, record.Alternative{
				Name: name, Target: filepath.Join(dir, a.lab.Name), Args: args, Flags: append([]string{"-rounds", "5"}, flags...),
			})
		}
		dirs, err := record.Alternate(e, a.lab.Name, all)
		if a.open && len(dirs) > 0 && e.Ctx.Err() == nil {
			return errors.Join(err, a.show(e, command.ExitOK, dirs...))
		}
		return err
	})
}

// launch runs a form that ends at once, with a stack trace, and passes on what it prints.
func (a *asked) launch(e *command.Env, dir string, form labs.Form, temp string) error {
	for _, name := range []string{"open", "o", "phases"} {
		if a.set.Given(name) || name == "open" && a.open {
			return command.Usagef("-%s: form %s of %s ends at once with a stack trace and is not recorded", name, form.Name, a.lab.Name)
		}
	}
	prog, err := collect.Build(e.Ctx, collect.BuildOptions{
		Target: dir, Temp: temp, NoAgent: true, Flags: record.SplitFlags(a.set.Lookup("build").Value.String()),
	})
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(e.Ctx, prog.Path, slices.Concat(form.Args, a.program)...)
	cmd.Stdout, cmd.Stderr = e.Stdout, e.Stderr
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 2 {
		return nil // it panicked, as it is to
	}
	if err == nil {
		return fmt.Errorf("form %s of %s was to end with a stack trace, and did not", form.Name, a.lab.Name)
	}
	return err
}

// copy writes the sources of all labs into a folder.
func (f *flags) copy(e *command.Env, args []string) error {
	dir := "labs"
	switch {
	case f.json:
		return command.Usagef("-json is not for copy")
	case len(args) > 1:
		return command.Usagef("unexpected arguments: %q", args[1:])
	case len(args) == 1:
		dir = args[0]
	}
	if err := labs.CopySources(dir); err != nil {
		return err
	}
	fmt.Fprintf(e.Stdout, "The sources of all labs are in %s, a module of its own:\n", dir)
	fmt.Fprintf(e.Stdout, "  go -C %s test -run none -bench . -benchmem ./stream\n", command.ShellWord(dir))
	there := dir
	if !filepath.IsAbs(there) {
		there = "./" + filepath.ToSlash(filepath.Clean(there))
	}
	fmt.Fprintf(e.Stdout, "  loupe run -phases bare,trace %s -mode seq\n", command.ShellWord(there+"/mandelbrot"))
	return nil
}
