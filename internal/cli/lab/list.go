package lab

import (
	"fmt"
	"io"
	"strings"

	"loupe/internal/cli/command"
	"loupe/labs"
	"loupe/report"
)

// listLabs prints a line for each lab and each form.
func listLabs(w io.Writer, list []labs.Lab) {
	for _, l := range list {
		fmt.Fprintf(w, "%s: %s\n", l.Name, l.Title)
		for _, f := range l.Forms {
			fmt.Fprintf(w, "  %-10s %s\n", f.Name, f.About)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w, "loupe labs explain NAME says what to look for; loupe labs run NAME -form FORM records a form.")
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
		fmt.Fprintf(w, "%s: %s%s\n\tloupe labs run %s -form %s\n", f.Name, f.About, findings(expect, f.Name), l.Name, f.Name)
	}
	before, after := l.Compared()
	fmt.Fprintf(w, "\nTwo forms, compared (%s and %s):\n\tloupe labs compare %s\n", before.Name, after.Name, l.Name)
	fmt.Fprintf(w, "\nThe same in a checkout of loupe, and what can be changed about it:\n")
	for _, f := range l.Forms {
		fmt.Fprintf(w, "\t%s\n", shellLine(l.Command(f)))
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
