package demo

import (
	"fmt"
	"io"
	"strings"

	"loupe/internal/cli/command"
	"loupe/labs"
	"loupe/report"
)

// Labs is loupe labs.
var Labs = &command.Command{
	Name:    "labs",
	Short:   "list the sample workloads and how to run them",
	Args:    "[-json] [NAME]",
	Example: []string{"loupe labs", "loupe labs mandelbrot     what to look for, and how to record each form"},
	About: `
A lab is a small real program in several forms: some have a problem, the others fix it. The
commands need a checkout of loupe as the working folder.`,
	Setup: func(fs *command.FlagSet) func(*command.Env, []string) error {
		asJSON := fs.Bool("json", false, "print JSON")
		return func(e *command.Env, args []string) error {
			if len(args) == 0 {
				if *asJSON {
					return writeLabsJSON(e.Stdout, labs.All)
				}
				listLabs(e.Stdout, labs.All)
				return nil
			}
			name, err := command.OneArg(args, "the lab")
			if err != nil {
				return err
			}
			lab, ok := labs.Named(name)
			if !ok {
				return command.Usagef("unknown lab %q (loupe labs lists them)", name)
			}
			if *asJSON {
				return writeLabsJSON(e.Stdout, []labs.Lab{lab})
			}
			return command.Buffered(e.Stdout, func(w io.Writer) error { return describeLab(w, lab) })
		}
	},
}

// listLabs prints a line for each lab and each form.
func listLabs(w io.Writer, list []labs.Lab) {
	for _, l := range list {
		fmt.Fprintf(w, "%s: %s\n", l.Name, l.Title)
		for _, f := range l.Forms {
			fmt.Fprintf(w, "  %-10s %s\n", f.Name, f.About)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w, "loupe labs NAME says what to look for, and how to record each form.")
}

// describeLab prints what to look for in a lab and how to record its forms.
func describeLab(w io.Writer, l labs.Lab) error {
	doc, err := l.Doc()
	if err != nil {
		return err
	}
	expect, err := l.Expect()
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s\n# How to record each form\n\n", doc)
	for _, f := range l.Forms {
		fmt.Fprintf(w, "%s: %s%s\n\t%s\n", f.Name, f.About, findings(expect, f.Name), shellLine(l.Command(f)))
	}
	return nil
}

// findings says what a form is known to have wrong.
func findings(expect []labs.Expectation, form string) string {
	var rules []string
	for _, x := range expect {
		if x.Form == form && x.Must {
			rules = append(rules, x.Rule)
		}
	}
	if len(rules) == 0 {
		return ""
	}
	return " (" + strings.Join(rules, ", ") + ")"
}

// shellLine makes a line to paste of the words of a command.
func shellLine(words []string) string {
	line := make([]string, len(words))
	for i, w := range words {
		line[i] = command.ShellWord(w)
	}
	return strings.Join(line, " ")
}

func writeLabsJSON(w io.Writer, list []labs.Lab) error {
	type form struct {
		Name    string   `json:"name"`
		About   string   `json:"about"`
		Args    []string `json:"args"`
		Command []string `json:"command"`
	}
	type expectation struct {
		Form string `json:"form"`
		Rule string `json:"rule"`
		Must bool   `json:"must"`
		// Usually: it depends on the machine.
		Usually bool `json:"usually,omitempty"`
	}
	type row struct {
		Name    string        `json:"name"`
		Title   string        `json:"title"`
		Package string        `json:"package"`
		URL     string        `json:"url,omitempty"`
		Doc     string        `json:"doc"`
		Forms   []form        `json:"forms"`
		Expect  []expectation `json:"expect"`
	}
	var rows []row
	for _, l := range list {
		doc, err := l.Doc()
		if err != nil {
			return err
		}
		expect, err := l.Expect()
		if err != nil {
			return err
		}
		r := row{Name: l.Name, Title: l.Title, Package: l.Package(), URL: l.URL, Doc: doc}
		for _, f := range l.Forms {
			r.Forms = append(r.Forms, form{f.Name, f.About, append([]string{}, f.Args...), l.Command(f)})
		}
		for _, x := range expect {
			r.Expect = append(r.Expect, expectation(x))
		}
		rows = append(rows, r)
	}
	return report.WriteJSON(w, map[string]any{"schema": "loupe.labs/1", "labs": rows})
}
