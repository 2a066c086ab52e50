package cli

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"loupe/labs"
	"loupe/report"
)

var labsCommand = &command{
	name:    "labs",
	short:   "list the sample workloads and how to run them",
	args:    "[-json] [NAME]",
	example: []string{"loupe labs", "loupe labs mandelbrot     what to look for, and how to record each form"},
	about: `
A lab is a small real program in several forms: some have something wrong, the
others repair it. The commands want a checkout of loupe as the working folder.`,
	setup: func(fs *flagSet) func(*env, []string) error {
		asJSON := fs.Bool("json", false, "print JSON")
		return func(e *env, args []string) error {
			if len(args) == 0 {
				if *asJSON {
					return writeLabsJSON(e.stdout, labs.All)
				}
				listLabs(e.stdout, labs.All)
				return nil
			}
			name, err := oneArg(args, "the lab")
			if err != nil {
				return err
			}
			lab, ok := labs.Named(name)
			if !ok {
				return usagef("unknown lab %q (loupe labs lists them)", name)
			}
			if *asJSON {
				return writeLabsJSON(e.stdout, []labs.Lab{lab})
			}
			return buffered(e.stdout, func(w io.Writer) error { return describeLab(w, lab) })
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

// plainWord is what every shell takes as it stands.
var plainWord = regexp.MustCompile(`^[\w./:,=@%+-]+$`)

// shellLine makes a line to paste of the words of a command.
func shellLine(words []string) string {
	var line []string
	for _, w := range words {
		if !plainWord.MatchString(w) {
			w = "'" + w + "'"
		}
		line = append(line, w)
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
